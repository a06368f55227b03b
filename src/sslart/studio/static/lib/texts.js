// Texts by key: `t("common.close")`, with values in braces: `t("common.rows", { n: 3 })`.
// A text may be { one, other }: the value `n` chooses.
import english from "../texts/en.js";

const LANGUAGE = "en";
const plural = new Intl.PluralRules(LANGUAGE);

function found(key) {
  return key.split(".").reduce((part, name) => part?.[name], english);
}

export function has(key) {
  return found(key) !== undefined;
}

export function t(key, values = {}) {
  let text = found(key);
  if (text !== null && typeof text === "object") text = text[plural.select(Number(values.n))] ?? text.other;
  if (typeof text !== "string") throw new Error(`There is no text "${key}".`);
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? shown(values[name]) : whole));
}

function shown(value) {
  return typeof value === "number" ? value.toLocaleString(LANGUAGE, { maximumFractionDigits: 3 }) : String(value);
}
