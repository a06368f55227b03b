// Watch: comparison of new rows with those before the last fit, and rows that need attention.
import { html } from "../lib/ui.js";
import { description, link, modelName, samples } from "../lib/state.js";
import { t } from "../lib/texts.js";
import { Empty, Loading, Problem } from "../parts/notices.js";
import { View } from "../parts/view.js";
import { ArrivalsCard } from "./watch/arrivals.js";
import { ClassesCard } from "./watch/classes.js";
import { DriftsCard } from "./watch/drifts.js";
import { DropCard } from "./watch/drop.js";
import { FeaturesCard } from "./watch/features.js";
import { SamplesCard } from "./watch/samples.js";
import { useStream } from "./watch/stream.js";
import { SummaryCard } from "./watch/summary.js";

function Inside({ name }) {
  const stream = useStream(name);
  const { value, error, again } = stream;
  return html`<div class="visually-hidden" role="status">${stream.said}</div>
    ${error && html`<${Problem} error=${error} again=${again} />`}
    ${!value ? !error && html`<${Loading} text=${t("watch.comparing")} />` : html`<div class="watch-columns">
      <div class="stack">
        <${SummaryCard} stream=${stream} />
        <${DropCard} name=${name} onTable=${stream.showTable} isOpen=${value.n_rows === 0} />
        ${value.features.length > 0 && html`<${FeaturesCard} key=${name} watch=${value} />`}
      </div>
      <div class="stack">
        ${value.n_rows > 0 && html`<${SamplesCard} key=${name} watch=${value} />`}
        <${ClassesCard} watch=${value} />
        <${DriftsCard} drifts=${value.drifts} />
        <${ArrivalsCard} stream=${stream} />
      </div>
    </div>`}`;
}

export default function WatchView() {
  const name = modelName.value;
  const isKnown = description.value?.name === name;
  return html`<${View} name="watch" title=${t("views.watch")} lead=${t("watch.lead")}>
    ${!isKnown ? html`<${Loading} />` : !samples.value?.classes.length
      ? html`<${Empty} title=${t("watch.empty")}>
        <p>${t("watch.empty_text")}</p><p><a class="button primary" href=${link("label")}>${t("watch.to_label")}</a></p>
      <//>`
      : html`<${Inside} key=${name} name=${name} />`}
  <//>`;
}
