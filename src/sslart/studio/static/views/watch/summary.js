// The compared rows, and the result as one sentence and three numbers.
import { html } from "../../lib/ui.js";
import { number, percent } from "../../lib/format.js";
import { t } from "../../lib/texts.js";

const LAST = [50, 200, 1000, 10_000];

function Controls({ stream }) {
  if (stream.table !== null) {
    return html`<div class="watch-controls">
      <span>${t("watch.of_table", { file: stream.table, first: String(stream.value.first), last: String(stream.value.last) })}</span>
      <button type="button" onClick=${stream.showStream}>${t("watch.to_stream")}</button>
    </div>`;
  }
  return html`<div class="watch-controls">
    <label>${t("watch.compare")}
      <select value=${stream.last} onChange=${(event) => stream.setLast(event.target.value)}>
        <option value="">${t("watch.since_fit")}</option>
        ${LAST.map((n) => html`<option key=${n} value=${String(n)}>${t("watch.last_rows", { n })}</option>`)}
      </select></label>
    <button type="button" aria-pressed=${stream.isPaused} onClick=${() => stream.pause(!stream.isPaused)}>
      <svg class="pause-sign" viewBox="0 0 12 12" aria-hidden="true"><path d=${stream.isPaused ? "M2 1l9 5-9 5z" : "M2 1h3v10H2zM7 1h3v10H7z"} /></svg>
      ${t(stream.isPaused ? "watch.go_on" : "watch.pause")}
    </button>
    <span class="small muted">${stream.isPaused ? t("watch.paused", { n: stream.missed }) : t("watch.follows")}</span>
  </div>`;
}

function Figure({ name, value, of, warns }) {
  return html`<div class=${warns ? "figure warns" : "figure"}><dt>${name}</dt>
    <dd><strong class="number">${value}</strong> <span class="small muted">${of}</span></dd></div>`;
}

function range({ of, low, high }) {
  return low === null ? "" : t("watch.share_of", { n: of, low: percent(low), high: percent(high) });
}

export function SummaryCard({ stream }) {
  const watch = stream.value;
  const n = watch.features.filter((one) => one.has_drifted).length;
  return html`<section class="card" aria-labelledby="watch-summary">
    <h2 id="watch-summary">${t("watch.summary")}</h2>
    <${Controls} stream=${stream} />
    ${watch.isOlder && html`<p class="watch-older small">${t("watch.older", { row: String(watch.first) })}
      <button type="button" class="small" onClick=${stream.beginAnew}>${t("watch.begin_anew")}</button></p>`}
    <p role="status">${watch.n_rows === 0 ? t("watch.no_rows") : watch.text}</p>
    ${watch.n_rows > 0 && html`<dl class="figures">
      <${Figure} name=${t("watch.rows")} value=${number(watch.n_rows)} of=${t("watch.against", { n: watch.compared_with })} />
      <${Figure} name=${t("watch.changed_features")} value=${number(n)} of=${t("watch.of_features", { n: watch.features.length })} warns=${n > 0} />
      <${Figure} name=${t("watch.novel")} value=${number(watch.novel.n)} of=${range(watch.novel)} warns=${watch.novel.is_more} />
      <${Figure} name=${t("watch.abstained")} value=${number(watch.abstained.n)} of=${range(watch.abstained)} />
    </dl>
    <p class="small muted">${t(watch.novel.when_sent ? "watch.when_sent" : "watch.by_model_now")}</p>`}
  </section>`;
}
