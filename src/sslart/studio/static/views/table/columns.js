// Interpretation of each column; a select changes its role.
import { html, useEffect, useState } from "../../lib/ui.js";
import { api, model } from "../../lib/api.js";
import { cell, number, portion } from "../../lib/format.js";
import { running } from "../../lib/jobs.js";
import { useLoad } from "../../lib/load.js";
import { description, fail } from "../../lib/state.js";
import { has, t } from "../../lib/texts.js";
import { Histogram } from "../../parts/charts.js";
import { Loading, Problem } from "../../parts/notices.js";
import { fitAnew } from "./refit.js";
import { changed, choices, rolesOf, settingsOf } from "./roles.js";

const MOST_SHOWN = 200;
const FEATURE = ["feature", "category"]; // roles

function Values({ column }) {
  if (column.histogram?.length) {
    const words = t("table.histogram", { name: column.name, low: cell(column.low), high: cell(column.high) });
    return html`<div class="values">
      <${Histogram} counts=${column.histogram} words=${words} />
      <div class="range small muted number"><span>${cell(column.low)}</span><span>${cell(column.high)}</span></div>
    </div>`;
  }
  if (column.top?.length && column.top[0].n > 1) {
    const most = column.top[0].n;
    return html`<ul class="top small">
      ${column.top.slice(0, 3).map((one) => html`<li key=${one.value}>
        <span class="top-value" title=${cell(one.value)}>${cell(one.value, 40)}</span>
        <svg viewBox="0 0 60 8" preserveAspectRatio="none" aria-hidden="true"><rect width=${(60 * one.n) / most} height="8" fill="var(--bar)" /></svg>
        <span class="number muted">${number(one.n)}</span>
      </li>`)}
      ${column.distinct > 3 && html`<li class="muted">${t("table.more_values", { n: column.distinct - 3 })}</li>`}
    </ul>`;
  }
  return html`<span class="small muted">${(column.examples ?? []).slice(0, 3).map((one) => cell(one, 30)).join(" · ")}</span>`;
}

function ColumnRow({ column, rows, role, isChanged, onRole }) {
  const id = `role-${column.name}`;
  return html`<tr class=${isChanged ? "changed" : ""}>
    <th scope="row">${column.name}
      ${(column.warnings ?? []).map((one) => html`<p key=${one.topic} class="column-warning"><span class="chip warning-chip">${has(`table.warnings.${one.topic}`) ? t(`table.warnings.${one.topic}`) : one.topic}</span> ${one.text} ${one.topic === "constant" && FEATURE.includes(role) ? t("table.constant_feature") : ""}</p>`)}
    </th>
    <td>
      <label class="visually-hidden" for=${id}>${t("table.role_of", { name: column.name })}</label>
      <select id=${id} value=${role} onChange=${(event) => onRole(event.target.value)}>
        ${choices(column, role).map((one) => html`<option key=${one} value=${one}>${t(`table.roles.${one.replace(" ", "_")}`)}</option>`)}
      </select>
    </td>
    <td class="column-kind">${t(`table.kinds.${column.kind}`)}</td>
    <td class="column-values"><${Values} column=${column} /></td>
    <td class="number" data-name=${t("table.distinct")}>${number(column.distinct)}</td>
    <td class="number" data-name=${t("table.missing")}>${column.missing ? portion(column.missing / Math.max(1, rows)) : t("common.none")}</td>
  </tr>`;
}

function LabelQuestion({ columns, roles, onLabel }) {
  const now = Object.keys(roles).find((name) => roles[name] === "label") ?? "";
  return html`<div class="field-row label-question">
    <label class="field">${t("table.label_question")}
      <select value=${now} onChange=${(event) => onLabel(event.target.value)}>
        <option value="">${t("table.label_none")}</option>
        ${columns.map((one) => html`<option key=${one.name} value=${one.name}>${one.name}</option>`)}
      </select>
    </label>
    <p class="muted small">${t("table.label_help")}</p>
  </div>`;
}

export function ColumnsCard({ name }) {
  const isFitting = running.value[name] !== undefined;
  const settings = description.value.settings;
  const found = useLoad((signal) => api.get(model("/columns", name), { signal }), [name, isFitting, JSON.stringify(settings)]);
  const [edits, setEdits] = useState({}); // roles by column, kept while the columns are read anew
  const [filter, setFilter] = useState("");
  const [showsAll, setShowsAll] = useState(false);
  const initial = rolesOf(found.value?.columns ?? [], settings);
  const differing = (roles) => Object.fromEntries(Object.keys(initial).filter((one) => roles[one] !== initial[one]).map((one) => [one, roles[one]]));
  useEffect(() => setEdits((before) => (found.value ? differing({ ...initial, ...before }) : before)), [found.value]);
  if (!found.value) return found.error ? html`<${Problem} error=${found.error} again=${found.again} />` : html`<${Loading} text=${t("table.columns_loading")} />`;

  const { columns, rows, notes } = found.value;
  const draft = { ...initial, ...edits };
  const setRoles = (roles) => setEdits(differing(roles));
  const changes = columns.filter((one) => draft[one.name] !== initial[one.name]);
  const label = Object.keys(draft).find((one) => draft[one] === "label");
  const setLabel = (to) => setRoles(to ? changed(draft, to, "label") : changed(draft, label, "feature"));
  const fits = columns.filter((one) => one.name.toLowerCase().includes(filter.trim().toLowerCase()));
  const shown = showsAll ? fits : fits.slice(0, MOST_SHOWN);

  return html`<section class="card columns-card" aria-labelledby="columns-title">
    <h2 id="columns-title">${t("table.columns")}</h2>
    <${LabelQuestion} columns=${columns} roles=${draft} onLabel=${setLabel} />
    ${(notes ?? []).map((one) => html`<p key=${one} class="muted small">${one}</p>`)}
    ${columns.length > 12 && html`<label class="field filter small"><span class="visually-hidden">${t("table.filter")}</span>
      <input type="search" placeholder=${t("table.filter")} value=${filter} onInput=${(event) => setFilter(event.target.value)} /></label>`}
    <div class="scroll" tabindex="0" role="group" aria-labelledby="columns-title"><table class="columns stacked">
      <thead><tr>
        <th scope="col">${t("table.column")}</th><th scope="col">${t("table.role")}</th><th scope="col">${t("table.kind")}</th>
        <th scope="col">${t("table.values")}</th><th scope="col" class="number">${t("table.distinct")}</th><th scope="col" class="number">${t("table.missing")}</th>
      </tr></thead>
      <tbody>${shown.map((one) => html`<${ColumnRow} key=${one.name} column=${one} rows=${rows} role=${draft[one.name]}
        isChanged=${draft[one.name] !== initial[one.name]} onRole=${(role) => setRoles(changed(draft, one.name, role))} />`)}</tbody>
    </table></div>
    ${shown.length < fits.length && html`<button type="button" onClick=${() => setShowsAll(true)}>${t("table.show_all", { n: fits.length })}</button>`}
    ${changes.length > 0 && html`<div class="apply" role="status">
      <span>${t("table.changes", { n: changes.length, names: changes.slice(0, 3).map((one) => one.name).join(", ") })}</span>
      <span class="apply-buttons">
        <button type="button" class="primary" onClick=${() => fitAnew(name, settingsOf(draft, columns, settings)).catch(fail)}>${t("table.apply")}</button>
        <button type="button" onClick=${() => setEdits({})}>${t("table.discard")}</button>
      </span>
    </div>`}
  </section>`;
}
