// A share with its interval: a bar, and the same in numbers.
import { html } from "../../lib/ui.js";
import { percent } from "../../lib/format.js";
import { t } from "../../lib/texts.js";
import { IntervalBar } from "../../parts/charts.js";

export function Share({ share, label }) {
  if (!share || share.value === null || share.low === null) return html`<span class="muted">${t("common.none")}</span>`;
  return html`<div class="interval-share">
    <${IntervalBar} value=${share.value} low=${share.low} high=${share.high} label=${label} />
    <span class="number"><strong>${percent(share.value)}</strong> <span class="muted">${t("trust.from_to", { low: percent(share.low), high: percent(share.high) })}</span></span>
  </div>`;
}
