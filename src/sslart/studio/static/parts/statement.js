// The statement of quality beside the accuracy: baseline, skill, log loss, AUC, dependent rows, and what it assumes.
import { html } from "../lib/ui.js";
import { sentence } from "../lib/format.js";
import { t } from "../lib/texts.js";

export function Statement({ quality }) {
  const lines = Object.entries(quality.lines).filter(([topic]) => topic !== "accuracy");
  return html`<dl class="statement small">
    ${[...lines, [t("statement.assumed"), quality.assumes]].map(([topic, text]) => html`<div key=${topic}><dt>${sentence(topic)}</dt><dd>${text}</dd></div>`)}
  </dl>`;
}
