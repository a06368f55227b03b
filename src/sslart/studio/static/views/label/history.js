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

/** The history with a new quality; what was measured with more labels, which were taken back since, is forgotten. */
export function withQuality(name, { labels, over_all: accuracy }) {
  const before = historyOf(name).filter((one) => one.x < labels);
  if (!accuracy) return before;
  const points = [...before, { x: labels, y: accuracy.value, low: accuracy.low, high: accuracy.high }].slice(-MOST);
  try {
    localStorage.setItem(KEPT + name, JSON.stringify(points));
  } catch {
    // the store of the browser is full: the history begins anew with the next page
  }
  return points;
}
