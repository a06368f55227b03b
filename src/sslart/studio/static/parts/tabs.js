// Tabs that are part of the address: the arrow keys go from one to the next.
import { html } from "../lib/ui.js";

/** `tabs`: [{ name, text, run }]; `shown` is the name of the one that is shown in the panel `panel`. */
export function Tabs({ tabs, shown, label, panel }) {
  const moved = (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const next = (tabs.findIndex((one) => one.name === shown) + by + tabs.length) % tabs.length;
    tabs[next].run();
    event.currentTarget.children[next].focus();
  };
  return html`<div class="tabs" role="tablist" aria-label=${label} onKeyDown=${moved}>
    ${tabs.map(({ name, text, run }) => html`<button type="button" role="tab" key=${name} id=${`tab-${name}`} aria-controls=${panel}
      aria-selected=${name === shown} tabindex=${name === shown ? 0 : -1} onClick=${run}>${text}</button>`)}
  </div>`;
}
