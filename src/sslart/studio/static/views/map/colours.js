// Mapping from values to colours: codes of samples, colours of codes, and the legend.
import { classColour, classShape } from "../../parts/class_mark.js";
import { classIndex, classes, theme } from "../../lib/state.js";
import { packed, rampColour } from "../../map/ramp.js";
import { HIGHEST, LAST, LOWEST } from "../../map/raster.js";
import { values } from "./values.js";

export const NONE = 255;
const STEPS = 251;
const MOST_CLASSES = 250;

/** Colouring of each quantity: the `lowest` or `highest` value stays visible where samples overlap. */
export const COLOURS = {
  class: { quantity: "class" },
  label: { quantity: "label" },
  probability: { quantity: "probability", rule: LOWEST },
  novelty: { quantity: "novelty", rule: HIGHEST },
  disagreement: { quantity: "disagreement", rule: HIGHEST },
};

/** Indices, among the classes of the studio, of the class names that an array refers to. */
export const placesOf = (names) => names.map((name) => classIndex(name));

export const isRamp = (colour) => COLOURS[colour].rule !== undefined;

/** { codes, rule, counts }: a code per sample; for classes also how many samples (not hidden) each has. */
export async function codesOf(colour) {
  const { quantity, rule = LAST } = COLOURS[colour];
  const found = await values(quantity);
  const n = found.data.length;
  const codes = new Uint8Array(n);
  if (isRamp(colour)) {
    for (let i = 0; i < n; i++) {
      const value = found.data[i];
      codes[i] = value >= 0 ? Math.min(1, value) * (STEPS - 1) : NONE;
    }
    return { codes, rule };
  }
  const places = placesOf(found.classes);
  for (let i = 0; i < n; i++) {
    const index = found.data[i];
    codes[i] = index >= 0 && places[index] >= 0 ? places[index] % MOST_CLASSES : NONE;
  }
  return { codes, rule };
}

/** Number of visible samples of each code. */
export function countsOf(codes, hidden) {
  const counts = new Uint32Array(256);
  for (let i = 0; i < codes.length; i++) if (!hidden || !hidden[i]) counts[codes[i]]++;
  return counts;
}

const rgb = (hex) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));

/** Colours for the renderer: of codes, outlines, shapes and texts. */
export function lookOf(colour) {
  const dark = theme.value === "dark";
  const style = getComputedStyle(document.documentElement);
  const colours = new Uint32Array(256);
  const none = rgb(dark ? "#6b7280" : "#a3abb8");
  for (let code = 0; code < 256; code++) {
    const share = Math.min(1, code / (STEPS - 1));
    colours[code] = packed(isRamp(colour) ? rampColour(share, dark) : rgb(classColour(code)));
  }
  colours[NONE] = packed(none);
  const edge = style.getPropertyValue("--edge").trim();
  const outlines = Array.from({ length: 256 }, (_, code) => (code === NONE || isRamp(colour) ? edge : classColour(code)));
  const shapes = Array.from({ length: Math.max(1, classes.value.length) }, (_, at) => ({ path: classShape(at), box: 16 }));
  const [ink, paper] = ["--text", "--surface"].map((name) => style.getPropertyValue(name).trim());
  return [colours, { ink, paper, outlines, shapes, hollow: isRamp(colour) }];
}
