// Leave-one-out quality after each answer, and the number of labels needed.
import { html, useEffect, useState } from "../../lib/ui.js";
import { api, model } from "../../lib/api.js";
import { percent, sentence } from "../../lib/format.js";
import { useFollowed } from "../../lib/load.js";
import { classIndex, modelName, sequence } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { IntervalBar, LineChart } from "../../parts/charts.js";
import { ClassMark } from "../../parts/class_mark.js";
import { Loading, Problem, Warning } from "../../parts/notices.js";
import { Statement } from "../../parts/statement.js";
import { historyOf, withQuality } from "./history.js";
import { RandomOrder } from "./random_order.js";

const KEPT = "sslart.target";

function Accuracy({ quality, target }) {
  const found = quality.accuracy;
  if (!found) return html`<p class="muted">${quality.why_not ? t("label.not_measured", { text: quality.why_not }) : t("label.no_quality")}</p>`;
  return html`<div class="accuracy" role="status">
    <p class="accuracy-words"><strong class="big number">${percent(found.value)}</strong>
      <span class="muted">${t("label.interval", { low: percent(found.low), high: percent(found.high) })}</span></p>
    <${IntervalBar} value=${found.value} low=${found.low} high=${found.high} label=${t("label.quality")} target=${target} />
    <p class="small muted">${sentence(quality.how)}.</p>
    <${Statement} quality=${quality.quality} />
  </div>`;
}

function Target({ target, onTarget }) {
  const change = (event) => {
    const value = Number(event.target.value);
    if (value >= 1 && value <= 100) onTarget(value / 100);
  };
  return html`<label class="target-field">${t("label.target")}
    <span><input type="number" min="1" max="100" step="1" value=${Math.round(100 * target)} onChange=${change} /> %</span>
  </label>`;
}

function Needed({ quality }) {
  if (quality.needed) return html`<p class="needed" role="status"><strong>${sentence(quality.needed.text)}</strong></p>`;
  return quality.needed_why_not && html`<p class="needed small muted">${t("label.needed_not", { text: quality.needed_why_not })}</p>`;
}

function Warnings({ warnings }) {
  if (!warnings.length) return null;
  return html`<details class="warnings"><summary>${t("label.warnings", { n: warnings.length })}</summary>
    ${warnings.map(([topic, text]) => html`<${Warning} key=${topic}>${t("label.warning", { topic: sentence(topic), text })}<//>`)}
  </details>`;
}

function History({ points, target }) {
  if (points.length < 2) return null;
  const words = t("label.history_words", { from: percent(points[0].y), to: percent(points.at(-1).y), n: points.at(-1).x });
  return html`<div class="history"><h3>${t("label.history")}</h3>
    <${LineChart} points=${points} words=${words} xLabel=${t("label.history_x")} yRange=${[0, 1]} target=${target} />
  </div>`;
}

function LabelsByClass({ quality }) {
  return html`<details class="by-class"><summary>${t("label.labels_so_far", { n: quality.labels })}</summary>
    <table><tbody>${quality.classes.map((one) => html`<tr key=${String(one.class)}>
      <th scope="row"><${ClassMark} index=${classIndex(one.class)} name=${one.class} /></th><td class="number">${one.labels}</td>
    </tr>`)}</tbody></table>
  </details>`;
}

export function QualityCard() {
  const name = modelName.value;
  const [target, setTarget] = useState(Number(localStorage.getItem(KEPT)) || 0.9);
  const [points, setPoints] = useState(() => historyOf(name));
  // The accuracy is known at once. How many labels are needed takes longer: it is asked for after it, so that the
  // accuracy need not wait, and may be that of the answer before.
  const found = useFollowed(() => api.get(`${model("/quality", name)}?needed=false`), [name, sequence.value]);
  const quality = found.value;
  const known = quality?.sequence;
  const more = useFollowed(() => (known === undefined ? null : api.get(`${model("/quality", name)}?target=${target}`)), [name, target, known]);
  useEffect(() => {
    if (quality) setPoints(withQuality(name, quality));
  }, [quality]);
  const keep = (value) => {
    setTarget(value);
    localStorage.setItem(KEPT, String(value));
  };
  return html`<section class="card quality" aria-labelledby="quality-title">
    <h2 id="quality-title">${t("label.quality")}</h2>
    ${found.error && html`<${Problem} error=${found.error} again=${found.again} />`}
    ${!quality ? !found.error && html`<${Loading} />` : html`
      <${Accuracy} quality=${quality} target=${target} />
      <${Target} target=${target} onTarget=${keep} />
      ${more.value && html`<${Needed} quality=${more.value} />`}
      <${Warnings} warnings=${Object.entries(quality.warnings)} />
      <${History} points=${points} target=${target} />
      <${RandomOrder} name=${name} labels=${quality.labels} hasQuality=${quality.accuracy !== null} />
      ${more.value && html`<p class="small muted">${t("label.in_labelled_boxes", { share: percent(more.value.share_in_labelled_boxes) })}</p>`}
      ${quality.labels > 0 && html`<${LabelsByClass} quality=${quality} />`}`}
  </section>`;
}
