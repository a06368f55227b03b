// Legend of the colours, with the number of samples of each.
import { html } from "../../lib/ui.js";
import { number } from "../../lib/format.js";
import { classes, theme } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { cssColour, rampColour } from "../../map/ramp.js";
import { ClassMark } from "../../parts/class_mark.js";
import { isRamp, NONE } from "./colours.js";
import { settings } from "./state.js";

const STEPS = 24;

export function Legend({ drawing }) {
  const { colour } = settings.value;
  const counts = drawing?.counts.value ?? null;
  return html`<section class="map-legend" aria-label=${t("map.legend")}>
    ${isRamp(colour) ? html`<${Ramp} colour=${colour} />` : html`<${Classes} colour=${colour} counts=${counts} />`}
    <p class="muted small">${t(colour === "class" ? "map.legend_marks" : "map.legend_shapes")} ${settings.value.outlines ? t("map.legend_boxes") : ""}</p>
  </section>`;
}

function Classes({ colour, counts }) {
  const shown = (code) => (counts ? number(counts[code]) : "");
  return html`<ul class="map-legend-classes">
    ${classes.value.map((name, at) => html`<li key=${String(name)}><${ClassMark} index=${at} name=${name} /><span class="number muted">${shown(at)}</span></li>`)}
    ${counts?.[NONE] !== 0 && html`<li><svg class="map-none" viewBox="0 0 12 12" aria-hidden="true"><circle cx="6" cy="6" r="5" /></svg>
      ${t(colour === "label" ? "map.unlabelled" : "map.no_class")}<span class="number muted">${shown(NONE)}</span></li>`}
  </ul>`;
}

function Ramp({ colour }) {
  const dark = theme.value === "dark";
  return html`<div class="map-ramp">
    <span>${t(`map.colours.${colour}`)}</span>
    <span class="number">0</span>
    <svg viewBox="0 0 ${STEPS} 1" preserveAspectRatio="none" role="img" aria-label=${t(`map.ramp.${colour}`)}>
      ${Array.from({ length: STEPS }, (_, at) => html`<rect key=${at} x=${at} y="0" width="1.05" height="1" fill=${cssColour(rampColour(at / (STEPS - 1), dark))} />`)}
    </svg>
    <span class="number">1</span>
    <span class="muted small">${t(`map.ramp.${colour}`)}</span>
  </div>`;
}
