// All models, with buttons to open or delete each.
import { html, useState } from "../../lib/ui.js";
import { api, model } from "../../lib/api.js";
import { fail, go, link, modelName, models, refresh, say } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { Confirm } from "../../parts/dialog.js";
import { Warning } from "../../parts/notices.js";
import { forget } from "../map/kept.js";

async function remove(name) {
  try {
    await api.del(model("", name));
    localStorage.removeItem(`sslart.undo.${name}`);
    forget(name);
    say(t("table.deleted", { name }));
    if (name === modelName.value) go("table", "", "");
    await refresh();
  } catch (error) {
    fail(error);
  }
}

function ModelRow({ one, onDelete }) {
  const isOpen = one.name === modelName.value;
  return html`<tr aria-current=${isOpen ? "true" : undefined}>
    <th scope="row" class="model-name"><a href=${link("table", "", one.name)}>${one.name}</a>${isOpen && html` <span class="chip">${t("table.open_now")}</span>`}</th>
    <td>${t(`table.states.${one.state}`)}${one.problem && html`<${Warning}>${one.problem}<//>`}</td>
    <td class="number">${one.rows.toLocaleString("en")}</td>
    <td class="wide-only">${one.classes.length ? one.classes.map(String).join(", ").slice(0, 120) : t("table.no_classes")}</td>
    <td class="number"><button type="button" class="small danger" aria-label=${t("table.delete_name", { name: one.name })} onClick=${onDelete}>${t("common.delete")}</button></td>
  </tr>`;
}

export function ModelsCard() {
  const [doomed, setDoomed] = useState("");
  const list = models.value ?? [];
  if (!list.length) return null;
  return html`<section class="card" aria-labelledby="models-title">
    <h2 id="models-title">${t("table.models")}</h2>
    <div class="scroll" tabindex="0" role="group" aria-labelledby="models-title"><table>
      <thead><tr>
        <th scope="col">${t("table.model")}</th><th scope="col">${t("table.state")}</th><th scope="col" class="number">${t("table.rows")}</th>
        <th scope="col" class="wide-only">${t("table.classes")}</th><td></td>
      </tr></thead>
      <tbody>${list.map((one) => html`<${ModelRow} key=${one.name} one=${one} onDelete=${() => setDoomed(one.name)} />`)}</tbody>
    </table></div>
    ${doomed && html`<${Confirm} title=${t("table.delete_title", { name: doomed })} text=${t("table.delete_text")} yes=${t("table.delete_yes")}
      onYes=${() => { remove(doomed); setDoomed(""); }} onClose=${() => setDoomed("")} />`}
  </section>`;
}
