// Table: from a file to a model, and the role of each column.
import { html } from "../lib/ui.js";
import { running } from "../lib/jobs.js";
import { description, isStarting, modelName, models } from "../lib/state.js";
import { t } from "../lib/texts.js";
import { Loading } from "../parts/notices.js";
import { View } from "../parts/view.js";
import { ClassesCard } from "./table/classes.js";
import { ColumnsCard } from "./table/columns.js";
import { FitCard } from "./table/fit.js";
import { ModelsCard } from "./table/models.js";
import { StartCard } from "./table/start.js";

export default function TableView() {
  const name = modelName.value;
  const isThere = (models.value ?? []).some((one) => one.name === name);
  if (!isThere) {
    return html`<${View} name="table" title=${t("table.begin_title")} lead=${t("table.begin_lead")}>
      <div class="stack"><${StartCard} /><${ModelsCard} /></div>
    <//>`;
  }
  const about = description.value?.name === name ? description.value : null;
  const n = about?.features?.length ?? 0;
  const lead = about && !isStarting.value ? t(n ? "table.lead" : "table.lead_nothing", { rows: t("common.rows", { n: about.rows }), n }) : "";
  return html`<${View} name="table" title=${t("table.title", { name })} lead=${lead}>
    <div class="stack table-cards">
      <${FitCard} name=${name} job=${running.value[name]} />
      ${isStarting.value ? html`<${Loading} text=${t("app.starting", { name })} />` : !about && html`<${Loading} />`}
      ${about && html`<${ClassesCard} /><${ColumnsCard} name=${name} />`}
      <details class="card other-tables"><summary><h2>${t("table.another")}</h2></summary><${StartCard} plain=${true} /></details>
      <${ModelsCard} />
    </div>
  <//>`;
}
