// Rows with different labels by several people, with buttons to settle each.
import { html } from "../../lib/ui.js";
import { api, model } from "../../lib/api.js";
import { time } from "../../lib/format.js";
import { useFollowed } from "../../lib/load.js";
import { classIndex, fail, labelRows, labelsVersion, link, modelName, properties, setProperty } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { ClassMark } from "../../parts/class_mark.js";

const MOST_SHOWN = 20;
const MOST_SETTLED = 2000;

function newest(one) {
  return Math.max(...one.labels.map((given) => given.time));
}

/** Settled rows by number, with the time of the newest answer; a newer answer reopens the question. */
function settled() {
  const kept = properties.value.settled;
  return kept !== null && typeof kept === "object" ? kept : {};
}

async function settle(one, label) {
  if (String(one.in_force) !== String(label)) await labelRows([one.row], label, { previous: [one.in_force] });
  const entries = Object.entries(settled()).slice(1 - MOST_SETTLED);
  await setProperty("settled", { ...Object.fromEntries(entries), [one.row]: Date.now() / 1000 });
}

function Disagreement({ one }) {
  const labels = [...new Map(one.labels.map((given) => [String(given.label), given.label])).values()];
  return html`<li class="disagreement">
    <a href=${link("understand", `sample/${one.row}`)}>${t("label.row_short", { row: String(one.row) })}</a>
    <ul>${one.labels.map((given) => html`<li key=${given.actor}>${given.actor}: <${ClassMark} index=${classIndex(given.label)} name=${given.label} />${" "}
      <span class="muted small">${time(given.time)}</span></li>`)}</ul>
    <div class="settle" role="group" aria-label=${t("label.settle_row", { row: String(one.row) })}>
      <span class="small muted">${t("label.settle")}</span>
      ${labels.map((label) => html`<button type="button" class="small" key=${String(label)} onClick=${() => settle(one, label).catch(fail)}>
        <${ClassMark} index=${classIndex(label)} name=${label} />
      </button>`)}
    </div>
  </li>`;
}

export function Disagreements() {
  const name = modelName.value;
  const found = useFollowed(() => api.get(model("/disagreements", name)), [name, labelsVersion.value]);
  const open = (found.value?.rows ?? []).filter((one) => !(settled()[one.row] >= newest(one)));
  return html`<section class="card" aria-labelledby="disagreements-title">
    <h2 id="disagreements-title">${t("label.disagreements")}</h2>
    ${open.length === 0
      ? html`<p class="muted small">${t("label.no_disagreements")}</p>`
      : html`<p class="small">${t("label.disagreements_text", { n: open.length })}</p>
        <ul class="disagreements">${open.slice(0, MOST_SHOWN).map((one) => html`<${Disagreement} key=${one.row} one=${one} />`)}</ul>`}
  </section>`;
}
