// What if: change values of a sample and watch the probabilities. Outdated responses are dropped.
import { html, useEffect, useRef, useSignal } from "../../lib/ui.js";
import { api, model } from "../../lib/api.js";
import { percent } from "../../lib/format.js";
import { useLoaded } from "../../lib/loaded.js";
import { classIndex, samples, sequence } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { ClassMark, classColour } from "../../parts/class_mark.js";
import { Loading, Problem } from "../../parts/notices.js";
import { Prediction } from "./contributions.js";
import { ValueField } from "./value_field.js";

const DELAY = 40;
const FIRST = 12;

/** Predictions of changing cells; the last one is shown until the next arrives. */
function usePrediction(cells) {
  const found = useSignal({ prediction: null, error: null });
  const last = useRef(0);
  useEffect(() => {
    const mine = ++last.current;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      api.post(model("/predict"), { rows: [cells] }, { signal: stop.signal }).then(
        (answer) => mine === last.current && (found.value = { prediction: answer.predictions[0], error: null }),
        (error) => mine === last.current && error?.name !== "AbortError" && (found.value = { ...found.value, error }),
      );
    }, DELAY);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [cells, sequence.value]);
  return found.value;
}

/** `before` is the prediction for `cells`, once it is known. */
export function WhatIf({ cells, changed, before }) {
  const showsAll = useSignal(false);
  const now = usePrediction(changed.value);
  const order = useOrder(cells);
  const features = [...samples.value.features].sort((a, b) => (order.get(b.name) ?? 0) - (order.get(a.name) ?? 0));
  const shown = showsAll.value ? features : features.slice(0, FIRST);
  const isChanged = features.some((one) => changed.value[one.name] !== cells[one.name]);
  return html`<section class="card what-if" aria-labelledby="what-if-title">
    <div class="what-if-head"><h2 id="what-if-title">${t("understand.what_if")}</h2>
      <button type="button" class="small" disabled=${!isChanged} onClick=${() => (changed.value = { ...cells })}>${t("understand.reset")}</button></div>
    <p class="muted small">${t("understand.what_if_text")}</p>
    ${now.error && html`<${Problem} error=${now.error} />`}
    ${now.prediction ? html`<div class="what-if-now"><div role="status"><${Prediction} prediction=${now.prediction} /></div><${Probabilities} now=${now.prediction} before=${before} /></div>` : html`<${Loading} />`}
    <div class="what-if-fields">${shown.map((feature) => html`<${ValueField} key=${feature.name} feature=${feature} before=${cells[feature.name] ?? null} value=${changed.value[feature.name] ?? null}
      onValue=${(value) => (changed.value = { ...changed.value, [feature.name]: value })} />`)}</div>
    ${features.length > FIRST && html`<button type="button" class="quiet small" aria-expanded=${showsAll.value} onClick=${() => (showsAll.value = !showsAll.value)}>
      ${showsAll.value ? t("understand.show_first", { n: FIRST }) : t("understand.show_all", { n: features.length })}</button>`}
  </section>`;
}

/** Importance of each feature for this sample, the most important first. */
function useOrder(cells) {
  const { data } = useLoaded((stop) => api.post(model("/contributions"), { rows: [cells] }, { signal: stop }), [cells]);
  return new Map((data?.features ?? []).map((name, at) => [name, Math.max(...data.values[0][at].map(Math.abs))]));
}

function Probabilities({ now, before }) {
  return html`<ul class="probabilities">${Object.entries(now.probabilities).map(([name, value]) => {
    const old = before?.probabilities[name];
    const index = classIndex(name);
    return html`<li key=${name}><${ClassMark} index=${index} name=${name} />
      <svg viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label=${t("understand.probability_words", { class: name, now: percent(value, 1), before: percent(old, 1) })}>
        <rect width="100" height="10" fill="var(--track)" /><rect width=${100 * value} height="10" fill=${classColour(index)} />
        ${old !== undefined && html`<rect x=${Math.min(99.2, 100 * old)} width="0.8" height="10" fill="var(--text)" />`}
      </svg><span class="number">${percent(value, 1)}</span></li>`;
  })}</ul>`;
}
