// Notices: loading, errors, empty states, and progress.
import { html } from "../lib/ui.js";
import { percent } from "../lib/format.js";
import { t } from "../lib/texts.js";

export function Loading({ text = t("common.loading") }) {
  return html`<p class="loading" role="status"><span class="spinner" aria-hidden="true"></span>${text}</p>`;
}

/** An error message of the service, with a retry button. */
export function Problem({ error, again }) {
  return html`<div class="notice notice-error" role="alert">
    <p>${error?.detail ?? t("errors.unexpected", { text: error?.message ?? String(error) })}</p>
    ${again && html`<button type="button" onClick=${again}>${t("common.try_again")}</button>`}
  </div>`;
}

export function Warning({ children }) {
  return html`<div class="notice notice-warning"><span class="sign" aria-hidden="true">!</span><div>${children}</div></div>`;
}

export function Empty({ title, children }) {
  return html`<div class="empty"><h2>${title}</h2>${children}</div>`;
}

/** Progress from 0 to 1; null if unknown. */
export function Progress({ value, text }) {
  return html`<div class="progress">
    <div class="progress-words"><span>${text}</span>${value !== null && html`<span class="number">${percent(value)}</span>`}</div>
    <progress aria-label=${text} max="1" value=${value === null ? undefined : value}></progress>
  </div>`;
}
