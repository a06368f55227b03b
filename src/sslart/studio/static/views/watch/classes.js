// Shares of the predicted classes before and now.
import { html } from "../../lib/ui.js";
import { percent, sentence } from "../../lib/format.js";
import { classIndex } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { ShareBar } from "../../parts/charts.js";
import { ClassMark } from "../../parts/class_mark.js";

function points({ before, now }) {
  if (before === null || now === null) return t("common.none");
  const by = Math.round(100 * (now - before));
  return t("watch.points", { by: `${by < 0 ? "−" : "+"}${Math.abs(by)}` });
}

export function ClassesCard({ watch }) {
  return html`<section class="card" aria-labelledby="watch-classes">
    <h2 id="watch-classes">${t("watch.classes")}</h2>
    <p class="muted small">${t("watch.classes_text")}</p>
    <div class="scroll" tabindex="0" role="group" aria-labelledby="watch-classes"><table class="class-shares">
      <caption class="visually-hidden">${t("watch.classes")}</caption>
      <thead><tr><th scope="col">${t("watch.class")}</th><th scope="col">${sentence(t("watch.before"))}</th><th scope="col">${sentence(t("watch.now"))}</th><th scope="col" class="number">${t("watch.change")}</th></tr></thead>
      <tbody>${watch.classes.map((one) => html`<tr key=${String(one.class)}>
        <th scope="row"><${ClassMark} index=${classIndex(one.class)} name=${one.class} /></th>
        ${[one.before, one.now].map((share, at) => html`<td key=${at}>${share === null ? html`<span class="muted">${t("common.none")}</span>` : html`<${ShareBar} value=${share} text=${percent(share)} />`}</td>`)}
        <td class="number">${points(one)}</td>
      </tr>`)}</tbody>
    </table></div>
  </section>`;
}
