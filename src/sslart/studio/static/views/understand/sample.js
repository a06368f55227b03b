// One sample: prediction, explanation, similar cases, what-if, and counterfactuals.
import { html, useEffect, useSignal } from "../../lib/ui.js";
import { api, model } from "../../lib/api.js";
import { useLoaded } from "../../lib/loaded.js";
import { classIndex, go, labelsVersion, samples, sequence } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { ClassMark } from "../../parts/class_mark.js";
import { Loading, Problem } from "../../parts/notices.js";
import { Contributions } from "./contributions.js";
import { Counterfactuals } from "./counterfactuals.js";
import { Similar } from "./similar.js";
import { WhatIf } from "./what_if.js";

export function Sample({ row }) {
  const { data, error, again } = useLoaded(
    row === "" ? null : (stop) => api.get(model(`/rows/${encodeURIComponent(row)}?by_number=true`), { signal: stop }), [row, labelsVersion.value],
  );
  return html`<${Chooser} row=${row} found=${data?.row ?? null} />
    ${error ? html`<${Problem} error=${error} again=${again} />` : row === "" ? html`<p class="muted">${t("understand.choose_text")}</p>`
      : !data ? html`<${Loading} />` : html`<${Chosen} key=${data.row} found=${data} />`}`;
}

function Chooser({ row, found }) {
  const text = useSignal(row);
  useEffect(() => {
    text.value = row;
  }, [row]);
  const open = (one) => go("understand", `sample/${one}`);
  const submit = (event) => {
    event.preventDefault();
    const which = text.value.trim();
    if (which) api.get(model(`/rows/${encodeURIComponent(which)}`)).then((one) => open(one.row), () => open(which));
  };
  const step = (by) => html`<button type="button" disabled=${found === null || found + by < 0 || found + by >= samples.value.n} onClick=${() => open(found + by)}>${t(by < 0 ? "understand.previous" : "understand.next")}</button>`;
  return html`<form class="card sample-chooser" onSubmit=${submit}>
    <label class="field">${t("understand.row_or_id")}<input type="text" maxlength="200" value=${text.value} onInput=${(event) => (text.value = event.target.value)} /></label>
    <button type="submit" class="primary">${t("understand.open")}</button>${step(-1)}${step(1)}
    <button type="button" class="quiet" disabled=${!samples.value.n} onClick=${() => open(Math.floor(Math.random() * samples.value.n))}>${t("understand.any")}</button>
  </form>`;
}

function Chosen({ found }) {
  const changed = useSignal({ ...found.cells });
  const { data } = useLoaded((stop) => api.post(model("/predict"), { rows: [found.cells] }, { signal: stop }), [found.cells, sequence.value]);
  const prediction = data?.predictions[0];
  return html`<div class="sample-grid">
    <div class="stack">
      <section class="card" aria-labelledby="sample-title">
        <h2 id="sample-title">${t("understand.row_title", { row: String(found.row) })}</h2>
        <p>${t("understand.label")}: <${ClassMark} index=${classIndex(found.label)} name=${found.label ?? t("common.no_label")} /></p>
        <${Contributions} cells=${found.cells} />
      </section>
      <${Similar} cells=${found.cells} row=${found.row} />
    </div>
    <div class="stack">
      <${WhatIf} cells=${found.cells} changed=${changed} before=${prediction} />
      <${Counterfactuals} cells=${found.cells} prediction=${prediction} onTry=${(cells) => (changed.value = cells)} />
    </div>
  </div>`;
}
