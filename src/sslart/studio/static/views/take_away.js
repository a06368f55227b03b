// Export: files that work without the studio.
import { html, useState } from "../lib/ui.js";
import { api, model } from "../lib/api.js";
import { bytes } from "../lib/format.js";
import { modelName, say } from "../lib/state.js";
import { t } from "../lib/texts.js";
import { Problem } from "../parts/notices.js";
import { View } from "../parts/view.js";

const GROUPS = {
  model: { sslart: ".sslart", onnx: ".onnx" },
  read: { report: "-report.html", card: "-card.html" },
  rules: { rules_csv: "-rules.csv", rules_sql: "-rules.sql", rules_python: "_rules.py" },
  data: { labels_csv: "-labels.csv", script: "-rebuild.zip" },
};

function Format({ format, ending }) {
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState(null);
  const title = t(`take_away.formats.${format}.title`);
  const save = async () => {
    const file = `${modelName.value}${ending}`;
    setError(null);
    setIsBusy(true);
    try {
      const size = await api.download(`${model("/export")}?format=${format}`, file);
      say(t("take_away.saved", { file, size: bytes(size) }));
    } catch (problem) {
      setError(problem);
    } finally {
      setIsBusy(false);
    }
  };
  return html`<li class="format">
    <div><h3>${title}</h3><p class="muted">${t(`take_away.formats.${format}.text`)}</p></div>
    <button type="button" aria-label=${`${t("take_away.download")}: ${title}`} aria-busy=${isBusy} disabled=${isBusy} onClick=${save}>
      ${isBusy ? html`<span class="spinner" aria-hidden="true"></span>${t("take_away.making")}` : t("take_away.download")}
    </button>
    ${error && html`<${Problem} error=${error} />`}
  </li>`;
}

export default function TakeAwayView() {
  return html`<${View} name="take-away" title=${t("take_away.title")} lead=${t("take_away.lead")}>
    <div class="formats">
      ${Object.entries(GROUPS).map(([group, formats]) => html`<section key=${group} class="card" aria-labelledby=${`group-${group}`}>
        <h2 id=${`group-${group}`}>${t(`take_away.groups.${group}`)}</h2>
        <ul>${Object.entries(formats).map(([format, ending]) => html`<${Format} key=${format} format=${format} ending=${ending} />`)}</ul>
      </section>`)}
    </div>
  <//>`;
}
