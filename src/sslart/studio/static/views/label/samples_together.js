// Samples that may get one answer, side by side; features that differ most come first.
import { html } from "../../lib/ui.js";
import { link } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { features, shownCell } from "../map/state.js";

/** Return how much samples differ in a feature: the share of its range they span, or the share of other categories. */
function spread(feature, rows) {
  const values = rows.map(({ cells }) => cells[feature.name] ?? "");
  const n = new Set(values.map(String)).size;
  const numbers = values.filter((one) => one !== "").map(Number);
  if (n === 1) return 0;
  if (feature.kind !== "number" || !(feature.high > feature.low) || numbers.length < values.length) return n / values.length;
  return (Math.max(...numbers) - Math.min(...numbers)) / (feature.high - feature.low);
}

export function SamplesTogether({ question }) {
  const { kind, row, samples: lines } = question;
  const title = kind === "box" ? t("label.box_samples", { n: lines.length }) : t("label.alike_samples", { n: lines.length - 1 });
  const ranked = features.value.map((one) => [one, spread(one, lines)]).sort((a, b) => b[1] - a[1]);
  return html`<div class="samples-together">
    <h3>${title}</h3>
    <div class="scroll" tabindex="0" role="region" aria-label=${title}><table>
      <thead><tr><th scope="col">${t("map.row_number")}</th>
        ${ranked.map(([{ name }, differ]) => html`<th scope="col" key=${name} class=${differ ? "" : "muted"}>${name}</th>`)}</tr></thead>
      <tbody>${lines.map((one) => html`<tr key=${one.row} aria-current=${one.row === row ? "true" : undefined}>
        <th scope="row"><a href=${link("understand", `sample/${one.row}`)} aria-label=${t("map.open", { row: String(one.row) })}>${one.row}</a></th>
        ${ranked.map(([feature, differ]) => html`<td key=${feature.name} class=${differ ? "" : "muted"}>${shownCell(feature, one.cells)}</td>`)}
      </tr>`)}</tbody>
    </table></div>
  </div>`;
}
