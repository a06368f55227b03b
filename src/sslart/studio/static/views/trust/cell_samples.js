// The samples of a cell of the confusion matrix, with links to them and a way to correct their labels.
import { Fragment, html, useEffect, useRef, useState } from "../../lib/ui.js";
import { api, model } from "../../lib/api.js";
import { useLoad } from "../../lib/load.js";
import { canUndo, classIndex, fail, labelRows, labelsVersion, link, say, sequence, undo } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { ClassButtons } from "../../parts/class_buttons.js";
import { ClassMark } from "../../parts/class_mark.js";
import { Loading, Problem } from "../../parts/notices.js";
import { features, shownCell } from "../map/state.js";

const FIRST = 10;
const CELLS = 4;

async function correct(one, label) {
  await labelRows([one.row], label, { previous: [one.label] });
  const text = label === null ? t("trust.withdrawn", { row: String(one.row) }) : t("trust.corrected", { row: String(one.row), label });
  say(text, { action: { text: t("app.undo"), run: () => canUndo.value && undo().catch(fail) } });
}

function Line({ one, shown, isOpen, onOpen }) {
  const [busy, setBusy] = useState(false);
  const answer = (label) => {
    if (String(label) === String(one.label)) return onOpen();
    setBusy(true);
    return correct(one, label).then(onOpen, fail).finally(() => setBusy(false));
  };
  return html`<${Fragment}>
    <tr>
      <th scope="row"><a href=${link("understand", `sample/${one.row}`)} aria-label=${t("trust.open_row", { row: String(one.row) })}>${one.row}</a></th>
      <td><${ClassMark} index=${classIndex(one.label)} name=${one.label ?? t("common.no_label")} /></td>
      <td><button type="button" class="small" aria-expanded=${isOpen} aria-label=${t("trust.correct_row", { row: String(one.row) })} onClick=${onOpen}>${t("trust.correct")}</button></td>
      ${shown.map((feature) => html`<td key=${feature.name}>${shownCell(feature, one.cells)}</td>`)}
    </tr>
    ${isOpen && html`<tr class="correcting"><td colspan=${shown.length + 3}>
      <p>${t("trust.right_class", { row: String(one.row) })}</p>
      <${ClassButtons} label=${t("trust.right_class", { row: String(one.row) })} onAnswer=${answer} current=${one.label} isBusy=${busy} />
    </td></tr>`}
  <//>`;
}

export function CellSamples({ truth, predicted, n, rows, onClose }) {
  const [open, setOpen] = useState(null);
  const [showsAll, setShowsAll] = useState(false);
  const heading = useRef(null);
  const numbers = rows.join();
  const found = useLoad(
    (signal) => (rows.length ? api.post(model("/search"), { rows, limit: 200 }, { signal }) : { rows: [] }),
    [numbers, sequence.value, labelsVersion.value],
  );
  useEffect(() => {
    heading.current?.focus({ preventScroll: false });
    setShowsAll(false);
    setOpen(null);
  }, [truth, predicted]);
  const columns = features.value.slice(0, CELLS);
  const at = new Map(rows.map((row, place) => [row, place]));
  const all = (found.value?.rows ?? []).toSorted((a, b) => at.get(a.row) - at.get(b.row));
  const shown = showsAll ? all : all.slice(0, FIRST);
  return html`<div class="cell-samples">
    <div class="cell-samples-head"><h3 tabindex="-1" ref=${heading}>${t("trust.cell_title", { truth, predicted, n })}</h3>
      <button type="button" class="quiet small" onClick=${onClose}>${t("common.close")}</button></div>
    <p class="muted small">${t(String(truth) === String(predicted) ? "trust.cell_right" : "trust.cell_wrong")} ${rows.length < n ? t("trust.cell_some", { n: rows.length }) : ""}</p>
    ${found.error && html`<${Problem} error=${found.error} again=${found.again} />`}
    ${!found.value ? !found.error && html`<${Loading} />` : html`<div class="scroll" tabindex="0" role="group" aria-label=${t("trust.cell_title", { truth, predicted, n })}><table>
      <thead><tr><th scope="col">${t("trust.row")}</th><th scope="col">${t("trust.label")}</th>
        <th scope="col"><span class="visually-hidden">${t("trust.correct")}</span></th>${columns.map(({ name }) => html`<th scope="col" key=${name}>${name}</th>`)}</tr></thead>
      <tbody>${shown.map((one) => html`<${Line} key=${one.row} one=${one} shown=${columns} isOpen=${open === one.row} onOpen=${() => setOpen(open === one.row ? null : one.row)} />`)}</tbody>
    </table></div>
    ${all.length > FIRST && html`<button type="button" class="quiet small" aria-expanded=${showsAll} onClick=${() => setShowsAll(!showsAll)}>
      ${t(showsAll ? "trust.show_first" : "trust.show_all", { n: showsAll ? FIRST : all.length })}</button>`}`}
  </div>`;
}
