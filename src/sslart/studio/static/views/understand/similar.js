// The most similar labelled samples, and the nearest boxes.
import { html } from "../../lib/ui.js";
import { api, model } from "../../lib/api.js";
import { number, percent } from "../../lib/format.js";
import { useLoaded } from "../../lib/loaded.js";
import { classIndex, labelsVersion, link, sequence } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { ClassMark } from "../../parts/class_mark.js";
import { Loading, Problem } from "../../parts/notices.js";

const N = 6;

export function Similar({ cells, row }) {
  const { data, error, again } = useLoaded(
    (stop) => api.post(model("/similar"), { row: cells, n: N, leave_out: row }, { signal: stop }), [cells, sequence.value, labelsVersion.value],
  );
  const cases = data?.cases ?? [];
  return html`<section class="card" aria-labelledby="similar-title">
    <h2 id="similar-title">${t("understand.similar")}</h2>
    ${error ? html`<${Problem} error=${error} again=${again} />` : !data ? html`<${Loading} />` : !cases.length ? html`<p class="muted">${t("understand.no_cases")}</p>`
      : html`<div class="scroll" tabindex="0" role="group" aria-labelledby="similar-title"><table class="similar stacked">
        <thead><tr><th scope="col">${t("understand.row")}</th><th scope="col">${t("understand.label")}</th><th scope="col">${t("understand.difference")}</th></tr></thead>
        <tbody>${cases.map((one) => html`<tr key=${one.row}>
          <th scope="row"><a href=${link("understand", `sample/${one.row}`)}>${one.row}</a></th>
          <td><${ClassMark} index=${classIndex(one.label)} name=${one.label} /></td>
          <td>${one.text}</td></tr>`)}</tbody>
      </table></div>`}
    ${data?.boxes?.length > 0 && html`<h3>${t("understand.boxes")}</h3><p class="muted small">${t("understand.boxes_text")}</p>
      <ul class="boxes">${data.boxes.map((one) => html`<li key=${one.box}>${t("understand.box", { box: String(one.box), samples: t("common.samples", { n: Math.round(one.n) }), match: percent(one.match) })}
        ${Object.entries(one.labels).map(([name, n]) => html` <span class="chip" key=${name}><${ClassMark} index=${classIndex(name)} name=${name} /> ${number(n)}</span>`)}</li>`)}</ul>`}
  </section>`;
}
