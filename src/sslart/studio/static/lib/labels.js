// Queue of labels, kept until the service has confirmed them, and undo.
import { computed, signal } from "./ui.js";
import { ApiError, api, model, newKey } from "./api.js";
import { followJob } from "./jobs.js";
import { modelName } from "./route.js";
import { classIndex, noteLabels, person, refresh, say, sequence } from "./state.js";
import { t } from "./texts.js";

const OUTBOX = "sslart.outbox."; // answers that the service has not confirmed, by their key
const UNDO = "sslart.undo."; // by model
const MOST_UNDONE = 200;
const MOST_IN_REQUEST = 10_000;
const MOST_IN_SEARCH = 1000;
const FEW = 5; // rows that are looked up one by one, which is fast also while the service is busy
const SECONDS_TO_LEARN = 10; // to wait for at most; labels that are changed need a fit, for which nobody waits

const changes = signal(0);
/** How many answers the service has not confirmed yet. */
export const unconfirmed = signal(0);
/** Rows whose labels were undone last, as a new array each time. */
export const undone = signal([]);

function stackOf(name) {
  try {
    return JSON.parse(localStorage.getItem(UNDO + name)) ?? [];
  } catch {
    return [];
  }
}

function keepStack(name, stack) {
  for (let first = Math.max(0, stack.length - MOST_UNDONE); ; first += 1) {
    try {
      localStorage.setItem(UNDO + name, JSON.stringify(stack.slice(first)));
      break;
    } catch {
      if (first >= stack.length) break; // the store of the browser is full of other things
    }
  }
  changes.value += 1;
}

export const canUndo = computed(() => changes.value >= 0 && modelName.value !== "" && stackOf(modelName.value).length > 0);

/** Current labels of rows in the model. */
async function labelsOf(name, rows) {
  if (rows.length <= FEW) {
    const found = await Promise.all(rows.map((row) => api.get(model(`/rows/${row}?by_number=true`, name))));
    return found.map((one) => one.label);
  }
  if (rows.length > 5 * MOST_IN_SEARCH) {
    const [numbers, given] = await Promise.all(["row", "label"].map((one) => api.npy(model(`/values/${one}`, name))));
    const known = JSON.parse(decodeURIComponent(given.headers.get("x-sslart-classes") ?? "[]"));
    const byRow = new Map();
    numbers.data.forEach((row, at) => given.data[at] >= 0 && byRow.set(row, known[given.data[at]]));
    return rows.map((row) => byRow.get(row) ?? null);
  }
  const byRow = new Map();
  for (let at = 0; at < rows.length; at += MOST_IN_SEARCH) {
    const part = rows.slice(at, at + MOST_IN_SEARCH);
    const found = await api.post(model("/search", name), { rows: part, limit: MOST_IN_SEARCH });
    for (const one of found.rows) byRow.set(one.row, one.label);
  }
  return rows.map((row) => byRow.get(row) ?? null);
}

let last = Promise.resolve();

/**
 * Post labels after those before, in parts that the service takes; what is not confirmed is sent again at the next start.
 * Labels that are `together` are one answer about several rows: the service leaves them out together.
 */
function post(name, labels, { seconds = SECONDS_TO_LEARN, together = false } = {}) {
  const parts = [];
  for (let at = 0; at < labels.length; at += MOST_IN_REQUEST) {
    const body = { labels: labels.slice(at, at + MOST_IN_REQUEST), refit: true, together };
    if (person.value) body.by = person.value;
    parts.push({ name, body, key: newKey() });
  }
  for (const part of parts) keepInOutbox(part);
  const sent = last.then(() => sendAll(parts, seconds));
  last = sent.catch(() => undefined);
  return sent;
}

function keepInOutbox(part) {
  unconfirmed.value += 1;
  try {
    localStorage.setItem(OUTBOX + part.key, JSON.stringify(part));
  } catch {
    // too many rows for the store of the browser: the page asks before it closes
  }
}

async function sendAll(parts, seconds) {
  let answer = null;
  for (const { name, body, key } of parts) {
    try {
      answer = await api.post(`${model("/labels", name)}?wait=${seconds}`, body, { key });
    } finally {
      localStorage.removeItem(OUTBOX + key);
      unconfirmed.value -= 1;
    }
  }
  return answer;
}

let leftOver = Promise.resolve();

/** Wait until unsent labels of an earlier page have been sent. */
export const leftOverSent = () => leftOver;

/** Send labels that a closed page could not send. */
export function sendLeftOver() {
  const sent = sendKept();
  leftOver = sent.catch(() => undefined);
  return sent;
}

async function sendKept() {
  const left = Object.keys(localStorage).filter((one) => one.startsWith(OUTBOX));
  for (const place of left) {
    const { name, body, key } = JSON.parse(localStorage.getItem(place));
    try {
      await api.post(model("/labels", name), body, { key });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error; // a refusal stays a refusal
    }
    localStorage.removeItem(place);
  }
  if (left.length) say(t("labels.left_over", { n: left.length }));
}

async function taken(name, answer, label) {
  if (name !== modelName.value) return;
  if (answer?.sequence) {
    sequence.value = Math.max(sequence.value, answer.sequence);
    noteLabels(answer.sequence);
  }
  if (answer?.job) followJob(name, answer.job).then(refresh, () => undefined);
  else if (label !== null && classIndex(label) < 0) await refresh();
}

/**
 * Label rows with a class, or withdraw their labels with null. Returns the answer of the service when it has learnt them.
 * `previous` is the label of each row before, if it is known; it is asked for otherwise.
 * `drawn` is the row that was drawn at random to be labelled, if one was: quality is measured on such rows.
 * @param {Iterable<number>} rows
 * @param {any} label
 * @param {{ previous?: any[], drawn?: number | null }} [options]
 */
export async function labelRows(rows, label, { previous, drawn = null } = {}) {
  const name = modelName.value;
  const numbers = [...rows];
  if (!numbers.length) return null;
  const before = previous ?? (await labelsOf(name, numbers));
  const given = { rows: numbers, label, previous: before.every((one) => one === null) ? null : before, id: newKey() };
  keepStack(name, [...stackOf(name), given]);
  try {
    const labels = numbers.map((row) => ({ row, label, at_random: row === drawn }));
    const answer = await post(name, labels, { seconds: given.previous ? 0 : SECONDS_TO_LEARN, together: numbers.length > 1 });
    await taken(name, answer, label);
    return answer;
  } catch (error) {
    keepStack(name, stackOf(name).filter((one) => one.id !== given.id));
    throw error;
  }
}

/** Undo the last labels given in this browser; returns their rows. */
export async function undo() {
  const name = modelName.value;
  const stack = stackOf(name);
  const given = stack.pop();
  if (!given) return null;
  keepStack(name, stack);
  undone.value = given.rows;
  say(t("labels.undone", { n: given.rows.length, label: given.label ?? t("common.no_label"), row: String(given.rows[0]) }));
  try {
    const answer = await post(name, given.rows.map((row, at) => ({ row, label: given.previous?.[at] ?? null, at_random: false })), { seconds: 0 });
    await taken(name, answer, null);
    return given.rows;
  } catch (error) {
    keepStack(name, [...stackOf(name), given]);
    throw error;
  }
}

/** Let other tabs tell this one, and the page ask before it closes with answers that are not confirmed. */
export function watchLabels() {
  addEventListener("storage", (event) => {
    if (event.key?.startsWith(UNDO)) changes.value += 1;
  });
  addEventListener("beforeunload", (event) => {
    if (unconfirmed.value > 0) event.preventDefault();
  });
}
