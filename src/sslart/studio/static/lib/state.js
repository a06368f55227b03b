// State shared by all views: the model, its classes, the user, and messages.
import { batch, computed, signal } from "./ui.js";
import { ApiError, api, model } from "./api.js";
import { modelName } from "./route.js";
import { t } from "./texts.js";

export { arg, go, link, modelName, view } from "./route.js";
export { canUndo, labelRows, undo } from "./labels.js";
export { theme } from "./theme.js";

/** All models, briefly; null until they are known. */
export const models = signal(null);
/** GET of the model; null while there is none. */
export const description = signal(null);
/** GET samples of the model; null where it has learnt nothing. */
export const samples = signal(null);
export const properties = signal({});
/** The last record that the model has learnt: views load again when it changes. */
export const sequence = signal(0);
/** Rises with every change of labels, in this tab or elsewhere. */
export const labelsVersion = signal(0);
export const person = signal(localStorage.getItem("sslart.person") ?? "");
export const toasts = signal([]);

/** The classes: those that a person named, in their order, and those that the model knows. */
export const classes = computed(() => {
  const named = Array.isArray(properties.value.classes) ? properties.value.classes : [];
  const known = samples.value?.classes ?? description.value?.classes ?? [];
  const texts = new Set(named.map(String));
  return [...named, ...known.filter((one) => one !== null && !texts.has(String(one)))];
});

/** The place of a class among `classes`, which its colour, shape and key follow; -1 if there is none. */
export function classIndex(name) {
  return name === null || name === undefined ? -1 : classes.value.findIndex((one) => String(one) === String(name));
}

let lastLabels = 0;

/** Note that labels were given with a record of the journal, which this tab and the events both tell. */
export function noteLabels(record) {
  if (record <= lastLabels) return;
  lastLabels = record;
  labelsVersion.value += 1;
}

/** Whether the chosen model is being started, and what it has learnt is not known yet. */
export const isStarting = computed(
  () => description.value?.name === modelName.value && description.value.state === "starting" && !samples.value,
);

export function setPerson(name) {
  person.value = name.trim();
  localStorage.setItem("sslart.person", person.value);
}

let lastToast = 0;

/** Show a message; `action` is { text, run }. */
export function say(text, { kind = "info", action = null, seconds = 6 } = {}) {
  lastToast += 1;
  const id = lastToast;
  toasts.value = [...toasts.value.filter((one) => one.text !== text).slice(-3), { id, text, kind, action }];
  if (kind !== "error") setTimeout(() => dismiss(id), 1000 * seconds);
}

export function dismiss(id) {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

/** Tell why something was not done. */
export function fail(error) {
  if (error?.name === "AbortError") return;
  if (!(error instanceof ApiError)) console.error(error);
  else if (error.status === 401) return;
  say(error?.detail ?? t("errors.unexpected", { text: error?.message ?? String(error) }), { kind: "error" });
}

export async function refreshModels() {
  models.value = (await api.get("/v1/models")).models;
}

export async function refreshProperties() {
  const name = modelName.value;
  if (!name) return;
  const found = await api.get(model("/properties", name));
  if (name === modelName.value) properties.value = found.properties;
}

async function loadAll() {
  const name = modelName.value;
  await refreshModels();
  const isThere = models.value.some((one) => one.name === name);
  const [about, kept] = isThere
    ? await Promise.all([api.get(model("", name)), api.get(model("/properties", name))])
    : [null, null];
  const all = about?.features?.length ? await api.get(model("/samples", name)) : null;
  if (name !== modelName.value) return;
  if (description.value?.name !== name) lastLabels = 0;
  batch(() => {
    description.value = about;
    samples.value = all;
    properties.value = kept?.properties ?? {};
    sequence.value = all?.sequence ?? about?.learnt_through ?? 0;
  });
}

let loading = null;
let after = null;

/**
 * Load again what is known of the chosen model. Nothing is asked that the service would refuse, and many calls at once
 * lead to one more load after the one under way.
 */
export function refresh() {
  if (loading === null) {
    loading = loadAll().finally(() => {
      loading = null;
    });
    return loading;
  }
  after ??= loading.catch(() => undefined).then(() => {
    after = null;
    return refresh();
  });
  return after;
}

export async function setProperty(key, value) {
  properties.value = { ...properties.value, [key]: value };
  await api.put(model(`/properties/${encodeURIComponent(key)}`), value);
}

/** Name one more class; the same name twice is the same class. */
export async function addClass(name) {
  const text = name.trim();
  if (text && classIndex(text) < 0) await setProperty("classes", [...classes.value, text]);
}
