// Map: all samples as a map or a table, to select and label them.
import { html, useSignal } from "../lib/ui.js";
import { arg, description, go, modelName, samples } from "../lib/state.js";
import { t } from "../lib/texts.js";
import { Empty, Loading } from "../parts/notices.js";
import { Tabs } from "../parts/tabs.js";
import { View } from "../parts/view.js";
import { MapCanvas } from "./map/canvas.js";
import { Filters, MapControls } from "./map/controls.js";
import { Legend } from "./map/legend.js";
import { SamplesTable } from "./map/samples_table.js";
import { SelectionPanel } from "./map/selection.js";

const TABLE = "table";

function MapTabs() {
  const tabs = [
    { name: "map", text: t("map.tab_map"), run: () => go("map") },
    { name: TABLE, text: t("map.tab_table"), run: () => go("map", TABLE) },
  ];
  return html`<${Tabs} tabs=${tabs} shown=${arg.value === TABLE ? TABLE : "map"} label=${t("map.tabs")} panel="map-panel" />`;
}

export default function MapView() {
  const drawing = useSignal(null);
  const isKnown = description.value?.name === modelName.value;
  if (!isKnown || !samples.value?.n) {
    return html`<${View} name="map" title=${t("views.map")}>${!isKnown ? html`<${Loading} />`
      : html`<${Empty} title=${t("map.empty")}><p>${t("map.empty_text")}</p><//>`}<//>`;
  }
  const asTable = arg.value === TABLE;
  return html`<${View} name="map" title=${t("views.map")} lead=${t("map.lead")} actions=${html`<${MapTabs} />`}>
    <div class="map-layout" id="map-panel" role="tabpanel" aria-labelledby=${`tab-${asTable ? TABLE : "map"}`}>
      <div class="stack">
        <div class="card map-bar">${!asTable && html`<${MapControls} />`}<${Filters} /></div>
        ${asTable ? html`<${SamplesTable} />` : html`<div class="card map-card">
          <${MapCanvas} onDrawing=${(found) => (drawing.value = found)} />
          <${Legend} drawing=${drawing.value} />
        </div>`}
      </div>
      <${SelectionPanel} />
    </div>
  <//>`;
}
