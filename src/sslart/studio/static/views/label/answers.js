// A button for each class with its key, a field for another class, one answer for several samples, and skipping.
import { html } from "../../lib/ui.js";
import { percent } from "../../lib/format.js";
import { classes } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { useClassField } from "../../parts/class_buttons.js";
import { ClassMark } from "../../parts/class_mark.js";
import { ShareBar } from "../../parts/charts.js";

function Answer({ name, index, probability, onAnswer }) {
  return html`<button type="button" class="answer" onClick=${() => onAnswer(name)} aria-keyshortcuts=${index < 10 ? String((index + 1) % 10) : undefined}>
    ${index < 10 && html`<kbd aria-hidden="true">${(index + 1) % 10}</kbd>`}
    <${ClassMark} index=${index} name=${name} size=${14} />
    ${probability !== null && html`<${ShareBar} value=${probability} label=${t("label.guess_of", { name: String(name), probability: percent(probability) })} />`}
  </button>`;
}

function OtherClass({ onAnswer }) {
  const { text, send, field } = useClassField(onAnswer);
  return html`<form class="other-class" onSubmit=${send}>
    <label class="visually-hidden" for="other-class">${t("label.other_class")}</label>
    <input ...${field} id="other-class" list="class-names" placeholder=${t(classes.value.length ? "label.other_class" : "label.first_class")} />
    <datalist id="class-names">${classes.value.map((one) => html`<option key=${one} value=${String(one)} />`)}</datalist>
    <button type="submit" disabled=${!text.trim()}>${t("label.add_answer")}</button>
  </form>`;
}

export function Answers({ question, isHidden, isWhole, onAnswer, onSkip }) {
  const known = isHidden ? null : question.prediction?.probabilities;
  const n = question.rows.length;
  return html`<div class="answers-part">
    <h3 id="answers-title">${t("label.which_class")}</h3>
    ${!classes.value.length && html`<p class="muted small">${t("label.no_classes")}</p>`}
    ${n > 1 && html`<label class="check whole"><input type="checkbox" checked=${isWhole.value} onChange=${(event) => { isWhole.value = event.target.checked; }} />
      ${question.kind === "box" ? t("label.whole_box", { n }) : t("label.whole_alike", { n: n - 1 })} <kbd aria-hidden="true">W</kbd></label>`}
    <div class="answers" role="group" aria-labelledby="answers-title">
      ${classes.value.map((name, index) => html`<${Answer} key=${String(name)} name=${name} index=${index} probability=${known?.[name] ?? null} onAnswer=${onAnswer} />`)}
    </div>
    <div class="answers-more">
      <${OtherClass} onAnswer=${onAnswer} />
      <button type="button" onClick=${onSkip} aria-keyshortcuts="s">${t("label.skip")} <kbd aria-hidden="true">S</kbd></button>
    </div>
  </div>`;
}
