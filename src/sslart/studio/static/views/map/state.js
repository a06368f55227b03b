// State of map and table of the chosen model: axes, colour, filters, selection.
import { batch, computed, effect, signal } from "../../lib/ui.js";
import { api, model } from "../../lib/api.js";
import { cell } from "../../lib/format.js";
import { classIndex, fail, modelName, samples } from "../../lib/state.js";
import { keep, readKept } from "./kept.js";
import { indexOf, values } from "./values.js";

const MOST_NUMBERS = 100_000;

const chosenSettings = signal(null);
const chosenFilter = signal({});
/** { rows: [numbers], box: number or null, row: one of them or null } or null. */
export const selection = signal(null);

const START = { x: null, y: null, colour: "class", outlines: true, tool: "pan" };

effect(() => {
  const kept = readKept(modelName.value);
  batch(() => {
    chosenSettings.value = { ...START, ...kept.settings };
    chosenFilter.value = kept.filter;
    selection.value = null;
  });
});

export const features = computed(() => samples.value?.features ?? []);

const isFeature = (name) => features.value.some((one) => one.name === name);

/** `x` and `y` are names of features, or null: computed from the boxes, also where a feature is no longer there. */
export const settings = computed(() => {
  const { x, y, ...others } = chosenSettings.value;
  return isFeature(x) && isFeature(y) ? { x, y, ...others } : { x: null, y: null, ...others };
});

/** As POST search takes it: predicted, label, disagrees, novel, abstained, probability, text; without classes that are no longer there. */
export const filter = computed(() => {
  const chosen = chosenFilter.value;
  const isKnown = (name) => name === null || classIndex(name) >= 0;
  const gone = ["predicted", "label"].filter((part) => chosen[part]?.some((name) => !isKnown(name)));
  return gone.reduce((found, part) => withPart(found, part, chosen[part].filter(isKnown)), chosen);
});

effect(() => {
  void samples.value;
  const chosen = selection.peek();
  if (!chosen || chosen.box === null || !samples.value) return;
  boxOf(chosen.rows).then((box) => selection.peek() === chosen && (selection.value = { ...chosen, box }), fail);
});

/** One signal per setting, so that subscribers are not notified of changes of the others. */
export const [axisX, axisY, colour, outlines, tool] = ["x", "y", "colour", "outlines", "tool"].map((name) => computed(() => settings.value[name]));

const keepChoices = () => keep(modelName.value, chosenSettings.value, chosenFilter.value);

export function change(part) {
  chosenSettings.value = { ...settings.value, ...part };
  keepChoices();
}

/** Chooses a feature for an axis. Both axes are features, or both are computed from the boxes. */
export function chooseAxis(axis, name) {
  if (name === null) return change({ x: null, y: null });
  const other = axis === "x" ? "y" : "x";
  const second = settings.value[other] ?? features.value.find((one) => one.name !== name)?.name ?? name;
  return change({ [axis]: name, [other]: second });
}

/** Return a filter with one part changed; undefined or empty removes the part. */
function withPart(before, part, value) {
  const { [part]: _, ...others } = before;
  return value === undefined || value.length === 0 ? others : { ...others, [part]: value };
}

/** Set a part of the filter; undefined removes it. */
export function narrow(part) {
  chosenFilter.value = Object.entries(part).reduce((found, [name, value]) => withPart(found, name, value), filter.value);
  keepChoices();
}

export function showAllSamples() {
  chosenFilter.value = {};
  keepChoices();
}

export const isNarrowed = computed(() => Object.keys(filter.value).length > 0);

/** Format a cell: numbers without spurious digits of single precision. */
export function shownCell({ name, kind }, cells) {
  const value = cells[name];
  const isNumber = kind === "number" && value !== null && value !== undefined && value !== "" && Number.isFinite(Number(value));
  return isNumber ? String(Number(Number(value).toPrecision(7))) : cell(value, 60);
}

/** 1 for hidden samples; null if none is hidden. */
export async function hiddenMask(wanted) {
  if (!Object.keys(wanted).length) return null;
  const n = samples.value.n;
  const mask = new Uint8Array(n);
  const leaveOut = (out) => {
    for (let i = 0; i < n; i++) if (out(i)) mask[i] = 1;
  };
  const given = wanted.label || wanted.disagrees ? await values("label") : null;
  const guessed = wanted.predicted || wanted.disagrees || wanted.abstained ? await values("class") : null;
  if (wanted.predicted) {
    const allowed = new Set(wanted.predicted.map((name) => guessed.classes.findIndex((one) => String(one) === String(name))));
    leaveOut((i) => !allowed.has(guessed.data[i]));
  }
  if (wanted.label) {
    const allowed = new Set(
      wanted.label.map((name) => (name === null ? -1 : given.classes.findIndex((one) => String(one) === String(name)))),
    );
    leaveOut((i) => !allowed.has(given.data[i]));
  }
  if (wanted.disagrees) leaveOut((i) => given.data[i] < 0 || guessed.data[i] < 0 || nameAt(given, i) === nameAt(guessed, i));
  if (wanted.abstained) leaveOut((i) => guessed.data[i] >= 0);
  if (wanted.novel) {
    const { data } = await values("novel");
    leaveOut((i) => !data[i]);
  }
  if (wanted.probability) {
    const { data } = await values("probability");
    const [low, high] = wanted.probability;
    leaveOut((i) => !(data[i] >= low && data[i] <= high));
  }
  if (wanted.text) await leaveOutOthers(mask, { text: wanted.text });
  return mask;
}

const nameAt = (found, i) => found.classes[found.data[i]];

/** Filters that need the service, such as text in cells. */
async function leaveOutOthers(mask, wanted) {
  const [{ data: numbers }, found] = await Promise.all([
    values("row"),
    api.post(model("/search"), { ...wanted, numbers: true, limit: 1 }),
  ]);
  const matching = new Set(found.numbers);
  for (let i = 0; i < mask.length; i++) if (!matching.has(numbers[i])) mask[i] = 1;
}

/** Select all filtered samples, or report that there are too many. */
export async function selectMatching() {
  const found = await api.post(model("/search"), { ...filter.value, numbers: true, limit: 1 });
  if (found.total > MOST_NUMBERS) return { total: found.total, most: MOST_NUMBERS };
  selection.value = { rows: found.numbers, box: null, row: null };
  return { total: found.total };
}

/** The box with exactly these rows, or null: a fit changes boxes and their numbers. */
async function boxOf(rows) {
  const [{ data: boxes }, { data: numbers }] = await Promise.all([values("box"), values("row")]);
  const box = boxes[indexOf(numbers, rows[0])];
  const isWhole = rows.every((row) => boxes[indexOf(numbers, row)] === box) && boxes.filter((one) => one === box).length === rows.length;
  return isWhole ? box : null;
}

/** Selects all samples of a box; `row` is the one of them that was chosen, or null. */
export async function selectBox(box, row = null) {
  const [{ data: boxes }, { data: numbers }] = await Promise.all([values("box"), values("row")]);
  const rows = [];
  for (let i = 0; i < boxes.length; i++) if (boxes[i] === box) rows.push(numbers[i]);
  selection.value = { rows, box, row };
}
