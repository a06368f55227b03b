// Charts of contributions by value: points with their mean, or bars of categories.
import { html } from "../../lib/ui.js";
import { cell, measured, number } from "../../lib/format.js";
import { t } from "../../lib/texts.js";
import { ticksOf } from "../../lib/ticks.js";
import { useWidth } from "../../lib/width.js";
import { classColour, classShape } from "../../parts/class_mark.js";
import { DivergingBar } from "./bars.js";

const [WIDEST, HEIGHT] = [860, 300];
const EDGE = { left: 56, right: 14, top: 28, bottom: 46 };
const LONG = 60; // characters of a name
const DAY = 86_400_000;
const STEPS = [1, 2, 2.5, 5, 10];

const days = (text) => Date.parse(`${text.slice(0, 10)}T00:00:00Z`) / DAY;
const dateText = (value) => new Date(value * DAY).toISOString().slice(0, 10);

export function CurveChart({ curve, points, isDate, words, index, feature, name }) {
  const [frame, width] = useWidth(WIDEST);
  const xOf = isDate ? (one) => days(one.x) : (one) => one.x;
  const xs = [...points, ...curve].map(xOf);
  const ys = [...points, ...curve].map((one) => one.y);
  const [x0, x1] = [Math.min(...xs), Math.max(...xs)];
  const [y0, y1] = [Math.min(0, ...ys), Math.max(0, ...ys)];
  const px = (x) => EDGE.left + ((x - x0) / (x1 - x0 || 1)) * (width - EDGE.left - EDGE.right);
  const py = (y) => EDGE.top + (1 - (y - y0) / (y1 - y0 || 1)) * (HEIGHT - EDGE.top - EDGE.bottom);
  const line = curve.map((one, at) => `${at ? "L" : "M"}${px(xOf(one)).toFixed(1)} ${py(one.y).toFixed(1)}`).join("");
  const colour = classColour(index);
  return html`<div ref=${frame}><svg class="chart dependence" width=${width} height=${HEIGHT} viewBox="0 0 ${width} ${HEIGHT}" role="img" aria-label=${words}>
    ${ticksOf(y0, y1, 5, STEPS).map((y) => html`<g key=${`y${y}`}>
      <line class="grid" x1=${EDGE.left} x2=${width - EDGE.right} y1=${py(y)} y2=${py(y)} />
      <text x=${EDGE.left - 6} y=${py(y) + 4} text-anchor="end">${number(y)}</text></g>`)}
    <line class="zero" x1=${EDGE.left} x2=${width - EDGE.right} y1=${py(0)} y2=${py(0)} />
    ${ticksOf(x0, x1, width / (isDate ? 130 : 80), STEPS).map((x) => html`<text key=${`x${x}`} x=${px(x)} y=${HEIGHT - EDGE.bottom + 16} text-anchor="middle">${isDate ? dateText(x) : measured(x)}</text>`)}
    <text class="axis-name" x=${(EDGE.left + width - EDGE.right) / 2} y=${HEIGHT - 8} text-anchor="middle">${cell(feature, LONG)}</text>
    <g fill=${colour} opacity="0.35">${points.map((one, at) => html`<circle key=${at} cx=${px(xOf(one))} cy=${py(one.y)} r="2.2" />`)}</g>
    <path d=${line} fill="none" stroke=${colour} stroke-width="2.5" stroke-linejoin="round" />
    <g transform="translate(${EDGE.left} 4)"><path d=${classShape(Math.max(0, index))} fill=${colour} transform="scale(0.8)" />
      <text x="17" y="10">${t("understand.towards", { class: cell(name, LONG / 2) })}</text></g>
  </svg></div>`;
}

export function CategoryChart({ curve, words, index, name }) {
  const most = Math.max(1e-9, ...curve.map((one) => Math.abs(one.y)));
  return html`<div class="scroll" tabindex="0" role="group" aria-labelledby="dependence-title"><table class="bars" aria-label=${words}>
    <thead><tr><th scope="col">${t("understand.category")}</th><th scope="col">${t("understand.adds", { class: name })}</th><th scope="col" class="number">${t("understand.samples")}</th></tr></thead>
    <tbody>${curve.map((one) => html`<tr key=${String(one.x)}>
      <th scope="row">${cell(String(one.x), LONG)}</th><td><${DivergingBar} value=${one.y} most=${most} colour=${classColour(index)} /></td><td class="number">${number(one.n)}</td>
    </tr>`)}</tbody>
  </table></div>`;
}
