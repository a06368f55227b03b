// Confusion matrix, whose cells open their samples.
import { html, useState } from "../../lib/ui.js";
import { number, percent } from "../../lib/format.js";
import { classIndex } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { ClassMark } from "../../parts/class_mark.js";
import { CellSamples } from "./cell_samples.js";

function Cell({ n, of, truth, predicted, isRight, isOpen, onOpen }) {
  const share = of ? n / of : 0;
  return html`<td class=${isRight ? "cell right" : "cell"} style=${{ "--share": `${Math.round(45 * share)}%` }}>
    <button type="button" aria-pressed=${isOpen} disabled=${n === 0} onClick=${onOpen}
      aria-label=${t("trust.cell_label", { truth, predicted, n, share: percent(share) })}>
      <strong class="number">${number(n)}</strong><span class="number small">${n ? percent(share) : ""}</span>
    </button>
  </td>`;
}

function Matrix({ confusion, open, onOpen }) {
  const { classes, counts } = confusion;
  return html`<div class="scroll" tabindex="0" role="group" aria-label=${t("trust.confusion")}><table class="confusion">
    <caption class="visually-hidden">${t("trust.confusion")}</caption>
    <thead>
      <tr><td></td><th scope="colgroup" colspan=${classes.length}><span>${t("trust.predicted_as")}</span></th><td></td></tr>
      <tr><th scope="col">${t("trust.labelled_as")}</th>
        ${classes.map((name) => html`<th scope="col" key=${String(name)}><${ClassMark} index=${classIndex(name)} name=${name} /></th>`)}
        <th scope="col" class="number">${t("trust.labels")}</th></tr>
    </thead>
    <tbody>${classes.map((truth, i) => {
      const of = counts[i].reduce((sum, n) => sum + n, 0);
      return html`<tr key=${String(truth)}><th scope="row"><${ClassMark} index=${classIndex(truth)} name=${truth} /></th>
        ${classes.map((predicted, j) => html`<${Cell} key=${String(predicted)} n=${counts[i][j]} of=${of} truth=${String(truth)} predicted=${String(predicted)}
          isRight=${i === j} isOpen=${open?.truth === i && open?.predicted === j} onOpen=${() => onOpen({ truth: i, predicted: j })} />`)}
        <td class="number">${number(of)}</td></tr>`;
    })}</tbody>
  </table></div>`;
}

export function ConfusionCard({ confusion, chosen }) {
  const [open, setOpen] = useState(null);
  const isThere = open !== null && open.truth < confusion.classes.length && open.predicted < confusion.classes.length;
  const toggle = (cell) => setOpen(open?.truth === cell.truth && open?.predicted === cell.predicted ? null : cell);
  return html`<section class="card" aria-labelledby="trust-confusion">
    <h2 id="trust-confusion">${t("trust.confusion")}</h2>
    <p class="muted small">${t("trust.confusion_text")} ${chosen > 0 ? t("trust.confusion_chosen") : ""}</p>
    <${Matrix} confusion=${confusion} open=${open} onOpen=${toggle} />
    <p class="muted small">${t("trust.confusion_legend")} ${confusion.without_row > 0 ? t("trust.without_row", { n: confusion.without_row }) : ""}</p>
    ${isThere && html`<${CellSamples} truth=${confusion.classes[open.truth]} predicted=${confusion.classes[open.predicted]}
      n=${confusion.counts[open.truth][open.predicted]} rows=${confusion.rows[open.truth][open.predicted]} onClose=${() => setOpen(null)} />`}
  </section>`;
}
