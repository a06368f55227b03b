// Values of all samples as arrays, cached until the model changes.
import { api, model } from "../../lib/api.js";
import { useLoaded } from "../../lib/loaded.js";
import { labelsVersion, modelName, samples, sequence } from "../../lib/state.js";

const LASTING = ["row", "position", "feature", "box"]; // change with a fit or new rows only
const OF_LABELS = ["label", "disagreement"];
const kept = new Map();

function stateOf(quantity) {
  const fit = `${modelName.value}/${samples.value?.n}/${fits.of(samples.value)}`;
  if (LASTING.includes(quantity)) return fit;
  return OF_LABELS.includes(quantity) ? `${fit}/${sequence.value}/${labelsVersion.value}` : `${fit}/${sequence.value}`;
}

/** Version of the result of GET samples, which is requested again after each fit. */
const fits = {
  numbers: new WeakMap(),
  last: 0,
  of(found) {
    if (!found) return 0;
    if (!this.numbers.has(found)) this.numbers.set(found, ++this.last);
    return this.numbers.get(found);
  },
};

/** One value per sample: { data, classes }, where classes are the names that indices of classes refer to. */
export async function values(quantity, feature = null) {
  const place = feature === null ? quantity : `${quantity} ${feature}`;
  const state = stateOf(quantity);
  const known = kept.get(place);
  if (known?.state === state) return known.promise;
  const query = feature === null ? "" : `?name=${encodeURIComponent(feature)}`;
  const path = model(`/values/${quantity}${query}`);
  const promise = LASTING.includes(quantity) || quantity === "label" ? read(path) : afterLabels(() => read(path));
  kept.set(place, { state, promise });
  promise.catch(() => kept.get(place)?.promise === promise && kept.delete(place));
  return promise;
}

async function read(path) {
  const { data, headers } = await api.npy(path);
  const names = headers.get("x-sslart-classes");
  return { data, classes: names ? JSON.parse(decodeURIComponent(names)) : [] };
}

/** Request slower quantities, such as predictions, after the labels, so that an answer shows at once. */
export function afterLabels(ask) {
  return values("label").then(ask, ask);
}

/** The label of each row; null where it has none. */
export async function labelsOf(rows) {
  const [numbers, given] = await Promise.all([values("row"), values("label")]);
  return rows.map((row) => {
    const at = indexOf(numbers.data, row);
    return at >= 0 && given.data[at] >= 0 ? given.classes[given.data[at]] : null;
  });
}

/** The labels of rows as they are now, by row; those that a search returned may be older. */
export function useLabels(rows) {
  const { data } = useLoaded(async () => {
    const labels = await labelsOf(rows);
    return new Map(rows.map((row, at) => [row, labels[at]]));
  }, [rows.join(" "), sequence.value, labelsVersion.value]);
  return data ?? new Map();
}

/** Free the arrays of features that are not shown. */
export function keepOnly(features) {
  for (const place of kept.keys()) {
    if (place.startsWith("feature ") && !features.includes(place.slice("feature ".length))) kept.delete(place);
  }
}

/** The index of a row number among the sorted numbers; -1 if it is not there. */
export function indexOf(numbers, row) {
  let [low, high] = [0, numbers.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] === row) return middle;
    if (numbers[middle] < row) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
