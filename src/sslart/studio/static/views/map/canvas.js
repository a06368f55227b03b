// The map: canvas, pointer, and announcements for screen readers.
import { html, useEffect, useRef, useSignal } from "../../lib/ui.js";
import { classIndex, fail, samples } from "../../lib/state.js";
import { number, percent } from "../../lib/format.js";
import { useKeys } from "../../lib/keys.js";
import { t } from "../../lib/texts.js";
import { ClassMark } from "../../parts/class_mark.js";
import { Loading, Problem } from "../../parts/notices.js";
import { Drawing } from "./drawing.js";
import { change, selectBox, selection, settings } from "./state.js";
import { values } from "./values.js";

const ZOOM = 1.6;

/** `onDrawing` receives the drawing when it is ready, for the legend and the boxes. */
export function MapCanvas({ onDrawing }) {
  const canvas = useRef(null);
  const drawing = useRef(null);
  const hovered = useSignal(null);
  const told = useSignal("");
  useEffect(() => {
    drawing.current = new Drawing(canvas.current, callsOf(drawing, hovered, told));
    onDrawing(drawing.current);
    return () => drawing.current.close();
  }, []);
  const map = drawing.current;
  const key = (name, text, run) => ({ key: name, text: t(`map.keys.${text}`), run, repeats: true });
  const onMap = (name, text) => ({ key: name, shown: t(`map.keys.${name}`), text: t(`map.keys.${text}`), disabled: true }); // the canvas takes them
  useKeys([
    key("+", "zoom_in", () => map.renderer.zoomBy(ZOOM)),
    key("-", "zoom_out", () => map.renderer.zoomBy(1 / ZOOM)),
    key("0", "home", () => map.renderer.home()),
    key("]", "next_box", () => map.renderer.stepBox(1)),
    key("[", "previous_box", () => map.renderer.stepBox(-1)),
    key("l", "lasso", toggleLasso),
    onMap("arrows", "move"),
    onMap("enter", "select"),
    onMap("escape", "clear"),
  ]);
  return html`<div class="map-frame" data-tool=${settings.value.tool}>
    <canvas ref=${canvas} class="map-canvas" tabindex="0" role="application" aria-label=${t("map.canvas", { n: samples.value?.n ?? 0 })}
      aria-describedby="map-keys"></canvas>
    <p id="map-keys" class="visually-hidden">${t("map.canvas_keys")}</p>
    <p class="visually-hidden" role="status">${told.value}</p>
    ${map?.loading.value && html`<div class="map-loading"><${Loading} text=${t("map.loading")} /></div>`}
    ${map?.problem.value && html`<div class="map-loading"><${Problem} error=${map.problem.value} /></div>`}
    ${hovered.value && html`<${Hint} ...${hovered.value} />`}
    <${Tools} drawing=${drawing} />
  </div>`;
}

const toggleLasso = () => change({ tool: settings.value.tool === "lasso" ? "pan" : "lasso" });

function callsOf(drawing, hovered, told) {
  const boxAt = (at) => drawing.current.boxes.value[at];
  let lastHover = -2;
  return {
    hover(index, px, py) {
      if (index < 0) {
        lastHover = index;
        hovered.value = null;
        return null;
      }
      if (index !== lastHover) {
        lastHover = index;
        aboutSample(index).then((about) => index === lastHover && (hovered.value = { ...about, px, py }), fail);
      }
      const { xy } = drawing.current;
      return { x: xy[2 * index], y: xy[2 * index + 1] };
    },
    async click(index, at) {
      try {
        const box = index >= 0 ? (await values("box")).data[index] : boxAt(at)?.box;
        if (box === undefined || box < 0) selection.value = null;
        else await selectBox(box, index >= 0 ? (await values("row")).data[index] : null);
      } catch (error) {
        fail(error);
      }
    },
    async lasso(indices) {
      const { data: numbers } = await values("row");
      selection.value = indices.length ? { rows: Array.from(indices, (at) => numbers[at]), box: null, row: null } : null;
      if (settings.value.tool === "lasso") change({ tool: "pan" });
    },
    box(at) {
      told.value = wordsOf(boxAt(at), at, drawing.current.boxes.value.length);
    },
    choose: (at) => selectBox(boxAt(at).box).catch(fail),
    clear() {
      selection.value = null;
      told.value = t("map.cleared");
    },
  };
}

/** Description of a sample from the arrays, without a request for its cells. */
async function aboutSample(index) {
  const [numbers, guessed, given, sure] = await Promise.all(["row", "class", "label", "probability"].map((one) => values(one)));
  const name = (found) => (found.data[index] >= 0 ? found.classes[found.data[index]] : null);
  return { row: numbers.data[index], guess: name(guessed), label: name(given), probability: sure.data[index] };
}

function wordsOf(box, at, n) {
  const labels = Object.entries(box.labels ?? {}).map(([name, count]) => `${name}: ${number(count)}`).join(", ");
  const about = { at: at + 1, of: n, box: box.box, samples: t("common.samples", { n: box.n }), labels: labels || t("map.no_labels") };
  return box.class === null || box.class === undefined
    ? t("map.box_words_none", about)
    : t("map.box_words", { ...about, class: box.class, share: percent(box.probability) });
}

function Hint({ row, guess, label, probability, px, py }) {
  const place = (element) => {
    if (!element) return;
    const { clientWidth, clientHeight } = element.parentElement;
    element.style.left = `${Math.max(4, Math.min(px + 14, clientWidth - element.offsetWidth - 8))}px`;
    element.style.top = `${Math.max(4, Math.min(py + 14, clientHeight - element.offsetHeight - 8))}px`;
  };
  return html`<div class="map-hint" aria-hidden="true" ref=${place}>
    <strong>${t("map.row", { row: String(row) })}</strong>
    <span>${t("map.predicted")}: <${ClassMark} index=${classIndex(guess)} name=${guess ?? t("map.no_class")} />${guess !== null && ` ${percent(probability)}`}</span>
    <span>${t("map.label")}: <${ClassMark} index=${classIndex(label)} name=${label ?? t("common.no_label")} /></span>
  </div>`;
}

function Tools({ drawing }) {
  const zoom = (factor) => () => drawing.current.renderer.zoomBy(factor);
  const { tool } = settings.value;
  return html`<div class="map-tools" role="group" aria-label=${t("map.tools")}>
    <button type="button" class="icon" aria-pressed=${tool === "lasso"} aria-label=${t("map.lasso")} title=${t("map.lasso_title")}
      onClick=${toggleLasso}>
      <svg viewBox="0 0 16 16" aria-hidden="true"><path d="M8 2.5c3.6 0 6 1.7 6 4s-2.4 4-6 4c-1 0-2-.2-2.8-.4M5.2 10.1C3.2 9.4 2 8.1 2 6.5c0-2.3 2.4-4 6-4M5.2 10.1a1.5 1.5 0 1 0-2 1.5c0 1-.4 1.9-1.2 2.4" /></svg>
    </button>
    <button type="button" class="icon" aria-label=${t("map.zoom_in")} title=${t("map.zoom_in")} onClick=${zoom(ZOOM)}>+</button>
    <button type="button" class="icon" aria-label=${t("map.zoom_out")} title=${t("map.zoom_out")} onClick=${zoom(1 / ZOOM)}>−</button>
    <button type="button" class="icon" aria-label=${t("map.home")} title=${t("map.home")} onClick=${() => drawing.current.renderer.home()}>
      <svg viewBox="0 0 16 16" aria-hidden="true"><path d="M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4" /></svg>
    </button>
  </div>`;
}
