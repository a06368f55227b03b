/** The worker of the map: keeps the points, and answers with images, nearest points and what a lasso holds. */

import { seenIn, toPosition } from "./geometry.js";
import { Grid } from "./grid.js";
import { drawBoxes, drawMarks } from "./outlines.js";
import { LAST, Raster } from "./raster.js";

let grid = null;
let rule = LAST;
let colours = new Uint32Array(256);
let boxes = null;
let marks = null;
let look = null;
let chosen = null;
const layer = { codes: null, hidden: null, selected: null };
const raster = new Raster();
const sheets = new Map();

const sortedMask = (mask) => (mask && grid ? grid.sorted(mask, new Uint8Array(grid.n)) : null);

const take = {
  points({ xy }) {
    grid = new Grid(xy);
    layer.codes = new Uint8Array(grid.n);
    layer.hidden = layer.selected = null;
    boxes = marks = chosen = null;
  },
  codes(message) {
    rule = message.rule;
    grid.sorted(message.codes, layer.codes);
  },
  look(message) {
    colours = message.colours;
    look = message.look;
  },
  hidden({ mask }) {
    layer.hidden = sortedMask(mask);
  },
  selected({ mask }) {
    chosen = mask;
    layer.selected = sortedMask(mask);
  },
  boxes(message) {
    boxes = message.rectangles ? message : null;
  },
  marks(message) {
    marks = message.xy ? message : null;
  },
  image({ id, frame, pixelRatio, purpose }) {
    if (!grid) return;
    const seen = seenIn(frame);
    const context = sheet(purpose, frame.width, frame.height);
    context.putImageData(raster.paint(grid, layer, frame, seen, colours, rule, pixelRatio), 0, 0);
    if (boxes) drawBoxes(context, boxes, frame, pixelRatio, look, chosen !== null);
    if (marks) drawMarks(context, marks, frame, pixelRatio, look, chosen);
    const bitmap = context.canvas.transferToImageBitmap();
    postMessage({ type: "image", id, purpose, frame, bitmap }, { transfer: [bitmap] });
  },
  pick({ id, px, py, frame, radius }) {
    const [x, y] = toPosition(frame, px, py);
    postMessage({ type: "answer", id, value: grid ? grid.nearest(x, y, frame, radius, layer.hidden) : -1 });
  },
  lasso({ id, polygon }) {
    const value = grid ? grid.inside(polygon, layer.hidden) : new Uint32Array(0);
    postMessage({ type: "answer", id, value }, { transfer: [value.buffer] });
  },
};

function sheet(purpose, width, height) {
  let context = sheets.get(purpose);
  if (!context || context.canvas.width !== width || context.canvas.height !== height) {
    context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
    sheets.set(purpose, context);
  }
  return context;
}

onmessage = ({ data }) => take[data.type](data);
