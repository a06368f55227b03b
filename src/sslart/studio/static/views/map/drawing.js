// Keeps a renderer in sync with the settings, filter, selection and model.
import { effect, signal } from "../../lib/ui.js";
import { api, model, pause } from "../../lib/api.js";
import { classIndex, classes, fail, labelsVersion, modelName, samples, sequence, theme } from "../../lib/state.js";
import { MapRenderer } from "../../map/renderer.js";
import { LAST } from "../../map/raster.js";
import { axisOf, SALTS } from "./axes.js";
import { codesOf, countsOf, lookOf, NONE, placesOf } from "./colours.js";
import { axisX, axisY, colour, features, filter, hiddenMask, outlines, selection, tool } from "./state.js";
import { afterLabels, indexOf, keepOnly, values } from "./values.js";

const AT_ONCE = 300_000; // more samples are drawn before their colours are asked for
const PATIENCE = 0.4; // seconds that fewer wait for them

/** The drawing of a map on a canvas: { renderer, boxes, counts, xy, loading } and `close()`. */
export class Drawing {
  boxes = signal([]);
  counts = signal(null);
  loading = signal(true);
  problem = signal(null);
  xy = null;
  #placed = signal(0);
  #codes = signal(null);
  #hidden = signal(null);
  #axes = [null, null];
  #names = [null, null];
  #outlines = signal(null);
  #stops = [];

  constructor(canvas, calls) {
    this.renderer = new MapRenderer(canvas, calls);
    this.renderer.setLook(...lookOf(colour.peek()));
    this.#follow(() => this.#place());
    this.#follow(() => this.#colour());
    this.#follow(() => this.#hide());
    this.#follow(() => this.#select());
    this.#follow(() => this.#outline());
    this.#follow(() => this.#mark());
    this.#stops.push(
      effect(() => {
        void [theme.value, classes.value];
        const name = colour.value;
        queueMicrotask(() => this.renderer.setLook(...lookOf(name))); // the page has the colours of a new theme by then
      }),
      effect(() => {
        if (this.#codes.value) this.counts.value = countsOf(this.#codes.value, this.#hidden.value);
      }),
      effect(() => {
        this.renderer.tool = tool.value;
      }),
      effect(() => {
        if (this.#outlines.value) this.renderer.setBoxes(...this.#outlines.value, outlines.value);
      }),
    );
  }

  /** Runs a step whenever a signal that it reads first changes; a step that was overtaken changes nothing. */
  #follow(step) {
    let run = 0;
    const stop = effect(() => {
      const mine = ++run;
      if (modelName.value === "") return; // the view is about to close
      step()
        .then((change) => mine === run && change?.())
        .catch((error) => mine === run && this.#failed(error));
    });
    this.#stops.push(() => {
      run++;
      stop();
    });
  }

  #failed(error) {
    if (this.#placed.peek()) fail(error);
    else this.problem.value = error;
    this.loading.value = false;
  }

  async #place() {
    const [x, y] = [axisX.value, axisY.value];
    const found = samples.value;
    if (!found?.n) return null;
    keepOnly([x, y]);
    const axes = x === null ? [null, null] : await Promise.all([axisFor(x, 0), axisFor(y, 1)]);
    const xy = x === null ? (await values("position")).data : placesAlong(axes, found.n);
    const known = found.n <= AT_ONCE ? await Promise.race([codesOf(colour.peek()), pause(PATIENCE)]) : null;
    return () => {
      this.xy = xy;
      this.#axes = axes;
      this.#names = [x, y];
      const { codes, rule } = known ?? { codes: new Uint8Array(found.n).fill(NONE), rule: LAST };
      this.renderer.setPoints(xy, codes, rule);
      this.renderer.setAxes(axes[0]?.ticks ?? null, axes[1]?.ticks ?? null);
      this.loading.value = false;
      this.problem.value = null;
      this.#placed.value++;
    };
  }

  async #colour() {
    const name = colour.value;
    void [sequence.value, labelsVersion.value, classes.value];
    if (!this.#placed.value) return null;
    const { codes, rule } = await codesOf(name);
    return () => {
      if (2 * codes.length !== this.xy.length) return;
      this.renderer.setCodes(codes, rule);
      this.#codes.value = codes;
    };
  }

  async #hide() {
    const wanted = filter.value;
    if (Object.keys(wanted).length) void [sequence.value, labelsVersion.value];
    if (!this.#placed.value) return null;
    const mask = await hiddenMask(wanted);
    return () => {
      this.renderer.setHidden(mask);
      this.#hidden.value = mask;
    };
  }

  async #select() {
    const chosen = selection.value;
    if (!this.#placed.value) return null;
    if (!chosen) return () => this.renderer.setSelected(null);
    const { data: numbers } = await values("row");
    const mask = new Uint8Array(numbers.length);
    for (const row of chosen.rows) {
      const at = indexOf(numbers, row);
      if (at >= 0) mask[at] = 1;
    }
    return () => this.renderer.setSelected(mask);
  }

  async #outline() {
    void [sequence.value, classes.value];
    if (!this.#placed.value) return null;
    const found = await afterLabels(() => boxesOf(...this.#names));
    return () => {
      const [across, up] = this.#axes;
      const rectangles = new Float32Array(4 * found.length);
      found.forEach((box, at) => {
        const [x0, x1] = across ? across.span(...box.x) : box.x;
        const [y0, y1] = up ? up.span(...box.y) : box.y;
        rectangles.set([x0, y0, x1, y1], 4 * at);
      });
      this.boxes.value = found;
      this.#outlines.value = [rectangles, Uint8Array.from(found, (box) => codeOf(box.class))];
    };
  }

  async #mark() {
    void [sequence.value, labelsVersion.value, classes.value];
    const hidden = this.#hidden.value;
    if (!this.#placed.value) return null;
    const given = await values("label");
    const places = placesOf(given.classes);
    const at = [];
    for (let i = 0; i < given.data.length; i++) if (given.data[i] >= 0 && !hidden?.[i]) at.push(i);
    const xy = new Float32Array(2 * at.length);
    at.forEach((i, k) => xy.set([this.xy[2 * i], this.xy[2 * i + 1]], 2 * k));
    const labels = Uint8Array.from(at, (i) => Math.max(0, places[given.data[i]]));
    return () => this.renderer.setMarks(xy, labels, Uint32Array.from(at));
  }

  close() {
    for (const stop of this.#stops) stop();
    this.renderer.close();
  }
}

const codeOf = (name) => {
  const index = classIndex(name);
  return index < 0 ? NONE : index;
};

async function axisFor(name, at) {
  const feature = features.value.find((one) => one.name === name);
  return axisOf(feature, (await values("feature", name)).data, SALTS[at]);
}

function placesAlong(axes, n) {
  const xy = new Float32Array(2 * n);
  axes.forEach((axis, side) => {
    for (let i = 0; i < n; i++) xy[2 * i + side] = axis.place(i);
  });
  return xy;
}

async function boxesOf(x, y) {
  const query = x === null ? "" : `?${new URLSearchParams({ x, y })}`;
  return (await api.get(model(`/boxes${query}`))).boxes;
}
