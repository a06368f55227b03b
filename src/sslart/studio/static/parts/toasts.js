// Toasts: short messages on results and errors, also announced to screen readers.
import { html } from "../lib/ui.js";
import { dismiss, toasts } from "../lib/state.js";
import { t } from "../lib/texts.js";

export function Toasts() {
  return html`<div class="toasts" role="log" aria-live="polite" aria-label=${t("app.messages")}>
    ${toasts.value.map((one) => html`<div key=${one.id} class="toast toast-${one.kind}">
      <p>${one.text}</p>
      ${one.action && html`<button type="button" onClick=${() => { dismiss(one.id); one.action.run(); }}>${one.action.text}</button>`}
      <button type="button" class="quiet icon" aria-label=${t("common.close")} onClick=${() => dismiss(one.id)}>×</button>
    </div>`)}
  </div>`;
}
