// Novel rows and abstentions, one at a time, to be labelled.
import { html, useEffect, useState } from "../../lib/ui.js";
import { api, model } from "../../lib/api.js";
import { percent } from "../../lib/format.js";
import { useKeys } from "../../lib/keys.js";
import { useLoad } from "../../lib/load.js";
import { classIndex, classes, fail, labelRows, labelsVersion } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { MOST_KEYS } from "../../parts/class_buttons.js";
import { ClassMark } from "../../parts/class_mark.js";
import { Loading, Problem } from "../../parts/notices.js";
import { Tabs } from "../../parts/tabs.js";
import { OneSample } from "./one_sample.js";

const KINDS = ["novel", "abstained"];
const SORTS = { novel: { sort: "novelty", descending: true }, abstained: { sort: "probability", descending: false } };

function List({ samples, shown, onShow }) {
  return html`<div class="scroll watch-list" tabindex="0" role="group" aria-label=${t("watch.list")}><table>
    <thead><tr><th scope="col">${t("watch.row")}</th><th scope="col">${t("watch.label")}</th><th scope="col">${t("watch.predicted")}</th>
      <th scope="col" class="number">${t("watch.confidence")}</th><th scope="col" class="number">${t("watch.novelty")}</th></tr></thead>
    <tbody>${samples.map((one) => html`<tr key=${one.row} class=${one.row === shown ? "shown" : ""}>
      <th scope="row"><button type="button" class="quiet small" aria-current=${one.row === shown ? "true" : undefined} aria-label=${t("watch.show_row", { row: String(one.row) })} onClick=${() => onShow(one.row)}>
        <span class="pointer" aria-hidden="true">${one.row === shown ? "▸" : ""}</span>${one.row}</button></th>
      <td>${one.label === null ? html`<span class="muted">${t("common.no_label")}</span>` : html`<${ClassMark} index=${classIndex(one.label)} name=${one.label} />`}</td>
      <td><${ClassMark} index=${classIndex(one.class)} name=${one.class ?? t("watch.abstains")} /></td>
      <td class="number">${percent(one.probability)}</td><td class="number">${percent(one.novelty)}</td>
    </tr>`)}</tbody>
  </table></div>`;
}

function Queue({ kind, rows, features }) {
  const [given, setGiven] = useState({}); // labels that are on their way
  const [chosen, setChosen] = useState(null);
  const found = useLoad((signal) => api.post(model("/search"), { rows, ...SORTS[kind], limit: 200 }, { signal }), [rows.join(), kind, labelsVersion.value]);
  useEffect(() => setGiven({}), [found.value]);
  const samples = (found.value?.rows ?? []).map((one) => (one.row in given ? { ...one, label: given[one.row] } : one));
  const open = samples.filter((one) => one.label === null);
  const at = Math.max(0, samples.findIndex((one) => one.row === (chosen ?? open[0]?.row)));
  const one = samples[at] ?? null;
  useEffect(() => {
    if (one) setChosen(one.row); // rows that come must not change the sample that a key labels
  }, [one?.row]);
  const step = (by) => samples.length && setChosen(samples[(at + by + samples.length) % samples.length].row);
  const answer = (label) => {
    if (!one) return;
    const next = [...samples.slice(at + 1), ...samples.slice(0, at)].find((other) => other.label === null);
    setGiven((before) => ({ ...before, [one.row]: label }));
    if (label !== null && next) setChosen(next.row);
    labelRows([one.row], label, { previous: [one.label] }).catch((error) => {
      fail(error);
      setGiven(({ [one.row]: _, ...others }) => others);
    });
  };
  useKeys([
    ...classes.value.slice(0, MOST_KEYS).map((name, i) => ({ key: String(i + 1), text: t("watch.key_label", { label: name }), disabled: !one, run: () => answer(name) })),
    { key: "n", text: t("watch.key_next"), disabled: !one, run: () => step(1) },
    { key: "p", text: t("watch.key_previous"), disabled: !one, run: () => step(-1) },
  ]);
  if (found.error) return html`<${Problem} error=${found.error} again=${found.again} />`;
  if (!found.value) return html`<${Loading} />`;
  if (!one) return null;
  return html`<${OneSample} one=${one} features=${features} onAnswer=${answer} onStep=${step} />
    <p class="small muted" role="status">${t("watch.open_rows", { n: open.length, of: samples.length })}</p>
    <${List} samples=${samples} shown=${one.row} onShow=${setChosen} />`;
}

export function SamplesCard({ watch }) {
  const [chosen, setChosen] = useState(null);
  const kind = chosen ?? (watch.novel.n === 0 && watch.abstained.n > 0 ? "abstained" : "novel");
  const part = watch[kind];
  const tabs = KINDS.map((name) => ({ name: `watch-${name}`, text: t(`watch.tabs.${name}`, { n: watch[name].n }), run: () => setChosen(name) }));
  return html`<section class="card" aria-labelledby="watch-samples">
    <h2 id="watch-samples">${t("watch.samples")}</h2>
    <p class="muted small">${t(`watch.samples_text.${kind}`)}</p>
    <${Tabs} tabs=${tabs} shown=${`watch-${kind}`} label=${t("watch.samples")} panel="watch-panel" />
    <div id="watch-panel" role="tabpanel" aria-labelledby=${`tab-watch-${kind}`}>
      ${part.rows.length === 0 ? html`<p class="muted watch-none">${t(`watch.none.${kind}`)}</p>`
        : html`<${Queue} key=${kind} kind=${kind} rows=${part.rows} features=${watch.features} />`}
      ${part.rows.length < part.n && html`<p class="small muted">${t("watch.first_rows", { n: part.rows.length })}</p>`}
    </div>
  </section>`;
}
