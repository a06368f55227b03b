// The mark of a class: a colour and a shape, so that colour is never the only sign.
import { html } from "../lib/ui.js";

/** Twelve colours with a contrast of at least 3:1 on light and dark, told apart also by the colour-blind with the shapes. */
export const CLASS_COLOURS = [
  "#0f73bd", "#d55e00", "#0b8f68", "#b94f93", "#957500", "#7b5bd6",
  "#2596a8", "#cf3d4f", "#6b8e23", "#9a6a46", "#7a828e", "#c2608a",
];

/** Paths in a square of 16: for SVG, and for a canvas as `new Path2D(shape)`. */
export const CLASS_SHAPES = [
  "M8 2a6 6 0 1 1 0 12a6 6 0 1 1 0-12z",
  "M2.5 2.5h11v11h-11z",
  "M8 1.5L15 14H1z",
  "M8 .8L15.2 8L8 15.2L.8 8z",
  "M1 2h14L8 14.5z",
  "M6 1.5h4V6h4.5v4H10v4.5H6V10H1.5V6H6z",
  "M3.6 1.2L8 5.6l4.4-4.4l2.4 2.4L10.4 8l4.4 4.4l-2.4 2.4L8 10.4l-4.4 4.4l-2.4-2.4L5.6 8L1.2 3.6z",
  "M8 .8l2.1 4.9l5.3.4l-4 3.5l1.2 5.2L8 12l-4.6 2.8l1.2-5.2l-4-3.5l5.3-.4z",
  "M4.5 2h7L15 8l-3.5 6h-7L1 8z",
  "M8 1l7 5.1L12.3 14.5H3.7L1 6.1z",
  "M1 5h14v6H1z",
  "M5 1h6v14H5z",
];

const N = CLASS_COLOURS.length;

export function classColour(index) {
  return index < 0 ? "#7a828e" : CLASS_COLOURS[index % N];
}

/** The shape of a class; the thirteenth class has the first colour with the second shape. */
export function classShape(index) {
  return CLASS_SHAPES[(index + Math.floor(index / N)) % N];
}

/** The mark and the name of a class; without a name only the mark, which is then not read out. */
export function ClassMark({ index, name, size = 12 }) {
  const text = name === undefined || name === null ? null : String(name);
  return html`<span class="class-mark">
    <svg width=${size} height=${size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      ${index < 0
        ? html`<circle cx="8" cy="8" r="5.5" fill="none" stroke="currentColor" stroke-width="1.5" stroke-dasharray="2.5 2" />`
        : html`<path d=${classShape(index)} fill=${classColour(index)} />`}
    </svg>
    ${text !== null && html`<span class="class-name" title=${text.length > 12 ? text : undefined}>${text}</span>`}
  </span>`;
}
