// Distinctive features: those that differ most from all samples, estimated on random subsets.
import { api, model } from "../../lib/api.js";
import { measured, percent } from "../../lib/format.js";
import { t } from "../../lib/texts.js";
import { features } from "./state.js";
import { values } from "./values.js";

const DRAWN = 400;
const SHOWN = 5;
const LEAST = 0.35; // a difference in standard deviations, or four times one of shares, that is worth a line

/** Some of the values, evenly spread. */
export function some(all, most) {
  if (all.length <= most) return [...all];
  return Array.from({ length: most }, (_, at) => all[Math.floor((at * all.length) / most)]);
}

async function cellsOf(rows) {
  const drawn = some(rows, DRAWN);
  const found = await api.post(model("/search"), { rows: drawn, limit: DRAWN });
  return found.rows.map((one) => one.cells);
}

const ofAll = new WeakMap(); // cells of samples drawn from all, by the array of their numbers

function cellsOfAll(numbers) {
  if (!ofAll.has(numbers)) ofAll.set(numbers, cellsOf(numbers));
  return ofAll.get(numbers).catch((error) => {
    ofAll.delete(numbers);
    throw error;
  });
}

/** [{ feature, text }], the most distinctive feature first. */
export async function specialOf(rows) {
  const { data: all } = await values("row");
  const [here, everywhere] = await Promise.all([cellsOf(rows), cellsOfAll(all)]);
  const found = features.value.map((feature) =>
    feature.kind === "category" ? byCategory(feature.name, here, everywhere)
      : feature.kind === "number" ? byNumber(feature.name, here, everywhere) : null);
  return found.filter((one) => one && one.size >= LEAST).sort((a, b) => b.size - a.size).slice(0, SHOWN);
}

function byNumber(name, here, everywhere) {
  const numbers = (cells) => cells.map((one) => one[name]).filter((one) => one !== null && one !== undefined && one !== "").map(Number).filter(Number.isFinite);
  const [own, all] = [numbers(here), numbers(everywhere)];
  if (!own.length || all.length < 2) return null;
  const [mean, meanOfAll] = [average(own), average(all)];
  const spread = Math.sqrt(average(all.map((one) => (one - meanOfAll) ** 2)));
  if (!spread) return null;
  const size = Math.abs(mean - meanOfAll) / spread;
  const key = `${mean > meanOfAll ? "higher" : "lower"}${here.length === 1 ? "_one" : ""}`;
  const text = t(`map.${key}`, { feature: name, here: measured(mean), all: measured(meanOfAll) });
  return { feature: name, size, text };
}

function byCategory(name, here, everywhere) {
  const [own, all] = [shares(here, name), shares(everywhere, name)];
  let best = null;
  for (const [category, share] of own) {
    const gain = share - (all.get(category) ?? 0);
    if (!best || gain > best.gain) best = { category, share, gain };
  }
  if (!best) return null;
  const text = t(here.length === 1 ? "map.often_one" : "map.often", { feature: name, value: best.category, here: percent(best.share), all: percent(best.share - best.gain) });
  return { feature: name, size: 4 * best.gain, text };
}

function shares(cells, name) {
  const counts = new Map();
  for (const one of cells) {
    const value = one[name] ?? "";
    counts.set(String(value), (counts.get(String(value)) ?? 0) + 1 / cells.length);
  }
  return counts;
}

const average = (numbers) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
