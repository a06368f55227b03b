// The quality after each answer, kept in this browser by model.
const KEPT = "sslart.quality.";
const MOST = 500;

/** [{ x: labels, y, low, high }], by the number of labels. */
export function historyOf(name) {
  try {
    return JSON.parse(localStorage.getItem(KEPT + name)) ?? [];
  } catch {
    return [];
  }
}

/** Add a quality to the history; entries with more labels, which were undone since, are dropped. */
export function withQuality(name, { labels, accuracy }) {
  const before = historyOf(name).filter((one) => one.x < labels);
  if (!accuracy) return before;
  const points = [...before, { x: labels, y: accuracy.value, low: accuracy.low, high: accuracy.high }].slice(-MOST);
  try {
    localStorage.setItem(KEPT + name, JSON.stringify(points));
  } catch {
    // local storage is full: the history starts again with the next page
  }
  return points;
}
