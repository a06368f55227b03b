// Counterfactuals, with fixed features.
import { html, useSignal } from "../../lib/ui.js";
import { api, model } from "../../lib/api.js";
import { cell, percent } from "../../lib/format.js";
import { classIndex, samples } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { ClassMark } from "../../parts/class_mark.js";
import { Loading, Problem } from "../../parts/notices.js";
import { fromDays } from "./value_field.js";

const N = 4;
const ANY = "";

/** `prediction` is that for `cells`, once it is known. */
export function Counterfactuals({ cells, prediction, onTry }) {
  const fixed = useSignal([]);
  const target = useSignal(ANY);
  const found = useSignal({ data: null, error: null, loading: false });
  const targets = prediction ? samples.value.classes.filter((one) => String(one) !== String(prediction.class)) : [];
  const wanted = targets.find((one) => String(one) === target.value) ?? null;
  const names = samples.value.features.map((one) => one.name);
  const find = async () => {
    found.value = { data: null, error: null, loading: true };
    try {
      found.value = { data: await api.post(model("/counterfactual"), { row: cells, target: wanted, fixed: fixed.value, n: N }), error: null, loading: false };
    } catch (error) {
      found.value = { data: null, error, loading: false };
    }
  };
  const toggle = (name) => (fixed.value = fixed.value.includes(name) ? fixed.value.filter((one) => one !== name) : [...fixed.value, name]);
  const { data, error, loading } = found.value;
  return html`<section class="card" aria-labelledby="counterfactual-title">
    <h2 id="counterfactual-title">${t("understand.counterfactuals")}</h2>
    <p class="muted small">${t("understand.counterfactuals_text")}</p>
    <fieldset class="choices"><legend>${t("understand.fixed")}</legend><div class="fixed fades-down">
      ${names.map((name) => html`<label class="check" key=${name}><input type="checkbox" checked=${fixed.value.includes(name)} onChange=${() => toggle(name)} /> ${name}</label>`)}
    </div></fieldset>
    <div class="field-row"><label class="field">${t("understand.target")}
      <select value=${wanted === null ? ANY : target.value} onChange=${(event) => (target.value = event.target.value)}>
        <option value=${ANY}>${t("understand.any_class")}</option>
        ${targets.map((one) => html`<option key=${String(one)} value=${String(one)}>${String(one)}</option>`)}
      </select></label>
      <button type="button" disabled=${loading || fixed.value.length === names.length} onClick=${find}>${t("understand.find")}</button></div>
    <div aria-live="polite">${loading ? html`<${Loading} text=${t("understand.computing")} />` : error ? html`<${Problem} error=${error} />` : data && html`<${Found} data=${data} cells=${cells} onTry=${onTry} />`}</div>
  </section>`;
}

/** A value of an answer as a cell: dates are counted in days there. */
function asCell(name, value) {
  const feature = samples.value.features.find((one) => one.name === name);
  return feature?.kind === "date" && typeof value === "number" ? fromDays(Math.round(value)) : value;
}

function Found({ data, cells, onTry }) {
  if (!data.counterfactuals.length) return html`<p>${data.note || t("understand.no_counterfactual")}</p>`;
  const isOwn = (name) => samples.value.features.some((one) => one.name === name);
  const withChanges = (changes) => ({ ...cells, ...Object.fromEntries(changes.map((one) => [one.feature, asCell(one.feature, one.after)])) });
  return html`<ol class="counterfactuals">${data.counterfactuals.map((one, at) => html`<li key=${at}>
    <ul>${one.changes.map((change) => html`<li key=${change.feature}>${t("understand.change", { feature: change.feature, before: cell(asCell(change.feature, change.before)), after: cell(asCell(change.feature, change.after)) })}</li>`)}</ul>
    <p>→ <${ClassMark} index=${classIndex(one.prediction)} name=${one.prediction} /> <span class="number">${percent(one.confidence, 1)}</span>
      ${!one.plausible && html` <span class="chip">${t("understand.not_plausible")}</span>`}
      ${one.changes.every((change) => isOwn(change.feature)) && html` <button type="button" class="small" onClick=${() => onTry(withChanges(one.changes))}>${t("understand.try_it")}</button>`}</p>
  </li>`)}</ol>
  ${data.note && html`<p class="muted small">${data.note}</p>`}`;
}
