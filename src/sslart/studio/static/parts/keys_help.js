// Keyboard shortcuts of the current view.
import { html } from "../lib/ui.js";
import { keysNow, keysOn, setKeysOn } from "../lib/keys.js";
import { t } from "../lib/texts.js";
import { Dialog } from "./dialog.js";

export function KeysHelp({ onClose }) {
  return html`<${Dialog} title=${t("keys.title")} onClose=${onClose}>
    <p>${t("keys.text")}</p>
    <dl class="keys">
      ${keysNow().map((one) => html`<div key=${one.key}><dt><kbd>${one.shown ?? one.key.toUpperCase()}</kbd></dt><dd>${one.text}</dd></div>`)}
    </dl>
    <label class="check"><input type="checkbox" checked=${keysOn.value} onChange=${(event) => setKeysOn(event.target.checked)} /> ${t("keys.on")}</label>
  <//>`;
}
