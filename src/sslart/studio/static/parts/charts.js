// Small charts as SVG, each with its meaning in words.
import { html, useId } from "../lib/ui.js";
import { interval, number, percent } from "../lib/format.js";
import { t } from "../lib/texts.js";
import { ticksOf } from "../lib/ticks.js";

/** A value from 0 to 1 as a bar with its 95 % interval; `label` is said before it. */
export function IntervalBar({ value, low, high, label, target = null, colour = "var(--accent)" }) {
  const words = `${label ? `${label}: ` : ""}${interval({ value, low, high })}`;
  return html`<svg class="interval-bar" viewBox="0 0 100 12" preserveAspectRatio="none" role="img" aria-label=${words}>
    <rect x="0" y="4" width="100" height="4" fill="var(--track)" />
    <rect x="0" y="4" width=${100 * value} height="4" fill=${colour} />
    <rect class="band" x=${100 * low} y="1" width=${Math.max(0.6, 100 * (high - low))} height="10" fill=${colour} />
    <rect x=${100 * value - 0.4} y="0" width="0.8" height="12" fill="var(--text)" />
    ${target !== null && html`<rect x=${100 * target - 0.3} y="0" width="0.6" height="12" fill="var(--warn)" />`}
  </svg>`;
}

/** Counts as bars; `words` tells what they are. */
export function Histogram({ counts, words, height = 28 }) {
  const most = Math.max(1, ...counts);
  const width = 100 / Math.max(1, counts.length);
  return html`<svg class="histogram" viewBox="0 0 100 ${height}" preserveAspectRatio="none" role="img" aria-label=${words}>
    ${counts.map((n, at) => {
      const tall = n === 0 ? 0 : Math.max(1, (height - 1) * (n / most));
      return html`<rect key=${at} x=${at * width + 0.3} y=${height - tall} width=${Math.max(0.4, width - 0.6)} height=${tall} fill="var(--bar)" />`;
    })}
    <rect x="0" y=${height - 0.5} width="100" height="0.5" fill="var(--line)" />
  </svg>`;
}

/**
 * A line with a band, from [{ x, y, low, high }]. `yRange` is [low, high]; `target` a line across.
 * `words` is the text for those who do not see it; `format` writes values of y.
 */
export function LineChart({ points, words, xLabel, yRange = null, target = null, width = 320, height = 140, format = percent }) {
  const clip = useId();
  const left = 44, right = 10, top = 8, bottom = 30;
  const xs = points.map((one) => one.x);
  const [x0, x1] = [Math.min(...xs), Math.max(...xs)];
  const [y0, y1] = yRange ?? [Math.min(...points.map((one) => one.low ?? one.y)), Math.max(...points.map((one) => one.high ?? one.y))];
  const px = (x) => left + ((x - x0) / (x1 - x0 || 1)) * (width - left - right);
  const py = (y) => top + (1 - (y - y0) / (y1 - y0 || 1)) * (height - top - bottom);
  const path = (of) => points.map((one, at) => `${at ? "L" : "M"}${px(one.x).toFixed(1)} ${py(of(one)).toFixed(1)}`).join("");
  const banded = points.filter((one) => one.low !== undefined && one.low !== null);
  const band = banded.length > 1
    ? `${banded.map((one, at) => `${at ? "L" : "M"}${px(one.x).toFixed(1)} ${py(one.high).toFixed(1)}`).join("")}${[...banded].reverse().map((one) => `L${px(one.x).toFixed(1)} ${py(one.low).toFixed(1)}`).join("")}Z`
    : null;
  const end = points.at(-1);
  const areWhole = xs.every(Number.isInteger);
  const xTicks = x1 > x0 ? ticksOf(x0, x1, 5).filter((x) => !areWhole || Number.isInteger(x)) : [x0];
  return html`<svg class="chart" viewBox="0 0 ${width} ${height}" role="img" aria-label=${words}>
    <clipPath id=${clip}><rect x=${left - 4} y=${top - 4} width=${width - left - right + 8} height=${height - top - bottom + 8} /></clipPath>
    ${ticksOf(y0, y1, 4).map((y) => html`<g key=${`y${y}`}>
      <line x1=${left} x2=${width - right} y1=${py(y)} y2=${py(y)} class="grid" />
      <text x=${left - 6} y=${py(y) + 4} text-anchor="end">${format(y)}</text>
    </g>`)}
    ${xTicks.map((x) => html`<text key=${`x${x}`} x=${px(x)} y=${height - bottom + 14} text-anchor="middle">${number(x)}</text>`)}
    ${xLabel && html`<text x=${(left + width - right) / 2} y=${height - 3} text-anchor="middle" class="axis-name">${xLabel}</text>`}
    <g clip-path="url(#${clip})">
      ${band && html`<path d=${band} class="band" />`}
      ${target !== null && html`<line x1=${left} x2=${width - right} y1=${py(target)} y2=${py(target)} class="target" />`}
      <path d=${path((one) => one.y)} class="line" />
    </g>
    <circle cx=${px(end.x)} cy=${py(end.y)} r="3" class="dot" />
  </svg>`;
}

/** A share from 0 to 1 as a plain bar with the number beside it. */
export function ShareBar({ value, text, label }) {
  return html`<span class="share">
    <svg class="share-bar" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label=${label ?? t("charts.share", { share: percent(value) })}>
      <rect width="100" height="8" fill="var(--track)" /><rect width=${100 * value} height="8" fill="var(--accent)" />
    </svg>
    <span class="number">${text ?? percent(value)}</span>
  </span>`;
}
