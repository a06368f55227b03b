/** Measures the map: from arrays at hand to the first image, and the time between frames of a scripted pan and zoom. */

import { HOME } from "/map/geometry.js";
import { MapRenderer } from "/map/renderer.js";
import { packed, rampColour } from "/map/ramp.js";

const nothing = () => null;
const calls = { hover: nothing, click: nothing, lasso: nothing, box: nothing, choose: nothing, clear: nothing };

/** Positions in clusters, as boxes make them, with a class for each. */
function points(n, classes) {
  const xy = new Float32Array(2 * n);
  const codes = new Uint8Array(n);
  for (let i = 0; i < n; i++) {
    const group = Math.floor(Math.random() * 60);
    const spread = 0.01 + 0.05 * ((group * 7) % 10) * 0.1;
    xy[2 * i] = ((group * 37) % 60) / 66 + 0.05 + (Math.random() + Math.random() - 1) * spread;
    xy[2 * i + 1] = ((group * 23) % 60) / 66 + 0.05 + (Math.random() + Math.random() - 1) * spread;
    codes[i] = group % classes;
  }
  return { xy, codes };
}

function look() {
  const colours = Uint32Array.from({ length: 256 }, (_, i) => packed(rampColour((i % 12) / 12, false)));
  const shapes = [{ path: "M6 1A5 5 0 1 1 6 11A5 5 0 1 1 6 1Z", box: 12 }];
  return [colours, { ink: "#111", paper: "#fff", outlines: Array(256).fill("#333"), shapes }];
}

function boxes(n) {
  const rectangles = new Float32Array(4 * n);
  for (let i = 0; i < n; i++) {
    const [x, y, side] = [Math.random(), Math.random(), 0.002 + 0.03 * Math.random()];
    rectangles.set([x, y, x + side, y + side], 4 * i);
  }
  return rectangles;
}

const steps = {
  pan: (share) => ({ x: 0.5 + 0.3 * Math.sin(6 * share), y: 0.5 + 0.2 * Math.cos(9 * share), zoom: 3 }),
  zoom: (share) => ({ x: 0.45, y: 0.5, zoom: Math.exp(4.5 * Math.sin(Math.PI * share)) }),
};

/** Moves for `seconds`, once per frame; returns the times between frames, in milliseconds. */
function moved(map, step, seconds) {
  return new Promise((resolve) => {
    const intervals = [];
    const start = performance.now();
    let last = 0;
    const frame = (now) => {
      if (last) intervals.push(now - last);
      last = now;
      const share = (performance.now() - start) / (1000 * seconds);
      if (share >= 1) return resolve(intervals);
      map.view = step(share);
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
}

window.measure = async (n, seconds, nBoxes, nLabels) => {
  let painted;
  const map = new MapRenderer(document.querySelector("canvas"), { ...calls, painted: () => painted?.() });
  const { xy, codes } = points(n, 12);
  const next = () => new Promise((resolve) => (painted = resolve));
  map.setLook(...look());
  const first = next();
  const start = performance.now();
  map.setPoints(xy, codes, 0);
  await first;
  await new Promise(requestAnimationFrame);
  const firstPaint = performance.now() - start;
  map.setBoxes(boxes(nBoxes), new Uint8Array(nBoxes), true);
  map.setMarks(xy.slice(0, 2 * nLabels), codes.slice(0, nLabels), Uint32Array.from({ length: nLabels }, (_, at) => at));
  await next();
  const result = { firstPaint };
  for (const [name, step] of Object.entries(steps)) result[name] = await moved(map, step, seconds);
  map.view = HOME;
  await new Promise((resolve) => setTimeout(resolve, 500));
  const again = next();
  const recolour = performance.now();
  map.setCodes(codes, 0);
  await again;
  result.recolour = performance.now() - recolour;
  const lasso = performance.now();
  result.inLasso = (await map.inside([0.1, 0.1, 0.9, 0.2, 0.8, 0.9, 0.2, 0.7])).length;
  result.lasso = performance.now() - lasso;
  map.close();
  return result;
};
