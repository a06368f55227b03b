// Header of every page: model, views, undo, and user settings.
import { html, useState } from "../lib/ui.js";
import { VIEWS } from "../lib/route.js";
import { running } from "../lib/jobs.js";
import { canUndo, fail, go, link, modelName, models, person, theme, undo, view } from "../lib/state.js";
import { toggleTheme } from "../lib/theme.js";
import { t } from "../lib/texts.js";
import { PersonDialog } from "./person_dialog.js";

const MARKS = {
  table: "M2 3h12v10H2zM2 6.5h12M6.5 6.5V13",
  map: "M4 11.5a1 1 0 1 0 .01 0M7 5a1 1 0 1 0 .01 0M11.5 9a1 1 0 1 0 .01 0M12 3.5a1 1 0 1 0 .01 0M2 2v12h12",
  label: "M2.5 2.5h5.5l5.5 5.5-5.5 5.5-5.5-5.5zM5.5 5.5h.01",
  understand: "M3 13V9M6.5 13V4M10 13V7M13.5 13V2.5",
  trust: "M8 1.8l5.5 2v4c0 3.5-2.5 5.5-5.5 6.4c-3-.9-5.5-2.9-5.5-6.4v-4zM5.5 8l2 2 3.5-4",
  watch: "M1.5 9h3l2-5 3 8 2-5h3",
  take_away: "M8 2v8M4.5 7L8 10.5 11.5 7M2.5 13.5h11",
};

function ModelChooser() {
  const names = (models.value ?? []).map((one) => one.name);
  if (!names.length) return null;
  const isKnown = names.includes(modelName.value);
  return html`<label class="model-chooser">
    <span class="visually-hidden">${t("app.model")}</span>
    <select value=${isKnown ? modelName.value : ""} onChange=${(event) => go(view.value, "", event.target.value)}>
      ${!isKnown && html`<option value="">${t("app.choose_model")}</option>`}
      ${names.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
    </select>
  </label>`;
}

function Views() {
  return html`<nav class="views" aria-label=${t("app.views")}>
    ${VIEWS.map((name) => html`<a key=${name} href=${link(name)} aria-current=${view.value === name ? "page" : undefined}>
      <svg class="view-sign" viewBox="0 0 16 16" aria-hidden="true"><path d=${MARKS[name]} /></svg>
      <span>${t(`views.${name}`)}</span>
    </a>`)}
  </nav>`;
}

export function Header({ onHelp }) {
  const [asksPerson, setAsksPerson] = useState(false);
  const job = running.value[modelName.value];
  const other = theme.value === "dark" ? "light" : "dark";
  return html`<header class="app-head">
    <a class="brand" href=${link("table")} aria-label=${t("app.home")}>sslart</a>
    <${ModelChooser} />
    <${Views} />
    <div class="tools">
      ${job && html`<span class="busy" role="status"><span class="spinner" aria-hidden="true"></span><span class="busy-words">${t("app.fitting")}</span></span>`}
      <button type="button" class="quiet" disabled=${!canUndo.value} onClick=${() => undo().catch(fail)} title=${t("app.undo_title")} aria-keyshortcuts="u">
        <span aria-hidden="true">↶</span><span class="tool-words">${t("app.undo")}</span> <kbd aria-hidden="true">U</kbd>
      </button>
      <button type="button" class="quiet person" aria-label=${t("app.you_are_title", { name: person.value || t("app.nobody") })} onClick=${() => setAsksPerson(true)}>
        <svg class="view-sign" viewBox="0 0 16 16" aria-hidden="true"><path d="M8 2.2a2.6 2.6 0 1 1 0 5.2a2.6 2.6 0 1 1 0-5.2zM2.8 14c0-3 2.2-4.6 5.2-4.6s5.2 1.6 5.2 4.6" /></svg>
        <span class="tool-words">${t("app.you_are")}</span> <strong class=${person.value ? "" : "nobody"}>${person.value || t("app.nobody")}</strong>
      </button>
      <button type="button" class="quiet icon" aria-label=${t(`app.to_${other}`)} title=${t(`app.to_${other}`)} onClick=${toggleTheme}>
        <span aria-hidden="true">${other === "dark" ? "☾" : "☀"}</span>
      </button>
      <button type="button" class="quiet icon" aria-label=${t("app.help")} title=${t("app.help")} onClick=${onHelp}><span aria-hidden="true">?</span></button>
    </div>
    ${asksPerson && html`<${PersonDialog} onClose=${() => setAsksPerson(false)} />`}
  </header>`;
}
