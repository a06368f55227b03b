// Mapping from feature values to positions on the map, 0 to 1, and tick labels.
import { measured } from "../../lib/format.js";
import { t } from "../../lib/texts.js";
import { ticksOf } from "../../lib/ticks.js";

const STRIP = 0.09; // of the axis, for samples without a value
const FEW = 30;
const DAY = 86_400_000;

/** A number from 0 to 1 that looks random and is the same for a sample each time. */
const scatter = (i, salt) => (Math.imul(i + 1, salt) >>> 0) / 2 ** 32;

function rangeOf(data) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of data) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}

/** The values, if they are few: samples are then scattered around each. */
function fewValues(data) {
  const found = new Set();
  for (const value of data) {
    if (Number.isNaN(value)) continue;
    found.add(value);
    if (found.size > FEW) return null;
  }
  return [...found].sort((a, b) => a - b);
}

const dateText = (days) => new Date(days * DAY).toISOString().slice(0, 10);

/** An axis: `place(i)` of sample i, `span(lo, hi)` of a box, `ticks(from, to, most)` for what is seen. */
export function axisOf(feature, data, salt) {
  const own = feature.kind === "category" ? categoryAxis(feature, data, salt) : numberAxis(feature, data, salt);
  return data.some(Number.isNaN) ? besideMissing(own, data, salt) : own;
}

/** Samples without a value get a strip of their own at the low end. */
function besideMissing(own, data, salt) {
  const moved = (at) => STRIP + (1 - STRIP) * at;
  const back = (at) => (at - STRIP) / (1 - STRIP);
  return {
    place: (i) => (Number.isNaN(data[i]) ? 0.4 * STRIP * scatter(i, salt) : moved(own.place(i))),
    span: (low, high) => own.span(low, high).map(moved),
    ticks: (from, to, most) => [
      { at: 0.2 * STRIP, text: t("common.missing") },
      ...own.ticks(back(from), back(to), most).map((one) => ({ ...one, at: moved(one.at) })),
    ],
  };
}

function categoryAxis(feature, data, salt) {
  const names = feature.categories ?? [];
  const n = Math.max(1, names.length);
  return {
    place: (i) => (data[i] + 0.15 + 0.7 * scatter(i, salt)) / n,
    span: (low, high) => [(low + 0.1) / n, (high + 0.9) / n],
    ticks(from, to, most) {
      const every = Math.max(1, Math.ceil(((to - from) * n) / most));
      return names.map((name, at) => ({ at: (at + 0.5) / n, text: short(name) })).filter((_, at) => at % every === 0);
    },
  };
}

function numberAxis(feature, data, salt) {
  const few = fewValues(data);
  const [low, high] = few?.length ? [few[0] - 0.5 * gapOf(few), few.at(-1) + 0.5 * gapOf(few)] : rangeOf(data);
  const width = high - low || 1;
  const spread = few?.length ? 0.7 * gapOf(few) : 0;
  const write = feature.kind === "date" ? dateText : measured;
  return {
    place: (i) => (data[i] - low + spread * (scatter(i, salt) - 0.5)) / width,
    span: (from, to) => [(from - 0.55 * spread - low) / width, (to + 0.55 * spread - low) / width],
    ticks(from, to, most) {
      const [first, last] = [Math.max(low, low + from * width), Math.min(high, low + to * width)];
      const values = few && few.length <= most ? few : last > first ? ticksOf(first, last, most) : [];
      return values.map((value) => ({ at: (value - low) / width, text: write(value) }));
    },
  };
}

function gapOf(few) {
  let gap = Infinity;
  for (let i = 1; i < few.length; i++) gap = Math.min(gap, few[i] - few[i - 1]);
  return Number.isFinite(gap) ? gap : 1;
}

const short = (name) => (String(name).length > 16 ? `${String(name).slice(0, 15)}…` : String(name));

export const SALTS = [2654435761, 2246822519];
