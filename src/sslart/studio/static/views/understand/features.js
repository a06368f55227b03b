// Feature importances with their direction, and the dependence plot of one feature.
import { html, useSignal } from "../../lib/ui.js";
import { api, model } from "../../lib/api.js";
import { cell, percent } from "../../lib/format.js";
import { useLoaded } from "../../lib/loaded.js";
import { sequence } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { Loading, Problem } from "../../parts/notices.js";
import { ShareBar } from "../../parts/charts.js";
import { Dependence } from "./dependence.js";

const FIRST = 15;
const LONG = 80; // characters of a name

export function Features() {
  const chosen = useSignal(null);
  const showsAll = useSignal(false);
  const { data, error, again } = useLoaded((stop) => api.get(model("/importance"), { signal: stop }), [sequence.value]);
  if (error) return html`<${Problem} error=${error} again=${again} />`;
  if (!data) return html`<${Loading} text=${t("understand.computing")} />`;
  const most = Math.max(...data.features.map((one) => one.share), 1e-9);
  const shown = showsAll.value ? data.features : data.features.slice(0, FIRST);
  const name = data.features.some((one) => one.feature === chosen.value) ? chosen.value : data.features[0]?.feature;
  return html`<div class="understand-columns">
    <section class="card" aria-labelledby="importance-title">
      <h2 id="importance-title">${t("understand.importance")}</h2>
      <p class="muted small">${t("understand.importance_text", { n: data.n, over: data.mean_over })}</p>
      <div class="scroll" tabindex="0" role="group" aria-labelledby="importance-title"><table class="importance stacked">
        <thead><tr><th scope="col">${t("understand.feature")}</th><th scope="col">${t("understand.share")}</th><th scope="col">${t("understand.raises")}</th></tr></thead>
        <tbody>${shown.map((one) => html`<tr key=${one.feature}>
          <th scope="row"><button type="button" class="quiet small" aria-pressed=${one.feature === name} title=${t("understand.show_dependence")}
            onClick=${() => (chosen.value = one.feature)}>${cell(one.feature, LONG)}</button></th>
          <td><${ShareBar} value=${one.share / most} text=${percent(one.share)} label=${t("understand.share_of", { feature: one.feature, share: percent(one.share) })} /></td>
          <td>${one.raises}</td>
        </tr>`)}</tbody>
      </table></div>
      ${data.features.length > FIRST && html`<button type="button" class="quiet" aria-expanded=${showsAll.value} onClick=${() => (showsAll.value = !showsAll.value)}>
        ${showsAll.value ? t("understand.show_first", { n: FIRST }) : t("understand.show_all", { n: data.features.length })}</button>`}
    </section>
    ${name !== undefined && html`<${Dependence} feature=${name} names=${data.features.map((one) => one.feature)} onFeature=${(one) => (chosen.value = one)} />`}
  </div>`;
}
