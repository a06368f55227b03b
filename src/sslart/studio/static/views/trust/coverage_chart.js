// Error rate by coverage.
import { html, useId } from "../../lib/ui.js";
import { number, percent } from "../../lib/format.js";
import { t } from "../../lib/texts.js";
import { useWidth } from "../../lib/width.js";
import { Axes, placesOf } from "./axes.js";

const MOST_WIDTH = 720;
const HEIGHT = 270;
const ENOUGH = 0.2; // of the samples: where fewer are answered the interval is too wide to choose the scale by

function most(points, limit) {
  const highest = Math.max(0.05, 1.2 * (limit ?? 0), ...points.map((one) => one.error), ...points.filter((one) => one.coverage >= ENOUGH).map((one) => one.high));
  return Math.min(1, Math.ceil(20 * highest) / 20);
}

/** `chosen` is { max_error, coverage } that is looked at, or null. */
export function CoverageChart({ points, chosen }) {
  const clip = useId();
  const [frame, width] = useWidth(MOST_WIDTH);
  const yMost = most(points, chosen?.max_error);
  const { px, py } = placesOf({ width, height: HEIGHT, yMost });
  const at = (one, value) => `${px(one.coverage).toFixed(1)} ${py(value).toFixed(1)}`;
  const line = points.map((one, i) => `${i ? "L" : "M"}${at(one, one.error)}`).join("");
  const band = `M${points.map((one) => at(one, one.high)).join("L")}L${[...points].reverse().map((one) => at(one, one.low)).join("L")}Z`;
  const end = points.at(-1);
  const words = t("trust.coverage_words", { error: percent(end.error), first: percent(points[0].error), coverage: percent(points[0].coverage) });
  return html`<div class="trust-chart" ref=${frame}><svg class="chart" viewBox="0 0 ${width} ${HEIGHT}" width=${width} height=${HEIGHT} role="img" aria-label=${`${words} ${t("trust.in_table")}`}>
    <clipPath id=${clip}><rect x=${px(0)} y=${py(yMost)} width=${px(1) - px(0)} height=${py(0) - py(yMost) + 2} /></clipPath>
    <${Axes} width=${width} height=${HEIGHT} yMost=${yMost} xName=${t("trust.coverage_axis")} yName=${t("trust.error_axis")} />
    <g clip-path="url(#${clip})"><path class="band" d=${band} /><path class="line" d=${line} /></g>
    <circle class="dot" cx=${px(end.coverage)} cy=${py(end.error)} r="3.5" />
    ${chosen && html`<g class="chosen">
      <line x1=${px(0)} x2=${px(1)} y1=${py(chosen.max_error)} y2=${py(chosen.max_error)} />
      <line x1=${px(chosen.coverage)} x2=${px(chosen.coverage)} y1=${py(chosen.max_error)} y2=${py(0)} />
      <path transform=${`translate(${px(chosen.coverage)} ${py(chosen.max_error)})`} d="M0 -6L6 0L0 6L-6 0Z" />
      <text x=${px(0) + 6} y=${py(chosen.max_error) - 5}>${t("trust.limit_mark", { share: percent(chosen.max_error) })}</text>
    </g>`}
  </svg></div>`;
}

export function CoverageTable({ points }) {
  return html`<details class="as-table"><summary>${t("trust.as_table")}</summary><div class="scroll as-table-long" tabindex="0" role="group" aria-label=${t("trust.promise")}><table>
    <caption class="visually-hidden">${t("trust.promise")}</caption>
    <thead><tr><th scope="col" class="number">${t("trust.answered")}</th><th scope="col" class="number">${t("trust.wrong")}</th>
      <th scope="col" class="number">${t("trust.interval_column")}</th><th scope="col" class="number">${t("trust.least_confidence")}</th></tr></thead>
    <tbody>${points.map((one) => html`<tr key=${one.coverage}>
      <td class="number">${percent(one.coverage)}</td><td class="number">${percent(one.error, 1)}</td>
      <td class="number">${t("trust.from_to", { low: percent(one.low, 1), high: percent(one.high, 1) })}</td><td class="number">${number(Number(one.threshold.toFixed(3)))}</td>
    </tr>`)}</tbody>
  </table></div></details>`;
}
