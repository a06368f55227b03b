/** The map on a canvas: draws what a worker has rasterised, moves it at once, and asks for sharper images. */

import { between, frameOf, HOME, panned, seenIn, toPixel, toPosition, viewAround, zoomed } from "./geometry.js";
import { listen } from "./gestures.js";
import { Lasso } from "./lasso.js";
import { Sheets } from "./sheets.js";
import { drawTicks } from "./ticks.js";

const MARGIN = { narrow: 20, wide: 46 };
const NARROW = 600;
const REACH = { mouse: 12, finger: 24 };
const REST = 90;
const FLIGHT = 220;

export class MapRenderer {
  #canvas;
  #context;
  #calls;
  #worker = new Worker(new URL("./raster_worker.js", import.meta.url), { type: "module" });
  #sheets = new Sheets((message) => this.#worker.postMessage(message));
  #answers = new Map();
  #next = 1;
  #view = HOME;
  #ratio = 1;
  #size = [0, 0];
  #frameAsked = 0;
  #restTimer = 0;
  #lasso = null;
  #boxes = null;
  #focused = -1;
  #awaitedStep = 0; // that was asked for while the boxes were on their way
  #hovered = null;
  #hovering = false;
  #axes = { x: null, y: null };
  #look = null;
  #filled = false;
  #flight = null;
  #stop;
  #observer;
  tool = "pan";

  /** `calls`: hover(index, px, py), click(index, box), lasso(indices), box(index), choose(index), clear(), painted(). */
  constructor(canvas, calls) {
    this.#canvas = canvas;
    this.#context = canvas.getContext("2d");
    this.#calls = calls;
    this.#worker.onmessage = ({ data }) => this.#receive(data);
    this.#stop = listen(canvas, this.#actions(), () => this.tool);
    this.#observer = new ResizeObserver(() => this.#resize());
    this.#observer.observe(canvas);
    this.#resize();
  }

  /** Positions of all points, x and y in turn, each about 0 to 1; colours, masks, boxes and marks are to be set anew. */
  setPoints(xy, codes, rule) {
    this.#hovered = null;
    this.#boxes = null;
    this.#filled = true;
    this.#worker.postMessage({ type: "points", xy });
    this.setCodes(codes, rule);
  }

  /** One code (0 to 255) per point: the place of its colour. `rule`: which point colours a pixel that has several. */
  setCodes(codes, rule) {
    this.#worker.postMessage({ type: "codes", codes, rule });
    this.#changed();
  }

  /** Colours of the codes (Uint32Array), and {ink, paper, outlines: css colours by code, shapes: [{path, box}], hollow}. */
  setLook(colours, look) {
    this.#look = look;
    this.#worker.postMessage({ type: "look", colours, look });
    this.#changed();
  }

  /** Uint8Array with 1 where a point is hidden, or null. */
  setHidden(mask) {
    this.#worker.postMessage({ type: "hidden", mask });
    this.#changed();
  }

  /** Uint8Array with 1 where a point is selected, or null: the others are dimmed. */
  setSelected(mask) {
    this.#worker.postMessage({ type: "selected", mask });
    this.#changed();
  }

  /** Rectangles of boxes (Float32Array: x0, y0, x1, y1 of each) with their colours; `drawn`: whether their outlines show. */
  setBoxes(rectangles, codes, drawn) {
    this.#boxes = rectangles;
    this.#focused = Math.min(this.#focused, codes.length - 1);
    this.#worker.postMessage({ type: "boxes", rectangles: drawn ? rectangles : null, codes });
    this.#changed();
    if (this.#awaitedStep) this.stepBox(this.#awaitedStep);
  }

  /** Labelled samples: positions (x and y in turn), the class and the index of each. */
  setMarks(xy, classes, at) {
    this.#worker.postMessage({ type: "marks", xy, classes, at });
    this.#changed();
  }

  /** Functions from the range that is seen to [{at, text}], or null. */
  setAxes(x, y) {
    this.#axes = { x, y };
    this.#draw();
  }

  get view() {
    return this.#view;
  }

  set view(view) {
    this.#flight = null;
    this.#move(view);
  }

  /** Zooms around the middle. */
  zoomBy(factor) {
    this.view = zoomed(this.#view, this.#frame(), factor, this.#size[0] / 2, this.#size[1] / 2);
  }

  home() {
    this.#fly(HOME);
  }

  /** Goes to the next box, or with -1 to the one before, and tells which it is. */
  stepBox(by) {
    const n = (this.#boxes?.length ?? 0) / 4;
    this.#awaitedStep = n ? 0 : by;
    if (!n) return;
    this.#focused = this.#focused < 0 ? (by > 0 ? 0 : n - 1) : (this.#focused + by + n) % n;
    this.#fly(this.#toSee(this.#boxes.subarray(4 * this.#focused, 4 * this.#focused + 4)));
    this.#calls.box(this.#focused);
    this.#draw();
  }

  /** Indices of the points inside a polygon of positions: [x, y, x, y, …]. */
  inside(polygon) {
    return this.#ask({ type: "lasso", polygon });
  }

  close() {
    this.#stop();
    this.#observer.disconnect();
    this.#worker.terminate();
    this.#sheets.close();
    clearTimeout(this.#restTimer);
    cancelAnimationFrame(this.#frameAsked);
  }

  #frame(ratio = 1) {
    return this.#frameOf(this.#view, ratio);
  }

  #frameOf(view, ratio) {
    const [width, height] = this.#size;
    const margin = width < NARROW ? MARGIN.narrow : MARGIN.wide;
    return frameOf(view, Math.round(width * ratio), Math.round(height * ratio), margin * ratio);
  }

  #toSee(rectangle) {
    const seen = seenIn(this.#frame());
    const [x0, y0, x1, y1] = rectangle;
    const inside = x0 >= seen.x0 && x1 <= seen.x1 && y0 >= seen.y0 && y1 <= seen.y1;
    const large = Math.max((x1 - x0) / (seen.x1 - seen.x0), (y1 - y0) / (seen.y1 - seen.y0)) > 0.02;
    return inside && large ? this.#view : viewAround(rectangle);
  }

  #resize() {
    const { clientWidth, clientHeight } = this.#canvas;
    if (!clientWidth || !clientHeight) return;
    this.#ratio = window.devicePixelRatio || 1;
    this.#size = [clientWidth, clientHeight];
    this.#canvas.width = Math.round(clientWidth * this.#ratio);
    this.#canvas.height = Math.round(clientHeight * this.#ratio);
    this.#paint();
    this.#changed();
  }

  #changed() {
    if (!this.#size[0] || !this.#filled) return;
    this.#sheets.outdate(this.#frameOf(HOME, this.#ratio), this.#ratio);
    this.#sheets.want(this.#frame(this.#ratio), this.#ratio);
  }

  #move(view) {
    if (!this.#filled) return;
    this.#view = view;
    this.#sheets.want(this.#frame(this.#ratio), this.#ratio, true);
    clearTimeout(this.#restTimer);
    this.#restTimer = setTimeout(() => {
      this.#sheets.want(this.#frame(this.#ratio), this.#ratio);
    }, REST);
    this.#draw();
  }

  #fly(to) {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.#move(to);
      return;
    }
    const from = this.#view;
    const start = performance.now();
    const flight = (this.#flight = () => {
      if (this.#flight !== flight) return;
      const share = Math.min(1, (performance.now() - start) / FLIGHT);
      this.#move(between(from, to, 1 - (1 - share) ** 3));
      if (share < 1) requestAnimationFrame(flight);
    });
    flight();
  }

  #draw() {
    if (this.#frameAsked) return;
    this.#frameAsked = requestAnimationFrame(() => {
      this.#frameAsked = 0;
      this.#paint();
    });
  }

  #paint() {
    const context = this.#context;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
    this.#sheets.draw(context, this.#frame(this.#ratio));
    if (!this.#look) return;
    context.setTransform(this.#ratio, 0, 0, this.#ratio, 0, 0);
    const frame = this.#frame();
    drawTicks(context, frame, this.#axes, this.#look);
    if (this.#focused >= 0 && this.#boxes) this.#outline(context, frame);
    if (this.#hovered) this.#ring(context, frame);
    this.#lasso?.draw(context, this.#look);
  }

  #outline(context, frame) {
    const [x0, y0, x1, y1] = this.#boxes.subarray(4 * this.#focused, 4 * this.#focused + 4);
    const [left, top] = toPixel(frame, x0, y1);
    const [right, bottom] = toPixel(frame, x1, y0);
    const rectangle = [left - 3, top - 3, right - left + 6, bottom - top + 6];
    context.lineWidth = 5;
    context.strokeStyle = this.#look.paper;
    context.strokeRect(...rectangle);
    context.lineWidth = 2.5;
    context.strokeStyle = this.#look.ink;
    context.strokeRect(...rectangle);
  }

  #ring(context, frame) {
    const [px, py] = toPixel(frame, this.#hovered.x, this.#hovered.y);
    context.beginPath();
    context.arc(px, py, 7, 0, 2 * Math.PI);
    context.lineWidth = 2;
    context.strokeStyle = this.#look.ink;
    context.stroke();
  }

  #receive(data) {
    if (data.type === "image") {
      this.#sheets.take(data);
      this.#paint();
      if (data.purpose === "crisp") this.#calls.painted?.();
      return;
    }
    this.#answers.get(data.id)?.(data.value);
    this.#answers.delete(data.id);
  }

  #ask(message) {
    const id = this.#next++;
    this.#worker.postMessage({ ...message, id });
    return new Promise((resolve) => {
      this.#answers.set(id, resolve);
    });
  }

  /** The smallest box that holds a pixel; -1: none. */
  #boxAt(px, py) {
    const [x, y] = toPosition(this.#frame(), px, py);
    const boxes = this.#boxes ?? [];
    let [found, least] = [-1, Infinity];
    for (let i = 0; i < boxes.length; i += 4) {
      if (x < boxes[i] || x > boxes[i + 2] || y < boxes[i + 1] || y > boxes[i + 3]) continue;
      const area = (boxes[i + 2] - boxes[i]) * (boxes[i + 3] - boxes[i + 1]);
      if (area < least) [found, least] = [i / 4, area];
    }
    return found;
  }

  #pick(px, py, isFinger = false) {
    return this.#ask({ type: "pick", px, py, frame: this.#frame(), radius: isFinger ? REACH.finger : REACH.mouse });
  }

  async #hover(px, py) {
    if (this.#hovering) return;
    this.#hovering = true;
    const index = await this.#pick(px, py);
    this.#hovering = false;
    const at = this.#calls.hover(index, px, py);
    if (!at && !this.#hovered) return;
    this.#hovered = at ?? null;
    this.#draw();
  }

  #actions() {
    return {
      pan: (dx, dy) => (this.view = panned(this.#view, this.#frame(), dx, dy)),
      zoom: (factor, px, py) => (this.view = zoomed(this.#view, this.#frame(), factor, px, py)),
      home: () => this.home(),
      hover: (px, py) => this.#hover(px, py),
      leave: () => {
        this.#hovered = null;
        this.#calls.hover(-1, 0, 0);
        this.#draw();
      },
      click: async (px, py, isFinger) => this.#calls.click(await this.#pick(px, py, isFinger), this.#boxAt(px, py)),
      lassoStart: (px, py) => (this.#lasso = new Lasso(px, py)),
      lassoMove: (px, py) => {
        this.#lasso?.add(px, py);
        this.#draw();
      },
      lassoEnd: async () => {
        const lasso = this.#lasso;
        this.#lasso = null;
        this.#draw();
        if (lasso?.drawn) this.#calls.lasso(await this.inside(lasso.polygon(this.#frame())));
      },
      lassoCancel: () => {
        this.#lasso = null;
        this.#draw();
      },
      step: (by) => this.stepBox(by),
      choose: () => this.#focused >= 0 && this.#calls.choose(this.#focused),
      clear: () => {
        this.#focused = -1;
        this.#calls.clear();
        this.#draw();
      },
    };
  }
}
