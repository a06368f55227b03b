// The frame of a chart of shares: both axes in per cent.
import { html } from "../../lib/ui.js";
import { percent } from "../../lib/format.js";

export const EDGE = { left: 58, right: 26, top: 12, bottom: 42 };

/** Where shares up to `xMost` and `yMost` are in a chart of a width and a height. */
export function placesOf({ width, height, xMost = 1, yMost = 1 }) {
  return {
    px: (x) => EDGE.left + (x / xMost) * (width - EDGE.left - EDGE.right),
    py: (y) => EDGE.top + (1 - y / yMost) * (height - EDGE.top - EDGE.bottom),
  };
}

function ticksOf(most, n) {
  const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.25].find((one) => most / one <= n) ?? 0.25;
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, at) => at * step);
}

export function Axes({ width, height, xMost = 1, yMost = 1, xName, yName }) {
  const { px, py } = placesOf({ width, height, xMost, yMost });
  const middle = (EDGE.top + height - EDGE.bottom) / 2;
  return html`<g>
    ${ticksOf(yMost, 5).map((y) => html`<g key=${`y${y}`}>
      <line class="grid" x1=${EDGE.left} x2=${width - EDGE.right} y1=${py(y)} y2=${py(y)} />
      <text x=${EDGE.left - 6} y=${py(y) + 4} text-anchor="end">${percent(y)}</text></g>`)}
    ${ticksOf(xMost, 5).map((x) => html`<g key=${`x${x}`}>
      <line class="grid" x1=${px(x)} x2=${px(x)} y1=${EDGE.top} y2=${height - EDGE.bottom} />
      <text x=${px(x)} y=${height - EDGE.bottom + 16} text-anchor="middle">${percent(x)}</text></g>`)}
    <text class="axis-name" x=${(EDGE.left + width - EDGE.right) / 2} y=${height - 6} text-anchor="middle">${xName}</text>
    <text class="axis-name" transform=${`translate(11 ${middle}) rotate(-90)`} text-anchor="middle">${yName}</text>
  </g>`;
}
