// Controls of the map (axes, colour, outlines of boxes) and the filters shared with the table.
import { html, useEffect, useState } from "../../lib/ui.js";
import { classIndex, classes } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { ClassMark } from "../../parts/class_mark.js";
import { COLOURS } from "./colours.js";
import { change, chooseAxis, features, filter, isNarrowed, narrow, settings, showAllSamples } from "./state.js";

const COMPUTED = "";

function AxisChooser({ axis }) {
  return html`<label class="field">${t(`map.axis_${axis}`)}
    <select value=${settings.value[axis] ?? COMPUTED} onChange=${(event) => chooseAxis(axis, event.target.value === COMPUTED ? null : event.target.value)}>
      <option value=${COMPUTED}>${t("map.computed")}</option>
      ${features.value.map(({ name }) => html`<option key=${name} value=${name}>${name}</option>`)}
    </select>
  </label>`;
}

export function MapControls() {
  const { colour, outlines } = settings.value;
  return html`<div class="field-row map-controls">
    <${AxisChooser} axis="x" />
    <${AxisChooser} axis="y" />
    <label class="field">${t("map.colour")}
      <select value=${colour} onChange=${(event) => change({ colour: event.target.value })}>
        ${Object.keys(COLOURS).map((name) => html`<option key=${name} value=${name}>${t(`map.colours.${name}`)}</option>`)}
      </select>
    </label>
    <label class="check"><input type="checkbox" checked=${outlines} onChange=${(event) => change({ outlines: event.target.checked })} /> ${t("map.outlines")}</label>
  </div>`;
}

/** Checkboxes for classes; `none` adds one for samples without a class. */
function ClassFilter({ name, legend, none }) {
  const chosen = filter.value[name] ?? null;
  const all = none ? [...classes.value, null] : classes.value;
  const toggle = (one) => {
    const next = chosen?.includes(one) ? chosen.filter((other) => other !== one) : [...(chosen ?? []), one];
    narrow({ [name]: next.length ? next : undefined });
  };
  return html`<fieldset class="map-classes">
    <legend>${legend}</legend>
    ${all.map((one) => html`<label class="check" key=${String(one)}>
      <input type="checkbox" checked=${chosen?.includes(one) ?? false} onChange=${() => toggle(one)} />
      <${ClassMark} index=${classIndex(one)} name=${one ?? t("map.unlabelled")} />
    </label>`)}
  </fieldset>`;
}

function Sure() {
  const [low, high] = filter.value.probability ?? [0, 1];
  const set = (from, to) => narrow({ probability: from <= 0 && to >= 1 ? undefined : [from, to] });
  const field = (label, value, run) => html`<label class="map-percent">${label}
    <input type="number" min="0" max="100" step="5" value=${Math.round(100 * value)} onChange=${(event) => run(Math.min(1, Math.max(0, Number(event.target.value) / 100)))} /> %
  </label>`;
  return html`<fieldset class="map-sure">
    <legend>${t("map.confidence")}</legend>
    ${field(t("map.from"), low, (value) => set(value, Math.max(value, high)))}
    ${field(t("map.to"), high, (value) => set(Math.min(low, value), value))}
  </fieldset>`;
}

/** A debounced text field. */
function TextFilter() {
  const [text, setText] = useState(filter.value.text ?? "");
  useEffect(() => {
    const timer = setTimeout(() => text.trim() !== (filter.value.text ?? "") && narrow({ text: text.trim() || undefined }), 300);
    return () => clearTimeout(timer);
  }, [text]);
  return html`<label class="field">${t("map.text")}
    <input type="search" maxlength="200" value=${text} onInput=${(event) => setText(event.target.value)} />
  </label>`;
}

export function Filters() {
  const flag = (name) => html`<label class="check" key=${name}>
    <input type="checkbox" checked=${filter.value[name] === true} onChange=${(event) => narrow({ [name]: event.target.checked || undefined })} /> ${t(`map.only.${name}`)}
  </label>`;
  return html`<details class="map-filters" open=${isNarrowed.value || undefined}>
    <summary>${t("map.filters")} ${isNarrowed.value && html`<span class="chip">${t("map.filtered")}</span>`}</summary>
    <div class="map-filter-parts">
      <${ClassFilter} name="predicted" legend=${t("map.predicted")} />
      <${ClassFilter} name="label" legend=${t("map.label")} none />
      <fieldset><legend>${t("map.only_those")}</legend>${["disagrees", "novel", "abstained"].map(flag)}</fieldset>
      <${Sure} />
      <${TextFilter} key=${isNarrowed.value ? "some" : "none"} />
      <button type="button" disabled=${!isNarrowed.value} onClick=${showAllSamples}>${t("map.show_all")}</button>
    </div>
  </details>`;
}
