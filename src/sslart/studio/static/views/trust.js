// Trust: leave-one-out quality, errors, and the error limit.
import { html } from "../lib/ui.js";
import { api, model } from "../lib/api.js";
import { useFollowed } from "../lib/load.js";
import { description, link, modelName, samples, sequence } from "../lib/state.js";
import { t } from "../lib/texts.js";
import { Empty, Loading, Problem } from "../parts/notices.js";
import { View } from "../parts/view.js";
import { CalibrationCard } from "./trust/calibration.js";
import { ConfusionCard } from "./trust/confusion.js";
import { GroupsCard } from "./trust/groups.js";
import { PromiseCard } from "./trust/promise.js";
import { QualityCard } from "./trust/quality.js";

function Inside() {
  const name = modelName.value;
  const { value, error, again } = useFollowed(() => api.get(model("/trust", name)), [name, sequence.value]);
  if (!value) return error ? html`<${Problem} error=${error} again=${again} />` : html`<${Loading} text=${t("trust.measuring")} />`;
  return html`${error && html`<${Problem} error=${error} again=${again} />`}
    <div class=${value.accuracy ? "trust-columns" : "stack trust-unmeasured"}>
      <div class="stack">
        <${QualityCard} trust=${value} />
        ${value.confusion && html`<${ConfusionCard} confusion=${value.confusion} chosen=${value.chosen} />`}
        ${value.accuracy && html`<${GroupsCard} key=${name} name=${name} />`}
      </div>
      ${value.accuracy && html`<div class="stack">
        <${PromiseCard} key=${name} coverage=${value.coverage} accuracy=${value.accuracy} again=${again} />
        <${CalibrationCard} calibration=${value.calibration} />
      </div>`}
    </div>`;
}

export default function TrustView() {
  const isKnown = description.value?.name === modelName.value;
  return html`<${View} name="trust" title=${t("views.trust")} lead=${t("trust.lead")}>
    ${!isKnown ? html`<${Loading} />` : !samples.value?.classes.length
      ? html`<${Empty} title=${t("trust.empty")}>
        <p>${t("trust.empty_text")}</p><p><a class="button primary" href=${link("label")}>${t("trust.to_label")}</a></p>
      <//>`
      : html`<${Inside} />`}
  <//>`;
}
