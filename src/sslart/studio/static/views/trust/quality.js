// Accuracy over all labels and by class.
import { html } from "../../lib/ui.js";
import { number, percent, sentence } from "../../lib/format.js";
import { classIndex, link } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { IntervalBar } from "../../parts/charts.js";
import { ClassMark } from "../../parts/class_mark.js";
import { Warning } from "../../parts/notices.js";
import { Statement } from "../../parts/statement.js";
import { Share } from "./share.js";

function Accuracy({ trust }) {
  const { accuracy, labels, counted, chosen } = trust;
  return html`<p class="trust-accuracy"><strong class="number">${percent(accuracy.value)}</strong>
      <span class="muted">${t("trust.interval", { low: percent(accuracy.low), high: percent(accuracy.high) })}</span></p>
    <${IntervalBar} value=${accuracy.value} low=${accuracy.low} high=${accuracy.high} label=${t("trust.accuracy")} />
    <p class="small muted trust-how">${trust.how} ${[
      t("trust.n_labels", { n: labels }), chosen > 0 ? t("trust.n_chosen", { n: chosen }) : "",
      counted < labels - chosen ? t("trust.n_counted", { n: counted }) : ""].join(" ")}</p>
    <${Statement} quality=${trust.quality} />`;
}

function NotMeasured({ trust }) {
  return html`<${Warning}><p>${t("trust.not_measured", { text: trust.why_not ?? t("trust.few") })}</p><//>
    <p>${t("trust.not_measured_cure")}</p>
    <p><a class="button primary" href=${link("label")}>${t("trust.to_label")}</a></p>`;
}

/** Whether only a sample of the labels was left out. */
const isSome = ({ labels, left_out: leftOut }) => leftOut !== null && leftOut < labels;

function ByClass({ classes, isMeasured }) {
  return html`<div class="scroll" tabindex="0" role="group" aria-label=${t("trust.by_class")}><table class="by-class-table">
    <caption class="visually-hidden">${t("trust.by_class")}</caption>
    <thead><tr><th scope="col">${t("trust.class")}</th><th scope="col" class="number">${t("trust.labels")}</th>
      ${isMeasured && html`<th scope="col">${t("trust.recall")}</th><th scope="col">${t("trust.precision")}</th>`}</tr></thead>
    <tbody>${classes.map((one) => html`<tr key=${String(one.class)}>
      <th scope="row"><${ClassMark} index=${classIndex(one.class)} name=${one.class} /></th>
      <td class="number" data-name=${t("trust.labels")}>${isSome(one) ? t("trust.some_left_out", { all: number(one.labels), n: number(one.left_out) }) : number(one.labels)}</td>
      ${isMeasured && html`<td data-name=${t("trust.recall")}><${Share} share=${one.recall} label=${t("trust.recall_of", { class: one.class })} /></td>
        <td data-name=${t("trust.precision")}><${Share} share=${one.precision} label=${t("trust.precision_of", { class: one.class })} /></td>`}
    </tr>`)}</tbody>
  </table></div>`;
}

export function QualityCard({ trust }) {
  return html`<section class="card" aria-labelledby="trust-quality">
    <h2 id="trust-quality">${t("trust.accuracy")}</h2>
    <p class="muted small">${t("trust.accuracy_text")}</p>
    <div role="status">${trust.accuracy ? html`<${Accuracy} trust=${trust} />` : html`<${NotMeasured} trust=${trust} />`}</div>
    ${Object.entries(trust.warnings).map(([topic, text]) => html`<${Warning} key=${topic}><p>${t("trust.warning", { topic: sentence(topic), text })}</p><//>`)}
    <h3>${t("trust.by_class")}</h3>
    ${trust.accuracy && html`<p class="muted small">${t("trust.by_class_text")}</p>`}
    <${ByClass} classes=${trust.classes} isMeasured=${trust.accuracy !== null} />
  </section>`;
}
