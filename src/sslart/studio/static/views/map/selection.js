// Summary of the selection: number of samples, labels, predictions, distinctive features, first rows.
import { html } from "../../lib/ui.js";
import { api, model } from "../../lib/api.js";
import { cell, number, portion } from "../../lib/format.js";
import { useLoaded } from "../../lib/loaded.js";
import { classIndex, labelsVersion, link, sequence } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { ClassMark } from "../../parts/class_mark.js";
import { Loading, Problem } from "../../parts/notices.js";
import { LabelBar } from "./label_bar.js";
import { specialOf } from "./special.js";
import { features, selection, shownCell } from "./state.js";
import { afterLabels, indexOf, useLabels, values } from "./values.js";

const FIRST = 8;
const CELLS = 3;

export function SelectionPanel() {
  const chosen = selection.value;
  if (!chosen) {
    return html`<aside class="card map-selection" aria-label=${t("map.selection")}>
      <h2>${t("map.selection")}</h2>
      <p class="muted">${t("map.nothing")}</p>
    </aside>`;
  }
  const title = chosen.box === null ? t("map.selected", { n: chosen.rows.length }) : t("map.box_title", { box: String(chosen.box) });
  return html`<aside class="card map-selection" aria-label=${t("map.selection")}>
    <div class="map-selection-head">
      <h2 aria-live="polite">${title}</h2>
      <button type="button" class="quiet small" onClick=${() => (selection.value = null)}>${t("map.clear")}</button>
    </div>
    ${chosen.box !== null && html`<p class="muted">${t("common.samples", { n: chosen.rows.length })}</p>`}
    ${chosen.row !== null && html`<p class="map-one"><a href=${link("understand", `sample/${chosen.row}`)}>${t("map.explain", { row: String(chosen.row) })}</a>
      <button type="button" class="small" onClick=${() => (selection.value = { rows: [chosen.row], box: null, row: chosen.row })}>${t("map.only_this")}</button></p>`}
    <h3>${t("map.label_all", { n: chosen.rows.length })}</h3>
    <${LabelBar} rows=${chosen.rows} />
    <div class="map-two">
      <${Counts} rows=${chosen.rows} quantity="label" title=${t("map.labels_given")} none=${t("map.unlabelled")} />
      <${Counts} rows=${chosen.rows} quantity="class" title=${t("map.predicted")} none=${t("map.no_class")} />
    </div>
    ${chosen.box === null ? html`<${Special} rows=${chosen.rows} />` : html`<${Box} box=${chosen.box} />`}
    <${FirstRows} rows=${chosen.rows} />
  </aside>`;
}

async function countsOf(rows, quantity) {
  const [numbers, { data, classes }] = await Promise.all([values("row"), values(quantity)]);
  const found = new Map();
  for (const row of rows) {
    const at = indexOf(numbers.data, row);
    const name = data[at] >= 0 ? classes[data[at]] : null;
    found.set(name, (found.get(name) ?? 0) + 1);
  }
  return [...found].sort((a, b) => b[1] - a[1]);
}

function Counts({ rows, quantity, title, none }) {
  const { data, error } = useLoaded(() => countsOf(rows, quantity), [rows, quantity, sequence.value, labelsVersion.value]);
  return html`<div><h3>${title}</h3>${error ? html`<${Problem} error=${error} />` : !data ? html`<${Loading} />` : html`<ul class="map-counts">
    ${data.map(([name, n]) => html`<li key=${String(name)}><${ClassMark} index=${classIndex(name)} name=${name ?? none} />
      <span class="number">${number(n)}</span><span class="number muted">${portion(n / rows.length)}</span></li>`)}
  </ul>`}</div>`;
}

function Special({ rows }) {
  const { data, error } = useLoaded(() => specialOf(rows), [rows]);
  if (error) return html`<${Problem} error=${error} />`;
  return html`<h3>${t("map.special")}</h3>
    ${!data ? html`<${Loading} />` : data.length
      ? html`<ul class="map-list">${data.map((one) => html`<li key=${one.feature}>${one.text}</li>`)}</ul>`
      : html`<p class="muted">${t("map.not_special")}</p>`}`;
}

function Box({ box }) {
  const { data, error } = useLoaded(() => afterLabels(() => api.get(model(`/boxes/${box}`))), [box, sequence.value]);
  if (error) return html`<${Problem} error=${error} />`;
  if (!data) return html`<${Loading} />`;
  return html`${data.special.length > 0 && html`<h3>${t("map.special")}</h3>
    <ul class="map-list">${data.special.map((one) => html`<li key=${one.feature}><strong>${one.feature}</strong> ${cell(one.value)}: ${one.text}</li>`)}</ul>`}
    <details class="map-conditions"><summary>${t("map.conditions", { n: data.conditions.length })}</summary>
      <dl>${data.conditions.map((one) => html`<div key=${one.feature}><dt>${one.feature}</dt><dd>${one.text}</dd></div>`)}</dl>
    </details>`;
}

function FirstRows({ rows }) {
  const first = rows.slice(0, FIRST);
  const { data, error } = useLoaded(() => afterLabels(() => api.post(model("/search"), { rows: first, limit: FIRST })), [rows, sequence.value]);
  const labels = useLabels(first);
  if (error) return html`<${Problem} error=${error} />`;
  const shown = features.value.slice(0, CELLS);
  return html`<h3>${t(rows.length > FIRST ? "map.first_rows" : "map.rows", { n: Math.min(FIRST, rows.length) })}</h3>
    ${!data ? html`<${Loading} />` : html`<div class="scroll" tabindex="0" role="region" aria-label=${t("map.rows_table")}><table>
      <thead><tr><th scope="col">${t("map.row_number")}</th><th scope="col">${t("map.label")}</th><th scope="col">${t("map.predicted")}</th>
        ${shown.map(({ name }) => html`<th scope="col" key=${name}>${name}</th>`)}</tr></thead>
      <tbody>${data.rows.map((one) => html`<tr key=${one.row}>
        <th scope="row"><a href=${link("understand", `sample/${one.row}`)} aria-label=${t("map.open", { row: String(one.row) })}>${one.row}</a></th>
        <td><${ClassMark} index=${classIndex(labels.get(one.row))} name=${labels.get(one.row) ?? t("common.none")} /></td>
        <td><${ClassMark} index=${classIndex(one.class)} name=${one.class ?? t("map.no_class")} /></td>
        ${shown.map((feature) => html`<td key=${feature.name}>${shownCell(feature, one.cells)}</td>`)}
      </tr>`)}</tbody>
    </table></div>`}`;
}
