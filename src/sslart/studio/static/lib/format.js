// Numbers, shares and cells as people read them.
import { t } from "./texts.js";

const LANGUAGE = "en";
const GROUPED = new Intl.NumberFormat(LANGUAGE, { maximumSignificantDigits: 4, useGrouping: "min2" });
const WHOLE = new Intl.NumberFormat(LANGUAGE, { maximumFractionDigits: 0 });
const VALUE = new Intl.NumberFormat(LANGUAGE, { maximumFractionDigits: 0, useGrouping: "min2" });
const LEAST = 0.001; // a share that one digit can tell
const MIDNIGHT = /^(\d{4}-\d\d-\d\d)[ T]00:00:00(\.0+)?$/;
const TIME = new Intl.DateTimeFormat(LANGUAGE, { dateStyle: "medium", timeStyle: "short" });

export function number(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return t("common.none");
  if (!Number.isFinite(value)) return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return WHOLE.format(value);
  const size = Math.abs(value);
  return size >= 1e9 || size < 1e-4 ? value.toExponential(2) : GROUPED.format(value);
}

export function percent(value, digits = 0) {
  if (value === null || value === undefined || Number.isNaN(value)) return t("common.none");
  return `${(100 * value).toFixed(digits)} %`;
}

export function interval({ value, low, high }) {
  return t("common.interval", { value: percent(value), low: percent(low), high: percent(high) });
}

/** A share of something counted, with one more digit where it would else be told as none or all. */
export function portion(value) {
  if (value > 0 && value < LEAST / 2) return t("common.under", { share: percent(LEAST, 1) });
  if (value < 1 && value > 1 - LEAST / 2) return t("common.over", { share: percent(1 - LEAST, 1) });
  return percent(value, (value > 0 && value < 0.01) || (value > 0.99 && value < 1) ? 1 : 0);
}

/** A value of a feature: a whole number of four digits may be a year, and is written without a comma. */
export function measured(value) {
  return Number.isInteger(value) && Math.abs(value) < 1e15 ? VALUE.format(value) : number(value);
}

/** A cell of a table: missing ones are a word, long texts are cut, dates are without the time where it is midnight. */
export function cell(value, most = 200) {
  if (value === null || value === undefined || value === "") return t("common.missing");
  if (typeof value === "number") return measured(value);
  const text = String(value).replace(MIDNIGHT, "$1");
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** Seconds since 1970 as a date and time. */
export function time(seconds) {
  return TIME.format(new Date(1000 * seconds));
}

export function bytes(n) {
  if (n < 1000) return `${n} B`;
  const step = Math.min(3, Math.floor(Math.log10(n) / 3));
  return `${(n / 1000 ** step).toPrecision(3)} ${["B", "kB", "MB", "GB"][step]}`;
}

/** A text with its first letter large. */
export function sentence(text) {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
