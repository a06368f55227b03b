// Settings of the map of each model in local storage, which may be old or damaged.
import { COLOURS } from "./colours.js";

const KEPT = "sslart.map.";

const isName = (value) => typeof value === "string";
const isClass = (value) => ["string", "number", "boolean"].includes(typeof value);
const isShare = (value) => typeof value === "number" && value >= 0 && value <= 1;
const isFlag = (value) => value === true;
const isListOf = (isOne) => (value) => Array.isArray(value) && value.length > 0 && value.every(isOne);

const SETTINGS = { x: isName, y: isName, colour: (value) => Object.hasOwn(COLOURS, value), outlines: (value) => typeof value === "boolean" };
const FILTER = {
  predicted: isListOf(isClass),
  label: isListOf((value) => value === null || isClass(value)),
  disagrees: isFlag,
  novel: isFlag,
  abstained: isFlag,
  probability: (value) => isListOf(isShare)(value) && value.length === 2,
  text: isName,
};

function partOf(found, checks) {
  return Object.fromEntries(Object.entries(checks).filter(([name, isFit]) => isFit(found?.[name])).map(([name]) => [name, found[name]]));
}

function stored(name) {
  try {
    return JSON.parse(localStorage.getItem(KEPT + name));
  } catch {
    return null;
  }
}

/** Return the stored { settings, filter } of a model without missing or damaged parts. */
export function readKept(name) {
  const found = stored(name);
  const { x, y, ...others } = partOf(found?.settings, SETTINGS);
  return { settings: x && y ? { x, y, ...others } : others, filter: partOf(found?.filter, FILTER) };
}

export function keep(name, { x, y, colour, outlines }, filter) {
  try {
    localStorage.setItem(KEPT + name, JSON.stringify({ settings: { x, y, colour, outlines }, filter }));
  } catch {
    // the map works without local storage
  }
}

export function forget(name) {
  localStorage.removeItem(KEPT + name);
}
