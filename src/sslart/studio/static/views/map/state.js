// What the map and its table show of the chosen model: axes, colour, filters, and the selection.
import { computed, effect, signal } from "../../lib/ui.js";
import { api, model } from "../../lib/api.js";
import { cell } from "../../lib/format.js";
import { classIndex, fail, modelName, samples } from "../../lib/state.js";
import { indexOf, values } from "./values.js";

const MOST_NUMBERS = 100_000;

/** `x` and `y` are names of features, or null: computed from the boxes. */
export const settings = signal(null);
/** As POST search takes it: predicted, label, disagrees, novel, abstained, probability, text. */
export const filter = signal({});
/** { rows: [numbers], box: number or null, row: one of them or null } or null. */
export const selection = signal(null);

const START = { x: null, y: null, colour: "class", outlines: true, tool: "pan" };

effect(() => {
  modelName.value;
  settings.value = START;
  filter.value = {};
  selection.value = null;
});

effect(() => {
  samples.value;
  const chosen = selection.peek();
  if (!chosen || chosen.box === null || !samples.value) return;
  boxOf(chosen.rows).then((box) => selection.peek() === chosen && (selection.value = { ...chosen, box }), fail);
});

/** Each setting by itself, so that what follows one is not told of changes of the others. */
export const [axisX, axisY, colour, outlines, tool] = ["x", "y", "colour", "outlines", "tool"].map((name) => computed(() => settings.value[name]));

export const change = (part) => (settings.value = { ...settings.value, ...part });

/** Chooses a feature for an axis. Both axes are features, or both are computed from the boxes. */
export function chooseAxis(axis, name) {
  if (name === null) return change({ x: null, y: null });
  const other = axis === "x" ? "y" : "x";
  const second = settings.value[other] ?? features.value.find((one) => one.name !== name)?.name ?? name;
  return change({ [axis]: name, [other]: second });
}

/** Sets a part of the filter; undefined takes it away. */
export function narrow(part) {
  const next = { ...filter.value, ...part };
  for (const key of Object.keys(next)) if (next[key] === undefined) delete next[key];
  filter.value = next;
}

export const isNarrowed = computed(() => Object.keys(filter.value).length > 0);

export const features = computed(() => samples.value?.features ?? []);

/** A cell as it is shown: numbers without the digits that single precision adds. */
export function shownCell({ name, kind }, cells) {
  const value = cells[name];
  const isNumber = kind === "number" && value !== null && value !== undefined && value !== "" && Number.isFinite(Number(value));
  return isNumber ? String(Number(Number(value).toPrecision(7))) : cell(value, 60);
}

/** Places among the classes of the studio of the class names that an array refers to. */
export const placesOf = (names) => names.map((name) => classIndex(name));

/** 1 where the filter leaves a sample out; null where it leaves out none. */
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

/** What only the service can tell, such as texts in cells. */
async function leaveOutOthers(mask, wanted) {
  const [{ data: numbers }, found] = await Promise.all([
    values("row"),
    api.post(model("/search"), { ...wanted, numbers: true, limit: 1 }),
  ]);
  const matching = new Set(found.numbers);
  for (let i = 0; i < mask.length; i++) if (!matching.has(numbers[i])) mask[i] = 1;
}

/** Selects all samples that the filter leaves, or says how many are too many. */
export async function selectMatching() {
  const found = await api.post(model("/search"), { ...filter.value, numbers: true, limit: 1 });
  if (found.total > MOST_NUMBERS) return { total: found.total, most: MOST_NUMBERS };
  selection.value = { rows: found.numbers, box: null, row: null };
  return { total: found.total };
}

/** The box that has just these rows, or null: a fit makes other boxes, with other numbers. */
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
