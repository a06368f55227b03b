// Histogram of values before (outline) and now (bars), as shares.
import { html } from "../../lib/ui.js";
import { cell, percent } from "../../lib/format.js";
import { t } from "../../lib/texts.js";

const [WIDTH, HEIGHT] = [160, 40];
const MOST_CATEGORIES = 4;

function sharesOf({ histogram, n }) {
  return histogram.map((one) => one / Math.max(1, n));
}

export function NumbersCompared({ before, now, feature }) {
  const edges = before.edges.length ? before.edges : now.edges;
  if (!edges.length) return html`<span class="muted">${t("common.none")}</span>`;
  const [old, fresh] = [sharesOf(before), sharesOf(now)];
  const n = Math.max(old.length, fresh.length);
  const most = Math.max(1e-9, ...old, ...fresh);
  const width = WIDTH / n;
  const tall = (share) => HEIGHT - 1 - (HEIGHT - 2) * (share / most);
  const outline = old.map((one, at) => `L${(at * width).toFixed(1)} ${tall(one).toFixed(1)}L${((at + 1) * width).toFixed(1)} ${tall(one).toFixed(1)}`).join("");
  const words = t("watch.medians", { feature, before: before.median ?? t("common.none"), now: now.median ?? t("common.none") });
  return html`<div class="compared">
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label=${words}>
      ${fresh.map((one, at) => html`<rect key=${at} class="now-bar" x=${at * width + 0.5} y=${tall(one)} width=${Math.max(0.5, width - 1)} height=${HEIGHT - tall(one)} />`)}
      ${old.length > 0 && html`<path class="before-line" d=${`M0 ${HEIGHT}${outline}L${WIDTH} ${HEIGHT}`} />`}
    </svg>
    <div class="compared-range small muted"><span>${cell(edges[0], 20)}</span><span>${cell(edges.at(-1), 20)}</span></div>
  </div>`;
}

/** The categories that have changed most. */
function changesOf(before, now) {
  const found = new Map();
  for (const { value, share } of before.top) found.set(String(value), { value, before: share, now: 0 });
  for (const { value, share } of now.top) found.set(String(value), { before: 0, ...found.get(String(value)), value, now: share });
  return [...found.values()].sort((a, b) => Math.abs(b.now - b.before) - Math.abs(a.now - a.before));
}

export function CategoriesCompared({ before, now, feature }) {
  const changes = changesOf(before, now);
  return html`<ul class="compared-categories" aria-label=${t("watch.shares_of", { feature })}>
    ${changes.slice(0, MOST_CATEGORIES).map((one) => html`<li key=${String(one.value)}>
      <span class="compared-name" title=${String(one.value)}>${String(one.value)}</span>
      <svg viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">
        <rect class="track" y="2" width="100" height="8" /><rect class="now-bar" y="2" width=${100 * one.now} height="8" />
        <rect class="before-mark" x=${Math.min(98.5, 100 * one.before)} width="1.5" height="12" />
      </svg>
      <span class="number">${t("watch.from_to", { before: percent(one.before), now: percent(one.now) })}</span>
    </li>`)}
    ${changes.length > MOST_CATEGORIES && html`<li class="muted">${t("watch.more_categories", { n: changes.length - MOST_CATEGORIES })}</li>`}
  </ul>`;
}
