// The error limit, with the coverage of each choice before it is set.
import { html, useId, useState } from "../../lib/ui.js";
import { api, model } from "../../lib/api.js";
import { interval, percent, portion } from "../../lib/format.js";
import { fail, refresh, say } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { ShareBar } from "../../parts/charts.js";
import { CoverageChart, CoverageTable } from "./coverage_chart.js";

const NONE = "none";
const OTHER = "other";

/** The choice that is in force: a max_error of the list, none, or another one, such as one that holds on average. */
function inForce({ promise, options }) {
  if (!promise) return NONE;
  return options.some((one) => one.max_error === promise.max_error && one.confidence === promise.confidence) ? String(promise.max_error) : OTHER;
}

function Choice({ name, value, chosen, onChoose, isNow, disabled, children }) {
  return html`<label class=${disabled ? "limit disabled" : "limit"}>
    <input type="radio" name=${name} value=${value} checked=${chosen === value} disabled=${disabled} onChange=${() => onChoose(value)} />
    ${children}${isNow && html`<span class="chip">${t("trust.now")}</span>`}
  </label>`;
}

function Choices({ coverage, accuracy, now, chosen, onChoose }) {
  const name = useId();
  const one = (value, content, disabled = false) =>
    html`<${Choice} key=${value} name=${name} value=${value} chosen=${chosen} onChoose=${onChoose} isNow=${now === value} disabled=${disabled}>${content}<//>`;
  return html`<fieldset class="limits"><legend>${t("trust.limit")}</legend>
    <p class="muted small">${t("trust.limit_holds", { confidence: percent(coverage.options[0].confidence) })}</p>
    ${one(NONE, html`<span class="limit-name">${t("trust.no_limit")}</span>
      <span class="limit-means">${t("trust.no_limit_means", { error: percent(1 - accuracy.value) })}</span>`)}
    ${now === OTHER && one(OTHER, html`<span class="limit-name">${t("trust.other_limit")}</span><span class="limit-means">${coverage.promise.text}</span>`)}
    ${coverage.options.map((option) => one(String(option.max_error), html`<span class="limit-name">${t("trust.at_most", { share: percent(option.max_error) })}</span>
      <span class="limit-means">${option.possible
        ? html`<${ShareBar} value=${option.coverage} text=${t("trust.answers", { share: percent(option.coverage) })} label=${t("trust.answers", { share: percent(option.coverage) })} />
          <span class="muted small">${t("trust.on_average", { share: percent(option.coverage_on_average) })}</span>`
        : option.text}</span>`, !option.possible))}
  </fieldset>`;
}

function Now({ coverage }) {
  const { promise, in_force: set } = coverage;
  return html`<p role="status" class=${promise && !promise.holds ? "limit-broken" : ""}><strong>${t("trust.as_set")}</strong> ${promise ? promise.text : set ? "" : t("trust.answers_all")}
    ${set?.error != null && set.low !== null && html` ${t("trust.in_force", { coverage: percent(set.coverage), interval: interval({ value: set.error, low: set.low, high: set.high }) })}`}</p>`;
}

export function PromiseCard({ coverage, accuracy, again }) {
  const now = inForce(coverage);
  const [wanted, setWanted] = useState(null);
  const [busy, setBusy] = useState(false);
  const chosen = wanted ?? now;
  const option = coverage.options.find((one) => String(one.max_error) === chosen && one.possible) ?? null;
  const keep = async () => {
    setBusy(true);
    try {
      await api.patch(model(), { parameters: option ? { max_error: option.max_error, confidence: option.confidence } : { max_error: null } });
      say(t(chosen === NONE ? "trust.limit_removed" : "trust.limit_set", { share: option ? percent(option.max_error) : "" }));
      setWanted(null);
      again();
      await refresh();
    } catch (error) {
      fail(error);
    } finally {
      setBusy(false);
    }
  };
  return html`<section class="card" aria-labelledby="trust-promise">
    <h2 id="trust-promise">${t("trust.promise")}</h2>
    <p class="muted small">${t("trust.promise_text")}</p>
    <${CoverageChart} points=${coverage.points} chosen=${option} />
    <${CoverageTable} points=${coverage.points} />
    <${Now} coverage=${coverage} />
    <${Choices} coverage=${coverage} accuracy=${accuracy} now=${now} chosen=${chosen} onChoose=${setWanted} />
    <div class="limit-confirm" role="status">${chosen !== now && html`<p>${option
      ? t(option.coverage < 1 ? "trust.would" : "trust.would_all", { text: option.text, share: portion(1 - option.coverage) })
      : t("trust.would_none")}</p>`}</div>
    <div class="buttons">
      <button type="button" class="primary" disabled=${chosen === now || busy} aria-busy=${busy} onClick=${keep}>${t(chosen === NONE && now !== NONE ? "trust.remove_limit" : "trust.set_limit")}</button>
      ${chosen !== now && html`<button type="button" onClick=${() => setWanted(null)}>${t("common.cancel")}</button>`}
    </div>
  </section>`;
}
