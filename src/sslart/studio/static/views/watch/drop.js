// A file with new rows: they are predicted, kept with the model, and compared.
import { html } from "../../lib/ui.js";
import { api, model, newKey } from "../../lib/api.js";
import { description, fail, refresh } from "../../lib/state.js";
import { has, t } from "../../lib/texts.js";
import { DropZone, TABLES } from "../../parts/drop_zone.js";

export function DropCard({ name, onTable, isOpen }) {
  const send = async (file, options) => {
    onTable(file.name, await api.send("POST", model("/watch/table", name), file, { ...options, key: newKey() }));
    refresh().catch(fail);
  };
  const policy = `watch.learn.${description.value?.settings.learn}`;
  return html`<section class="card" aria-labelledby="watch-drop">
    <h2 id="watch-drop">${t("watch.drop_title")}</h2>
    <${DropZone} send=${send} words="watch" kinds=${TABLES} className=${isOpen ? "watch-drop tall" : "watch-drop"} testid="watch-drop"
      button=${isOpen ? "primary" : ""} stops=${(share) => share < 1}><p>${t("watch.drop")}</p><//>
    <p class="small muted">${t("watch.kept")} ${has(policy) ? t(policy) : ""}</p>
  </section>`;
}
