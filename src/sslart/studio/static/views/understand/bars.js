// Bar chart of contributions: negative to the left, positive to the right.
import { html } from "../../lib/ui.js";

export const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;

export function DivergingBar({ value, most, colour }) {
  const width = 50 * Math.min(1, Math.abs(value) / most);
  return html`<span class="diverging">
    <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect width="100" height="10" fill="var(--track)" opacity="0.5" />
      <rect x=${value < 0 ? 50 - width : 50} y="1" width=${width} height="8" fill=${value < 0 ? "var(--bar)" : colour} />
      <rect x="49.7" width="0.6" height="10" fill="var(--text)" />
    </svg>
    <span class="number">${signed(value)}</span>
  </span>`;
}
