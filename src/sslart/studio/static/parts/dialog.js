// A dialog that holds the focus, ends with Escape, and gives the focus back.
import { html, useEffect, useId, useRef } from "../lib/ui.js";
import { t } from "../lib/texts.js";

export function Dialog({ title, onClose, children, wide = false }) {
  const box = useRef(null);
  const id = useId();
  useEffect(() => {
    const before = /** @type {HTMLElement | null} */ (document.activeElement);
    box.current.showModal();
    box.current.querySelector("form input, [data-first]")?.focus();
    return () => before?.isConnected && before.focus();
  }, []);
  const outside = (event) => event.target === box.current && onClose();
  return html`<dialog ref=${box} class=${wide ? "dialog wide" : "dialog"} aria-labelledby=${id} onClose=${onClose} onClick=${outside}>
    <div class="dialog-inside">
      <header class="dialog-head">
        <h2 id=${id}>${title}</h2>
        <button type="button" class="quiet icon" aria-label=${t("common.close")} onClick=${onClose}>×</button>
      </header>
      ${children}
    </div>
  </dialog>`;
}

/** Ask for confirmation of an irreversible action. */
export function Confirm({ title, text, yes, onYes, onClose }) {
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <p>${text}</p>
    <div class="buttons">
      <button type="button" class="danger" onClick=${onYes}>${yes}</button>
      <button type="button" data-first onClick=${onClose}>${t("common.cancel")}</button>
    </div>
  <//>`;
}
