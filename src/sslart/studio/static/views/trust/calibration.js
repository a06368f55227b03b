// Calibration curve with its table.
import { html } from "../../lib/ui.js";
import { number, percent } from "../../lib/format.js";
import { t } from "../../lib/texts.js";
import { useWidth } from "../../lib/width.js";
import { Axes, placesOf } from "./axes.js";

const MOST_WIDTH = 460;

/** Whether the confidence lies within the interval of what was observed. */
function resultOf({ predicted, obs_low: low, obs_high: high }) {
  if (predicted > high) return "too_sure";
  return predicted < low ? "too_unsure" : "fits";
}

function Chart({ bins, words }) {
  const [frame, width] = useWidth(MOST_WIDTH);
  const height = Math.round(0.8 * width);
  const { px, py } = placesOf({ width, height });
  return html`<div class="trust-chart" ref=${frame}><svg class="chart" viewBox="0 0 ${width} ${height}" width=${width} height=${height} role="img" aria-label=${words}>
    <${Axes} width=${width} height=${height} xName=${t("trust.predicted_axis")} yName=${t("trust.observed_axis")} />
    <line class="diagonal" x1=${px(0)} y1=${py(0)} x2=${px(1)} y2=${py(1)} />
    ${bins.map((one) => {
      const [x, isOff] = [px(one.predicted), resultOf(one) !== "fits"];
      return html`<g key=${one.low} class=${isOff ? "bin off" : "bin"}>
        <line class="whisker" x1=${x} x2=${x} y1=${py(one.obs_low)} y2=${py(one.obs_high)} />
        <line class="whisker" x1=${x - 4} x2=${x + 4} y1=${py(one.obs_low)} y2=${py(one.obs_low)} />
        <line class="whisker" x1=${x - 4} x2=${x + 4} y1=${py(one.obs_high)} y2=${py(one.obs_high)} />
        ${isOff
          ? html`<rect x=${x - 5} y=${py(one.observed) - 5} width="10" height="10" />`
          : html`<circle cx=${x} cy=${py(one.observed)} r="4.5" />`}
      </g>`;
    })}
  </svg></div>`;
}

function Bins({ bins }) {
  return html`<details class="as-table"><summary>${t("trust.as_table")}</summary><div class="scroll" tabindex="0" role="group" aria-labelledby="trust-calibration"><table>
    <caption class="visually-hidden">${t("trust.calibration")}</caption>
    <thead><tr><th scope="col">${t("trust.confidence")}</th><th scope="col" class="number">${t("trust.labels")}</th>
      <th scope="col" class="number">${t("trust.mean_confidence")}</th><th scope="col" class="number">${t("trust.right")}</th>
      <th scope="col" class="number">${t("trust.interval_column")}</th><th scope="col">${t("trust.result")}</th></tr></thead>
    <tbody>${bins.map((one) => html`<tr key=${one.low}>
      <th scope="row" class="number">${t("trust.from_to", { low: percent(one.low), high: percent(one.high) })}</th>
      <td class="number">${number(one.n)}</td><td class="number">${percent(one.predicted)}</td><td class="number">${percent(one.observed)}</td>
      <td class="number">${t("trust.from_to", { low: percent(one.obs_low), high: percent(one.obs_high) })}</td>
      <td>${t(`trust.results.${resultOf(one)}`)}</td>
    </tr>`)}</tbody>
  </table></div></details>`;
}

export function CalibrationCard({ calibration }) {
  const { bins, error } = calibration;
  const off = bins.filter((one) => resultOf(one) !== "fits");
  const words = t("trust.calibration_words", { points: number(Math.round(1000 * error) / 10) });
  const clear = off.length
    ? t(`trust.calibration_off.${off.every((one) => resultOf(one) === "too_sure") ? "sure" : off.every((one) => resultOf(one) === "too_unsure") ? "unsure" : "both"}`)
    : t("trust.calibration_fits");
  return html`<section class="card" aria-labelledby="trust-calibration">
    <h2 id="trust-calibration">${t("trust.calibration")}</h2>
    <p class="muted small">${t("trust.calibration_text")}</p>
    <${Chart} bins=${bins} words=${`${words} ${clear} ${t("trust.in_table")}`} />
    <p class="small">${words} ${clear}</p>
    <${Bins} bins=${bins} />
  </section>`;
}
