// Drifts detected by the model since the last fit.
import { html } from "../../lib/ui.js";
import { has, t } from "../../lib/texts.js";
import { Warning } from "../../parts/notices.js";

export function DriftsCard({ drifts }) {
  return html`<section class="card" aria-labelledby="watch-drifts">
    <h2 id="watch-drifts">${t("watch.drifts")}</h2>
    <p class="muted small">${t("watch.drifts_text")}</p>
    ${drifts.length === 0 ? html`<p>${t("watch.no_drifts")}</p>` : [...drifts].reverse().map((one) => html`<${Warning} key=${`${one.kind} ${one.row}`}>
      <p><strong>${has(`watch.kinds.${one.kind}`) ? t(`watch.kinds.${one.kind}`) : one.kind}</strong> ${t("watch.after_rows", { n: one.row })}</p>
      <p>${one.description}</p>
    <//>`)}
  </section>`;
}
