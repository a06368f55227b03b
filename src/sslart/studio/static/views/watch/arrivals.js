// Rows that arrived while this view is open, the newest first.
import { html } from "../../lib/ui.js";
import { percent } from "../../lib/format.js";
import { classIndex, link } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { ClassMark } from "../../parts/class_mark.js";

export function ArrivalsCard({ stream }) {
  const { arrived } = stream;
  return html`<section class="card" aria-labelledby="watch-arrivals">
    <h2 id="watch-arrivals">${t("watch.arrivals")}</h2>
    ${arrived.n === 0 ? html`<p class="muted small">${t("watch.no_arrivals")}</p>` : html`
      <p class="small">${t("watch.came_so_far", { n: arrived.n, novel: arrived.novel, abstained: arrived.abstained })}</p>
      <div class="scroll" tabindex="0" role="group" aria-labelledby="watch-arrivals"><table>
        <caption class="visually-hidden">${t("watch.arrivals")}</caption>
        <thead><tr><th scope="col">${t("watch.row")}</th><th scope="col">${t("watch.predicted")}</th><th scope="col" class="number">${t("watch.confidence")}</th><th scope="col">${t("watch.remark")}</th></tr></thead>
        <tbody>${[...arrived.recent].reverse().map((one) => html`<tr key=${one.row}>
          <th scope="row"><a href=${link("understand", `sample/${one.row}`)}>${one.row}</a></th>
          <td><${ClassMark} index=${classIndex(one.class)} name=${one.class ?? t("watch.abstains")} /></td>
          <td class="number">${percent(one.probability)}</td>
          <td>${one.novel && html`<span class="chip">${t("watch.novel_chip")}</span>`}</td>
        </tr>`)}</tbody>
      </table></div>`}
  </section>`;
}
