// A button for each class, a field for one that has no button yet, and the label's withdrawal.
import { html, useState } from "../lib/ui.js";
import { addClass, classes, fail } from "../lib/state.js";
import { t } from "../lib/texts.js";
import { ClassMark } from "./class_mark.js";

export const MOST_KEYS = 9;

/** The text of a field for a class without a button, what sends it, and the field's attributes. A new class is added. */
export function useClassField(onAnswer) {
  const [text, setText] = useState("");
  const send = (event) => {
    event.preventDefault();
    const name = text.trim();
    if (!name) return;
    const known = classes.value.find((one) => String(one) === name);
    setText("");
    event.target.querySelector("input").blur();
    if (known === undefined) addClass(name).catch(fail);
    onAnswer(known ?? name);
  };
  const field = {
    type: "text",
    maxlength: 200,
    autocomplete: "off",
    value: text,
    onInput: (event) => setText(event.target.value),
    onKeyDown: (event) => event.key === "Escape" && event.target.blur(),
  };
  return { text, send, field };
}

function NewClass({ onAnswer, isBusy }) {
  const { text, send, field } = useClassField(onAnswer);
  return html`<form class="class-buttons-new" onSubmit=${send}>
    <input ...${field} aria-label=${t("classes.new")} placeholder=${t("classes.new")} />
    ${text.trim() && html`<button type="submit" disabled=${isBusy}>${t("classes.use")}</button>`}
  </form>`;
}

/** `onAnswer` gets a class, or null to withdraw; `current` is the label that is there; `keys`: number keys are shown. */
export function ClassButtons({ label, onAnswer, current = null, isBusy = false, keys = false }) {
  return html`<div class="class-buttons" role="group" aria-label=${label}>
    ${classes.value.map((name, at) => html`<button type="button" key=${String(name)} disabled=${isBusy} onClick=${() => onAnswer(name)}
      aria-pressed=${current !== null && String(current) === String(name)} aria-keyshortcuts=${keys && at < MOST_KEYS ? String(at + 1) : undefined}>
      ${keys && at < MOST_KEYS && html`<kbd aria-hidden="true">${at + 1}</kbd>`}<${ClassMark} index=${at} name=${name} />
    </button>`)}
    <${NewClass} onAnswer=${onAnswer} isBusy=${isBusy} />
    ${current !== null && html`<button type="button" class="quiet" disabled=${isBusy} onClick=${() => onAnswer(null)}>${t("classes.withdraw")}</button>`}
  </div>`;
}
