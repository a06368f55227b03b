// Bar chart of contributions: negative to the left, positive to the right.
import { html } from "../../lib/ui.js";

export const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;

/** Bar of a value; `halfWidth`: of its interval, or null. The bar is pale where the interval includes 0. */
export function DivergingBar({ value, most, colour, halfWidth = null }) {
  const width = 50 * Math.min(1, Math.abs(value) / most);
  const isOpen = halfWidth !== null && halfWidth >= Math.abs(value);
  const at = (one) => 50 + 50 * Math.max(-1, Math.min(1, one / most));
  return html`<span class="diverging">
    <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect width="100" height="10" fill="var(--track)" opacity="0.5" />
      <rect x=${value < 0 ? 50 - width : 50} y="1" width=${width} height="8" fill=${value < 0 ? "var(--bar)" : colour} opacity=${isOpen ? 0.4 : 1} />
      ${halfWidth !== null && html`<rect x=${at(value - halfWidth)} y="4.5" width=${at(value + halfWidth) - at(value - halfWidth)} height="1" fill="var(--text)" opacity="0.6" />`}
      <rect x="49.7" width="0.6" height="10" fill="var(--text)" />
    </svg>
    <span class="number">${signed(value)}${halfWidth !== null && html` <span class="muted">± ${halfWidth.toFixed(3)}</span>`}</span>
  </span>`;
}
