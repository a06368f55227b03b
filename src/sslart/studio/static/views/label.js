// Label: the next most useful question, and the quality after each answer.
import { html } from "../lib/ui.js";
import { running } from "../lib/jobs.js";
import { description, link, modelName, samples } from "../lib/state.js";
import { t } from "../lib/texts.js";
import { Empty, Loading } from "../parts/notices.js";
import { View } from "../parts/view.js";
import { Disagreements } from "./label/disagreements.js";
import { QualityCard } from "./label/quality.js";
import { QuestionCard } from "./label/question.js";

function Nothing() {
  if (running.value[modelName.value]) return html`<${Loading} text=${t("label.fit_runs")} />`;
  return html`<${Empty} title=${t("label.nothing")}>
    <p>${t("label.nothing_text")}</p>
    <p><a class="button primary" href=${link("table")}>${t("label.to_table")}</a></p>
  <//>`;
}

export default function LabelView() {
  const isKnown = description.value?.name === modelName.value;
  return html`<${View} name="label" title=${t("label.title")} lead=${t("label.lead")}>
    ${!isKnown ? html`<${Loading} />` : !samples.value?.n ? html`<${Nothing} />` : html`<div class="label-columns">
      <div class="stack"><${QuestionCard} /></div>
      <div class="stack"><${QualityCard} /><${Disagreements} /></div>
    </div>`}
  <//>`;
}
