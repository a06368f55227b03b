// Dependence plot: contribution of a feature to the score of a class, by its value.
import { html, useSignal } from "../../lib/ui.js";
import { api, model } from "../../lib/api.js";
import { measured, number } from "../../lib/format.js";
import { useLoaded } from "../../lib/loaded.js";
import { classIndex, sequence } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { Loading, Problem } from "../../parts/notices.js";
import { CategoryChart, CurveChart } from "./dependence_chart.js";

export function Dependence({ feature, names, onFeature }) {
  const chosen = useSignal(null);
  const { data, error, loading, again } = useLoaded(
    (stop) => api.get(model(`/dependence?feature=${encodeURIComponent(feature)}`), { signal: stop }),
    [feature, sequence.value],
  );
  return html`<section class="card dependence-card" aria-labelledby="dependence-title" aria-busy=${loading}>
    <h2 id="dependence-title">${t("understand.dependence")}</h2>
    <p class="muted small">${t("understand.dependence_text")}</p>
    <div class="field-row">
      <label class="field">${t("understand.feature")}
        <select value=${feature} onChange=${(event) => onFeature(event.target.value)}>${names.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}</select>
      </label>
      ${data && html`<label class="field">${t("understand.class")}
        <select value=${String(chosenOf(data, chosen.value))} onChange=${(event) => (chosen.value = event.target.value)}>
          ${data.classes.map((one) => html`<option key=${String(one)} value=${String(one)}>${String(one)}</option>`)}
        </select>
      </label>`}
    </div>
    ${error ? html`<${Problem} error=${error} again=${again} />` : !data ? html`<${Loading} text=${t("understand.computing")} />`
      : html`<${Chart} data=${data} name=${chosenOf(data, chosen.value)} />`}
  </section>`;
}

function chosenOf(data, name) {
  return data.classes.find((one) => String(one) === name) ?? data.classes.at(-1);
}

function Chart({ data, name }) {
  const at = data.classes.indexOf(name);
  const index = classIndex(name);
  const curve = data.curve.map((one) => ({ x: one.x, y: one.y[at], n: one.n }));
  if (!curve.length) return html`<p class="muted">${t("understand.no_values")}</p>`;
  const sorted = [...curve].sort((a, b) => a.y - b.y);
  const words = t("understand.dependence_words", {
    feature: data.feature, class: name, lowest: number(sorted[0].y), at_lowest: shown(sorted[0].x),
    highest: number(sorted.at(-1).y), at_highest: shown(sorted.at(-1).x),
  });
  const points = data.points.x.map((x, i) => ({ x, y: data.points.y[i][at] }));
  return html`${data.kind === "category"
    ? html`<${CategoryChart} curve=${curve} words=${words} index=${index} name=${name} />`
    : html`<${CurveChart} curve=${curve} points=${points} isDate=${data.kind === "date"} words=${words} index=${index} feature=${data.feature} name=${name} />`}
    <p class="small">${words}</p>
    ${data.n_missing > 0 && html`<p class="muted small">${t("understand.n_missing", { n: data.n_missing })}</p>`}`;
}

const shown = (value) => (typeof value === "number" ? measured(value) : String(value));
