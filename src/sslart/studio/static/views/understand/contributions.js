// Feature contributions to the score of a class, compared with an average sample.
import { html, useSignal } from "../../lib/ui.js";
import { api, model } from "../../lib/api.js";
import { cell, percent } from "../../lib/format.js";
import { useLoaded } from "../../lib/loaded.js";
import { classIndex, sequence } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { ClassMark, classColour } from "../../parts/class_mark.js";
import { Loading, Problem } from "../../parts/notices.js";
import { features, shownCell } from "../map/state.js";
import { DivergingBar, signed } from "./bars.js";

const FIRST = 10;
const LONG = 80; // characters of a name

export function Contributions({ cells }) {
  const chosen = useSignal(null);
  const { data, error, again } = useLoaded(async (stop) => {
    const [added, predicted] = await Promise.all(
      ["contributions?intervals=true", "predict"].map((path) => api.post(model(`/${path}`), { rows: [cells] }, { signal: stop })),
    );
    return { ...added, prediction: predicted.predictions[0] };
  }, [cells, sequence.value]);
  if (error) return html`<${Problem} error=${error} again=${again} />`;
  if (!data) return html`<${Loading} text=${t("understand.computing")} />`;
  const { prediction } = data;
  const name = data.classes.find((one) => String(one) === (chosen.value ?? String(prediction.class))) ?? mostProbable(data);
  return html`<${Prediction} prediction=${prediction} />
    <div class="sample-why"><h3>${t("understand.why")}</h3>
      <label class="check">${t("understand.towards_label")}
        <select value=${String(name)} onChange=${(event) => (chosen.value = event.target.value)}>
          ${data.classes.map((one) => html`<option key=${String(one)} value=${String(one)}>${String(one)}</option>`)}
        </select></label></div>
    <${Bars} data=${data} name=${name} cells=${cells} />
    <${InWords} cells=${cells} />`;
}

const mostProbable = ({ classes, prediction }) =>
  [...classes].sort((a, b) => prediction.probabilities[String(b)] - prediction.probabilities[String(a)])[0];

export function Prediction({ prediction }) {
  return html`<p class="prediction">${t("understand.predicted")}: <${ClassMark} index=${classIndex(prediction.class)} name=${prediction.class ?? t("common.none")} />
    <strong class="number">${percent(prediction.probability, 1)}</strong>
    ${prediction.abstained && html`<span class="chip">${t("understand.abstains")}</span>`}${prediction.novel && html`<span class="chip">${t("understand.novel")}</span>`}</p>`;
}

function Bars({ data, name, cells }) {
  const showsAll = useSignal(false);
  const at = data.classes.indexOf(name);
  const all = data.features.map((feature, i) => ({ feature, value: data.values[0][i][at], halfWidth: data.half_widths?.[0][i][at] ?? null })).sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const shown = showsAll.value ? all : all.slice(0, FIRST);
  const rest = all.slice(shown.length).reduce((sum, one) => sum + one.value, 0);
  const most = Math.max(1e-9, ...all.map((one) => Math.abs(one.value) + (one.halfWidth ?? 0)));
  const graph = data.graph[0][at];
  const own = new Map(features.value.map((one) => [one.name, one]));
  const colour = classColour(classIndex(name));
  const line = (words, value) => html`<tr class="sum"><th scope="row" colspan="2" class="muted">${words}</th><td class="number">${signed(value)}</td></tr>`;
  return html`<div class="scroll" tabindex="0" role="group" aria-labelledby="sample-title"><table class="bars stacked">
    <caption class="visually-hidden">${t("understand.bars_caption", { class: name })}</caption>
    <thead><tr><th scope="col">${t("understand.feature")}</th><th scope="col">${t("understand.value")}</th><th scope="col">${t("understand.adds", { class: name })}</th></tr></thead>
    <tbody>
      ${line(t("understand.base"), data.base[at])}
      ${shown.map((one) => html`<tr key=${one.feature}><th scope="row" title=${one.feature}>${cell(one.feature, LONG)}</th><td>${own.has(one.feature) ? shownCell(own.get(one.feature), cells) : ""}</td>
        <td><${DivergingBar} value=${one.value} most=${most} colour=${colour} halfWidth=${one.halfWidth} /></td></tr>`)}
      ${all.length > shown.length && line(t("understand.others", { n: all.length - shown.length }), rest)}
      ${graph !== 0 && line(t("understand.neighbours"), graph)}
      ${line(t("understand.score"), data.scores[0][at])}
    </tbody>
  </table></div>
  ${data.half_widths && html`<p class="small muted">${t("understand.intervals")}</p>`}
  ${all.length > FIRST && html`<button type="button" class="quiet small" aria-expanded=${showsAll.value} onClick=${() => (showsAll.value = !showsAll.value)}>
    ${showsAll.value ? t("understand.show_first", { n: FIRST }) : t("understand.show_all", { n: all.length })}</button>`}`;
}

function InWords({ cells }) {
  const open = useSignal(false);
  const { data, error } = useLoaded(open.value ? (stop) => api.post(model("/explain"), { rows: [cells] }, { signal: stop }) : null, [cells, sequence.value, open.value]);
  return html`<details class="in-words" onToggle=${(event) => (open.value = event.target.open)}><summary>${t("understand.in_words")}</summary>
    ${error ? html`<${Problem} error=${error} />` : !data ? html`<${Loading} />` : html`<p class="explanation">${data.explanations[0].text}</p>`}
  </details>`;
}
