// A field for a value of a feature: a slider with a number or a date, or a list of categories.
import { html, useId } from "../../lib/ui.js";
import { t } from "../../lib/texts.js";
import { shownCell } from "../map/state.js";

const DAY = 86_400_000;
const STEPS = 200;
const MISSING = "\u0000missing";

const toDays = (text) => Math.round(Date.parse(`${String(text).slice(0, 10)}T00:00:00Z`) / DAY);
export const fromDays = (days) => new Date(days * DAY).toISOString().slice(0, 10);

/** `value` and `before` are cells; null for a missing one. */
export function ValueField({ feature, value, before, onValue }) {
  const id = useId();
  const isChanged = String(value ?? "") !== String(before ?? "");
  const isMissing = value === null || value === "";
  const parts = { id, feature, value, onValue, isMissing, before };
  return html`<div class=${isChanged ? "value-field changed" : "value-field"}>
    <label for=${id}>${feature.name}${isChanged && html` <span class="muted small">${t("understand.was", { value: shownCell(feature, { [feature.name]: before }) })}</span>`}</label>
    ${feature.kind === "category" ? html`<${Picker} ...${parts} />` : isOddDate(feature, before) ? html`<${Written} ...${parts} />` : html`<${Slider} ...${parts} isDate=${feature.kind === "date"} />`}
  </div>`;
}

/** Whether a date is written in another way than 2024-12-31, or is a time of day: it is changed as it is written. */
function isOddDate(feature, before) {
  return feature.kind === "date" && before !== null && before !== "" && !/^\d{4}-\d\d-\d\d/.test(String(before));
}

function Written({ id, value, onValue, isMissing }) {
  return html`<input id=${id} type="text" placeholder=${t("common.missing")} value=${isMissing ? "" : value}
    onChange=${(event) => onValue(event.target.value.trim() === "" ? null : event.target.value.trim())} />`;
}

function Picker({ id, feature, value, onValue, isMissing }) {
  const known = (feature.categories ?? []).map(String);
  const text = typeof value === "boolean" ? known.find((one) => one.toLowerCase() === String(value)) ?? String(value) : String(value); // learnt as True
  const all = isMissing || known.includes(text) ? known : [...known, text];
  return html`<select id=${id} value=${isMissing ? MISSING : text} onChange=${(event) => onValue(event.target.value === MISSING ? null : event.target.value)}>
    ${all.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}<option value=${MISSING}>${t("common.missing")}</option>
  </select>`;
}

/** Steps of whole numbers where the values are whole. */
function scaleOf(feature, before, isDate) {
  const [low, high] = [feature.low ?? 0, feature.high ?? 1];
  if (isDate) return { low: Math.floor(low), high: Math.ceil(high), step: 1 };
  const isWhole = [low, high, Number(before ?? low)].every(Number.isInteger) && high - low >= 2;
  return { low, high, step: isWhole ? Math.max(1, Math.round((high - low) / 1000)) : niceStep((high - low) / STEPS || 0.01) };
}

const niceStep = (rough) => {
  const unit = 10 ** Math.floor(Math.log10(rough));
  return Number((rough / unit < 2 ? unit : rough / unit < 5 ? 2 * unit : 5 * unit).toPrecision(3));
};

function Slider({ id, feature, value, before, onValue, isMissing, isDate }) {
  const { low, high, step } = scaleOf(feature, before, isDate);
  const now = isMissing ? (low + high) / 2 : isDate ? toDays(value) : Number(value);
  const moved = (event) => onValue(isDate ? fromDays(Number(event.target.value)) : String(Number(Number(event.target.value).toPrecision(10))));
  const written = (event) => {
    if (event.target.value !== "" && event.target.validity.valid) onValue(event.target.value);
  };
  const shown = value === before ? shownCell(feature, { [feature.name]: value }) : value; // what is being written stays as it is
  const floor = Math.floor(low / step) * step;
  return html`<div class="slider">
    <input id=${id} type="range" min=${floor} max=${high} step=${step} value=${now} class=${isMissing ? "is-missing" : undefined} onInput=${moved}
      aria-valuetext=${isMissing ? t("common.missing") : String(shown)} />
    <input type=${isDate ? "date" : "number"} step=${isDate ? undefined : "any"} aria-label=${feature.name} placeholder=${t("common.missing")}
      value=${isMissing ? "" : isDate ? fromDays(now) : shown} onInput=${written} />
    <button type="button" class="quiet small" aria-pressed=${isMissing} disabled=${isMissing} aria-label=${t("understand.make_missing", { feature: feature.name })} title=${t("understand.make_missing", { feature: feature.name })} onClick=${() => onValue(null)}>∅</button>
  </div>`;
}
