// A file that is dropped or chosen, or an example, becomes a model.
import { html, useState } from "../../lib/ui.js";
import { api } from "../../lib/api.js";
import { followJob } from "../../lib/jobs.js";
import { useLoad } from "../../lib/load.js";
import { freeName, isName } from "../../lib/names.js";
import { fail, go, models, refresh } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { DropZone, TABLES } from "../../parts/drop_zone.js";
import { Problem } from "../../parts/notices.js";

async function opened(name, answer) {
  if (answer?.state) followJob(name, answer.sequence).then(refresh).catch(fail);
  await refresh();
  go("table", "", name);
}

function Examples({ onError }) {
  const { value } = useLoad((signal) => api.get("/v1/examples", { signal }), []);
  const [busy, setBusy] = useState("");
  const take = async (example) => {
    setBusy(example.name);
    try {
      const name = freeName(example.name, models.value.map((one) => one.name));
      await opened(name, await api.post(`/v1/examples/${encodeURIComponent(example.name)}?as=${name}`));
    } catch (error) {
      onError(error);
    } finally {
      setBusy("");
    }
  };
  if (!value?.examples?.length) return null;
  return html`<section class="examples" aria-labelledby="examples-title">
    <h2 id="examples-title">${t("table.examples")}</h2>
    <ul>
      ${value.examples.map((one) => html`<li key=${one.name}>
        <button type="button" class="example" disabled=${busy !== ""} aria-busy=${busy === one.name} onClick=${() => take(one)}>
          <strong>${one.title}</strong>
          <span class="muted small">${t("table.size", { rows: one.rows, columns: typeof one.columns === "number" ? one.columns : one.columns.length })}</span>
          <span class="small">${one.text}</span>
        </button>
      </li>`)}
    </ul>
  </section>`;
}

export function StartCard({ plain = false }) {
  const [name, setName] = useState("");
  const [error, setError] = useState(null);
  const send = async (file, options) => {
    setError(null);
    const chosen = name.trim() || freeName(file.name, models.value.map((one) => one.name));
    await opened(chosen, await api.send("PUT", `/v1/models/${encodeURIComponent(chosen)}`, file, options));
  };
  const badName = name.trim() !== "" && !isName(name.trim());
  const taken = (models.value ?? []).some((one) => one.name === name.trim());
  const field = html`<label class="field name-field small">${t("table.name_field")}
      <input type="text" maxlength="100" value=${name} placeholder=${t("table.name_placeholder")} aria-invalid=${badName || taken}
        aria-describedby=${badName || taken ? "name-problem" : undefined} onInput=${(event) => setName(event.target.value)} />
    </label>
    ${(badName || taken) && html`<p id="name-problem" class="field-problem small">${t(badName ? "table.name_bad" : "table.name_taken")}</p>`}`;

  return html`<div class=${plain ? "start" : "card start"}>
    ${error && html`<${Problem} error=${error} />`}
    <${DropZone} send=${send} words="table" kinds=${`${TABLES},.sslart`} testid="drop" disabled=${badName || taken} after=${field}>
      <p class="drop-title">${t("table.drop")}</p>
      <p class="muted small">${t("table.drop_kinds")}</p>
    <//>
    <${Examples} onError=${setError} />
  </div>`;
}
