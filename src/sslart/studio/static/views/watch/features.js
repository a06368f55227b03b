// Change of each feature, the most significant first, with its values before and now.
import { html, useState } from "../../lib/ui.js";
import { cell, number } from "../../lib/format.js";
import { t } from "../../lib/texts.js";
import { ShareBar } from "../../parts/charts.js";
import { CategoriesCompared, NumbersCompared } from "./compared.js";
import { unusual } from "./one_sample.js";

const FIRST = 8;
const LONG = 40; // characters of a category

function pText(p) {
  if (p === null) return "";
  return p < 0.001 ? t("watch.p_small") : t("watch.p", { p: number(Number(p.toPrecision(2))) });
}

/** Return new categories. */
function newCategories(one) {
  return (one.now.top ?? []).filter(({ value, n }) => n > 0 && unusual(value, one) === "new").map(({ value }) => String(value));
}

function Change({ isChanged, children }) {
  return html`<div class=${isChanged ? "change changed" : "change"}><span class="sign" aria-hidden="true">${isChanged ? "!" : "="}</span>${children}</div>`;
}

function Line({ one }) {
  const added = newCategories(one);
  return html`<tr>
    <th scope="row">${one.feature}
      ${added.length > 0 && html`<${Change} isChanged>${t("watch.new_categories", { names: added.map((name) => cell(name, LONG)).join(", ") })}<//>`}
      ${(one.has_drifted || !added.length) && html`<${Change} isChanged=${one.has_drifted}>${one.text}<//>`}</th>
    <td><${ShareBar} value=${one.drift} text=${one.drift.toFixed(2)} label=${t("watch.drift_of", { feature: one.feature, drift: one.drift.toFixed(2) })} />
      <div class="small muted">${pText(one.p_value)}</div></td>
    <td>${one.before.top
      ? html`<${CategoriesCompared} before=${one.before} now=${one.now} feature=${one.feature} />`
      : html`<${NumbersCompared} before=${one.before} now=${one.now} feature=${one.feature} />`}</td>
  </tr>`;
}

export function FeaturesCard({ watch }) {
  const [showsAll, setShowsAll] = useState(false);
  const shown = showsAll ? watch.features : watch.features.slice(0, FIRST);
  return html`<section class="card" aria-labelledby="watch-features">
    <h2 id="watch-features">${t("watch.features")}</h2>
    <p class="muted small">${t("watch.features_text")}</p>
    <p class="compared-legend small" aria-hidden="true">
      <svg viewBox="0 0 18 12"><path class="before-line" d="M1 11V4h8V1h8V11" /></svg>${t("watch.before")}
      <svg viewBox="0 0 18 12"><rect class="now-bar" x="1" y="3" width="16" height="9" /></svg>${t("watch.now")}
    </p>
    <div class="scroll" tabindex="0" role="group" aria-label=${t("watch.features")}><table class="drift-table">
      <caption class="visually-hidden">${t("watch.features")}</caption>
      <thead><tr><th scope="col">${t("watch.feature")}</th><th scope="col">${t("watch.size")}</th><th scope="col">${t("watch.values")}</th></tr></thead>
      <tbody>${shown.map((one) => html`<${Line} key=${one.feature} one=${one} />`)}</tbody>
    </table></div>
    ${watch.features.length > FIRST && html`<button type="button" class="quiet small" aria-expanded=${showsAll} onClick=${() => setShowsAll(!showsAll)}>
      ${t(showsAll ? "watch.show_first" : "watch.show_all", { n: showsAll ? FIRST : watch.features.length })}</button>`}
    <details class="small"><summary>${t("watch.how")}</summary><p>${watch.how}</p></details>
  </section>`;
}
