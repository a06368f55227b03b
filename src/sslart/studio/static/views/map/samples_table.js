// All samples as a table: sorting, filters, pages, selection and labels by keyboard.
import { html, useEffect, useRef, useSignal } from "../../lib/ui.js";
import { api, model } from "../../lib/api.js";
import { number, percent } from "../../lib/format.js";
import { useKeys } from "../../lib/keys.js";
import { useLoaded } from "../../lib/loaded.js";
import { classIndex, fail, go, labelsVersion, link, say, sequence } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { ClassMark } from "../../parts/class_mark.js";
import { Loading, Problem } from "../../parts/notices.js";
import { features, filter, selection, selectMatching, shownCell } from "./state.js";
import { afterLabels, useLabels } from "./values.js";

const PAGE = 50;
const SORTED = ["probability", "novelty", "disagreement"];

const chosenRows = () => new Set(selection.value?.rows ?? []);

function keep(rows) {
  selection.value = rows.size ? { rows: [...rows].sort((a, b) => a - b), box: null, row: null } : null;
}

/** Selects or unselects rows. */
function mark(rows, on) {
  const next = chosenRows();
  for (const row of rows) on ? next.add(row) : next.delete(row);
  keep(next);
}

async function all() {
  const { total, most } = await selectMatching();
  say(most ? t("map.too_many", { n: total, most }) : t("map.selected", { n: total }), { kind: most ? "error" : "info" });
}

export function SamplesTable() {
  const sort = useSignal({ by: "row", descending: false });
  const offset = useSignal(0);
  const wanted = filter.value;
  useEffect(() => {
    offset.value = 0;
  }, [wanted, sort.value]);
  const { by, descending } = sort.value;
  const body = { ...wanted, sort: by, descending, offset: offset.value, limit: PAGE };
  const { data, error, loading, again } = useLoaded(
    (stop) => afterLabels(() => api.post(model("/search"), body, { signal: stop })),
    [wanted, sort.value, offset.value, sequence.value, labelsVersion.value],
  );
  useKeys([{ key: "a", text: t("map.select_all"), run: () => all().catch(fail) }]);
  if (error) return html`<${Problem} error=${error} again=${again} />`;
  if (!data) return html`<${Loading} />`;
  return html`<section class="card map-table" aria-busy=${loading} aria-label=${t("map.table")}>
    <div class="map-table-head">
      <p role="status">${t("map.matching", { n: data.total })}</p>
      <button type="button" class="small" disabled=${!data.total} onClick=${() => all().catch(fail)}>${t("map.select_all")} <kbd aria-hidden="true">A</kbd></button>
      <${Pages} offset=${offset} total=${data.total} />
    </div>
    <p class="muted small of-keys" id="table-keys">${t("map.table_keys")}</p>
    <div class="scroll" tabindex="0" role="group" aria-label=${t("map.table")}><table aria-describedby="table-keys">
      <${Head} sort=${sort} rows=${data.rows} />
      <${Body} rows=${data.rows} />
    </table></div>
    ${!data.rows.length && html`<p class="muted">${t("map.no_match")}</p>`}
  </section>`;
}

function Pages({ offset, total }) {
  const [from, to] = [Math.min(total, offset.value + 1), Math.min(total, offset.value + PAGE)];
  return html`<div class="map-pages" role="group" aria-label=${t("map.pages")}>
    <button type="button" class="small" disabled=${offset.value === 0} onClick=${() => (offset.value = Math.max(0, offset.value - PAGE))}>${t("map.previous")}</button>
    <span class="number" role="status">${t("map.page", { from, to, n: total })}</span>
    <button type="button" class="small" disabled=${to >= total} onClick=${() => (offset.value += PAGE)}>${t("map.next")}</button>
  </div>`;
}

function Head({ sort, rows }) {
  const { by, descending } = sort.value;
  const column = (name, text, kind) => html`<th scope="col" key=${name} class=${kind === "number" ? "number" : undefined}
    aria-sort=${by !== name ? undefined : descending ? "descending" : "ascending"}>
    <button type="button" class="quiet small" onClick=${() => (sort.value = { by: name, descending: by === name ? !descending : SORTED.includes(name) && name !== "probability" })}>
      ${text}<span aria-hidden="true" class="sort-sign">${by !== name ? "↕" : descending ? "↓" : "↑"}</span></button></th>`;
  const chosen = chosenRows();
  const everyOne = rows.length > 0 && rows.every((one) => chosen.has(one.row));
  return html`<thead><tr>
    <th scope="col"><input type="checkbox" aria-label=${t("map.select_page")} checked=${everyOne} onChange=${(event) => mark(rows.map((one) => one.row), event.target.checked)} /></th>
    ${column("row", t("map.row_number"))}
    <th scope="col">${t("map.label")}</th><th scope="col">${t("map.predicted")}</th>
    ${SORTED.slice(0, 2).map((name) => column(name, t(`map.columns.${name}`), "number"))}
    ${features.value.map(({ name, kind }) => column(name, name, kind))}
  </tr></thead>`;
}

function Body({ rows }) {
  const body = useRef(null);
  const last = useRef(null);
  const chosen = chosenRows();
  const labels = useLabels(rows.map((one) => one.row));
  const labelOf = (one) => (labels.has(one.row) ? labels.get(one.row) : one.label);
  const boxes = () => [...body.current.querySelectorAll("input")];
  const upTo = (at, on) => {
    const from = last.current ?? at;
    mark(rows.slice(Math.min(from, at), Math.max(from, at) + 1).map((one) => one.row), on);
  };
  const toggle = (event, at) => {
    if (event.shiftKey) upTo(at, event.target.checked);
    else mark([rows[at].row], event.target.checked);
    last.current = at;
  };
  const pressed = (event) => {
    const at = boxes().indexOf(event.target);
    if (at < 0) return;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) {
      event.preventDefault();
      const next = Math.min(rows.length - 1, Math.max(0, at + by));
      if (event.shiftKey) {
        last.current ??= at;
        upTo(next, true);
      } else last.current = next;
      boxes()[next].focus();
    } else if (event.key === "Enter") go("understand", `sample/${rows[at].row}`);
  };
  return html`<tbody ref=${body} onKeyDown=${pressed}>
    ${rows.map((one, at) => html`<tr key=${one.row} class=${chosen.has(one.row) ? "chosen" : undefined}>
      <td><input type="checkbox" aria-label=${t("map.row", { row: String(one.row) })} checked=${chosen.has(one.row)} onClick=${(event) => toggle(event, at)} /></td>
      <th scope="row"><a href=${link("understand", `sample/${one.row}`)} tabindex="-1">${one.row}</a></th>
      <td><${ClassMark} index=${classIndex(labelOf(one))} name=${labelOf(one) ?? t("common.none")} /></td>
      <td><${ClassMark} index=${classIndex(one.class)} name=${one.class ?? t("map.no_class")} />${one.abstained && html` <span class="chip">${t("map.abstained")}</span>`}</td>
      <td class="number">${one.class === null ? t("common.none") : percent(one.probability)}</td>
      <td class="number">${number(Number(one.novelty.toFixed(2)))}${one.novel && html` <span class="chip">${t("map.novel")}</span>`}</td>
      ${features.value.map((feature) => html`<td key=${feature.name} class=${feature.kind === "number" ? "number" : undefined}>${shownCell(feature, one.cells)}</td>`)}
    </tr>`)}
  </tbody>`;
}
