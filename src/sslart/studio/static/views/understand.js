// Understand: features, rules, and single samples.
import { html } from "../lib/ui.js";
import { arg, description, go, link, modelName, samples } from "../lib/state.js";
import { t } from "../lib/texts.js";
import { Empty, Loading } from "../parts/notices.js";
import { Tabs } from "../parts/tabs.js";
import { View } from "../parts/view.js";
import { Features } from "./understand/features.js";
import { Rules } from "./understand/rules.js";
import { Sample } from "./understand/sample.js";

const TABS = ["features", "rules", "sample"];

/** Tab and row in the address: rules, sample/ROW; features by default. */
function place() {
  const [name, ...rest] = arg.value.split("/");
  return { name: TABS.includes(name) ? name : TABS[0], row: rest.join("/") };
}

function Inside({ name, row }) {
  if (name === "rules") return html`<${Rules} />`;
  return name === "sample" ? html`<${Sample} row=${row} />` : html`<${Features} />`;
}

export default function UnderstandView() {
  const { name, row } = place();
  const isKnown = description.value?.name === modelName.value;
  const tabs = TABS.map((one) => ({ name: one, text: t(`understand.tabs.${one}`), run: () => go("understand", one) }));
  const hasClasses = Boolean(samples.value?.classes.length);
  const actions = hasClasses && html`<${Tabs} tabs=${tabs} shown=${name} label=${t("understand.tabs_label")} panel="understand-panel" />`;
  return html`<${View} name="understand" title=${t("views.understand")} lead=${t("understand.lead")} actions=${actions}>
    ${!isKnown ? html`<${Loading} />` : !hasClasses ? html`<${Empty} title=${t("understand.empty")}>
      <p>${t("understand.empty_text")}</p><p><a class="button primary" href=${link("label")}>${t("understand.to_label")}</a></p><//>`
      : html`<div id="understand-panel" role="tabpanel" aria-labelledby=${`tab-${name}`}><${Inside} name=${name} row=${row} /></div>`}
  <//>`;
}
