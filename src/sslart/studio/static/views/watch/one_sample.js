// One row with its values, those that did not occur before marked, and the classes to choose from.
import { html } from "../../lib/ui.js";
import { percent } from "../../lib/format.js";
import { classIndex, link } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { ClassButtons } from "../../parts/class_buttons.js";
import { ClassMark } from "../../parts/class_mark.js";
import { features as known, shownCell } from "../map/state.js";

/** Return how a value differs from earlier ones: "below", "above", "new", or null. */
export function unusual(value, { before }) {
  if (value === null || value === undefined || value === "") return null;
  if (before.top) {
    const isComplete = before.top.reduce((sum, one) => sum + one.n, 0) >= before.n;
    return isComplete && !before.top.some((one) => one.n > 0 && String(one.value) === String(value)) ? "new" : null;
  }
  const number = Number(value);
  const first = before.histogram.findIndex((n) => n > 0);
  const last = before.histogram.findLastIndex((n) => n > 0);
  if (Number.isNaN(number) || first < 0 || typeof before.edges[first] !== "number") return null;
  if (number < before.edges[first]) return "below";
  return number > before.edges[last + 1] ? "above" : null;
}

export function OneSample({ one, features, onAnswer, onStep }) {
  const values = features
    .filter((feature) => feature.feature in one.cells)
    .map((feature) => ({ name: feature.feature, odd: unusual(one.cells[feature.feature], feature) }))
    .sort((a, b) => Number(b.odd !== null) - Number(a.odd !== null));
  const kinds = new Map(known.value.map((feature) => [feature.name, feature.kind]));
  const title = t("watch.which_class", { row: String(one.row) });
  return html`<div class="one-sample">
    <div class="one-sample-head"><h3 id="one-sample-title" aria-live="polite">${title}</h3>
      <span class="one-sample-steps">
        <button type="button" class="small" aria-keyshortcuts="p" onClick=${() => onStep(-1)}>${t("watch.previous")} <kbd aria-hidden="true">P</kbd></button>
        <button type="button" class="small" aria-keyshortcuts="n" onClick=${() => onStep(1)}>${t("watch.next")} <kbd aria-hidden="true">N</kbd></button>
      </span></div>
    <p class="one-sample-guess">${t("watch.guess")} <${ClassMark} index=${classIndex(one.class)} name=${one.class ?? t("watch.abstains")} />
      <span class="number">${percent(one.probability)}</span>
      ${one.abstained && html`<span class="chip">${t("watch.abstains")}</span>`}
      ${one.novel && html`<span class="chip">${t("watch.is_novel", { share: percent(one.novelty) })}</span>`}
      <a href=${link("understand", `sample/${one.row}`)}>${t("watch.explain")}</a></p>
    <${ClassButtons} label=${title} onAnswer=${onAnswer} current=${one.label} keys />
    <dl class="one-sample-values">${values.map(({ name, odd }) => html`<div key=${name} class=${odd ? "odd" : ""}>
      <dt>${name}</dt><dd>${shownCell({ name, kind: kinds.get(name) }, one.cells)}${odd && html` <span class="chip">${t(`watch.odd.${odd}`)}</span>`}</dd></div>`)}</dl>
  </div>`;
}
