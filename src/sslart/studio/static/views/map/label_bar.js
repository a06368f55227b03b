// One answer for all selected samples: class buttons with number keys; many samples need a confirmation.
import { html, useState } from "../../lib/ui.js";
import { focused } from "../../lib/focus.js";
import { useKeys } from "../../lib/keys.js";
import { addClass, canUndo, classes, fail, labelRows, say, undo } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { ClassMark } from "../../parts/class_mark.js";
import { Confirm } from "../../parts/dialog.js";
import { labelsOf } from "./values.js";

const MANY = 100;
const MOST_KEYS = 9;

async function give(rows, label) {
  await labelRows(rows, label, { previous: await labelsOf(rows) });
  const text = label === null ? t("map.withdrawn", { n: rows.length }) : t("map.labelled", { n: rows.length, label });
  say(text, { action: { text: t("app.undo"), run: () => canUndo.value && undo().catch(fail) } });
}

/** `rows` are the numbers of the selected samples; keys work while there are some. */
export function LabelBar({ rows }) {
  const [asked, setAsked] = useState(null);
  const [busy, setBusy] = useState(false);
  const none = !rows.length || busy;
  const now = (label) => {
    setAsked(null);
    setBusy(true);
    give(rows, label).catch(fail).finally(() => setBusy(false));
  };
  const answer = (label) => (rows.length > MANY ? setAsked({ label }) : now(label));
  useKeys([
    ...classes.value.slice(0, MOST_KEYS).map((name, at) => ({
      key: String(at + 1), text: t("map.key_label", { label: name }), disabled: none, run: () => answer(name),
    })),
    { key: "w", text: t("map.withdraw"), disabled: none, run: () => answer(null) },
  ]);
  return html`<div class="label-bar" role="group" aria-label=${t("map.label_all", { n: rows.length })}>
    ${classes.value.map((name, at) => html`<button type="button" key=${String(name)} disabled=${none} onClick=${() => answer(name)}>
      <${ClassMark} index=${at} name=${name} />${at < MOST_KEYS && html` <kbd aria-hidden="true">${at + 1}</kbd>`}
    </button>`)}
    <${NewClass} />
    <button type="button" class="quiet" disabled=${none} onClick=${() => answer(null)}>${t("map.withdraw")} <kbd aria-hidden="true">W</kbd></button>
    ${busy && html`<span class="spinner" role="status" aria-label=${t("map.labelling")}></span>`}
    ${asked && html`<${Confirm} title=${t("map.confirm_title", { n: rows.length })} onClose=${() => setAsked(null)} onYes=${() => now(asked.label)}
      text=${t(asked.label === null ? "map.confirm_withdraw" : "map.confirm_text", { n: rows.length, label: asked.label })}
      yes=${t(asked.label === null ? "map.withdraw" : "map.confirm_yes", { label: asked.label })} />`}
  </div>`;
}

function NewClass() {
  const [name, setName] = useState(null);
  const add = (event) => {
    event.preventDefault();
    addClass(name).then(() => setName(null), fail);
  };
  if (name === null) return html`<button type="button" class="quiet" onClick=${() => setName("")}>${t("map.new_class")}</button>`;
  return html`<form class="new-class" onSubmit=${add}>
    <input type="text" maxlength="200" required ref=${focused} aria-label=${t("map.class_name")} placeholder=${t("map.class_name")} value=${name}
      onInput=${(event) => setName(event.target.value)} onKeyDown=${(event) => event.key === "Escape" && setName(null)} />
    <button type="submit">${t("map.add")}</button>
  </form>`;
}
