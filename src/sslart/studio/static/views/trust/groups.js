// Accuracy in each group of a column.
import { html, useState } from "../../lib/ui.js";
import { api, model } from "../../lib/api.js";
import { cell, number } from "../../lib/format.js";
import { useFollowed, useLoad } from "../../lib/load.js";
import { sequence } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { Loading, Problem } from "../../parts/notices.js";
import { Share } from "./share.js";

const FEW_GROUPS = 12;
const LONG = 80; // characters of a group

/** Columns that can define groups, and the default: the group column, or the first with few categories. */
function choicesOf(columns) {
  const names = columns.filter((one) => one.role !== "label" && one.distinct > 1);
  const first = names.find((one) => one.role === "group") ?? names.find((one) => one.kind === "category" && one.role !== "ignored" && one.distinct <= FEW_GROUPS);
  return { names: names.map((one) => one.name), first: first?.name ?? "" };
}

function Groups({ groups }) {
  return html`<div class="scroll" tabindex="0" role="group" aria-label=${t("trust.groups")}><table>
    <caption class="visually-hidden">${t("trust.groups_of", { column: groups.column })}</caption>
    <thead><tr><th scope="col">${groups.column}</th><th scope="col" class="number">${t("trust.labels")}</th><th scope="col">${t("trust.accuracy")}</th></tr></thead>
    <tbody>${groups.groups.map((one) => html`<tr key=${one.group}>
      <th scope="row" title=${one.group}>${cell(one.group, LONG)}</th><td class="number">${number(one.n)}</td>
      <td><${Share} share=${one.accuracy} label=${t("trust.accuracy_of", { group: one.group })} />
        ${one.note && html`<span class="group-note"><span class="sign" aria-hidden="true">!</span>${one.note}</span>`}</td>
    </tr>`)}</tbody>
  </table></div>`;
}

function OfColumn({ name, column }) {
  const { value, error, again } = useFollowed(() => api.get(`${model("/trust", name)}?group=${encodeURIComponent(column)}`), [name, column, sequence.value]);
  if (error) return html`<${Problem} error=${error} again=${again} />`;
  return value?.groups?.column === column ? html`<${Groups} groups=${value.groups} />` : html`<${Loading} text=${t("trust.measuring")} />`;
}

export function GroupsCard({ name }) {
  const [chosen, setChosen] = useState(null);
  const { value, error, again } = useLoad((signal) => api.get(model("/columns", name), { signal }), [name]);
  const { names, first } = choicesOf(value?.columns ?? []);
  const column = chosen ?? first;
  return html`<section class="card" aria-labelledby="trust-groups">
    <h2 id="trust-groups">${t("trust.groups")}</h2>
    <p class="muted small">${t("trust.groups_text")}</p>
    ${error && html`<${Problem} error=${error} again=${again} />`}
    ${!value ? !error && html`<${Loading} />` : html`<label class="group-column">${t("trust.column")}
      <select value=${column} onChange=${(event) => setChosen(event.target.value)}>
        ${column === "" && html`<option value="">${t("trust.choose_column")}</option>`}
        ${names.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}
      </select></label>`}
    ${column && html`<${OfColumn} name=${name} column=${column} />`}
  </section>`;
}
