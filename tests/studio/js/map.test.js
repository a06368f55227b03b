// Geometry, colours, axes and points of the map: modules of the studio that need no page.
import assert from "node:assert/strict";
import { test } from "node:test";

import { HOME, between, frameOf, panned, seenIn, toPixel, toPosition, viewAround, zoomed } from "../../../src/sslart/studio/static/map/geometry.js";
import { Grid } from "../../../src/sslart/studio/static/map/grid.js";
import { Lasso } from "../../../src/sslart/studio/static/map/lasso.js";
import { cssColour, packed, rampColour } from "../../../src/sslart/studio/static/map/ramp.js";
import { axisOf } from "../../../src/sslart/studio/static/views/map/axes.js";

const near = (found, wanted, by = 1e-9) => found.forEach((one, at) => assert.ok(Math.abs(one - wanted[at]) <= by, `${found} is not ${wanted}`));

/** Numbers from 0 to 1 that are the same each time. */
function randoms(n, state = 1) {
  return Float32Array.from({ length: n }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  });
}

test("a pixel has one position, and home shows the unit square", () => {
  const frame = frameOf(HOME, 800, 600, 20);
  near(toPosition(frame, ...toPixel(frame, 0.3, 0.8)), [0.3, 0.8]);
  near(toPixel(frame, 0, 0), [20, 580]);
  near(toPixel(frame, 1, 1), [780, 20]);
  const seen = seenIn(frame);
  assert.ok(seen.x0 < 0 && seen.x1 > 1 && seen.y0 < 0 && seen.y1 > 1);
});

test("zooming keeps the position under the pointer, panning moves by pixels", () => {
  const view = { x: 0.4, y: 0.6, zoom: 3 };
  const frame = frameOf(view, 800, 600, 20);
  const nearer = zoomed(view, frame, 2, 300, 200);
  assert.equal(nearer.zoom, 6);
  near(toPosition(frameOf(nearer, 800, 600, 20), 300, 200), toPosition(frame, 300, 200));
  near(toPosition(frameOf(panned(view, frame, 10, -5), 800, 600, 20), 310, 195), toPosition(frame, 300, 200));
});

test("views have limits", () => {
  const frame = frameOf(HOME, 800, 600, 20);
  assert.equal(zoomed(HOME, frame, 1e9, 400, 300).zoom, 20000);
  assert.equal(zoomed(HOME, frame, 1e-9, 400, 300).zoom, 0.5);
  near([panned(HOME, frame, 1e6, 0).x, panned(HOME, frame, 0, 1e6).y], [-0.1, 1.1]);
  const around = viewAround([0.2, 0.2, 0.3, 0.4]);
  near([around.x, around.y, around.zoom], [0.25, 0.3, 2]);
  assert.equal(viewAround([0.5, 0.5, 0.5, 0.5]).zoom, 200);
});

test("a flight begins and ends at its views, and zooms evenly", () => {
  const [from, to] = [{ x: 0, y: 0, zoom: 1 }, { x: 1, y: 0.5, zoom: 100 }];
  near(Object.values(between(from, to, 0)), Object.values(from));
  near(Object.values(between(from, to, 1)), Object.values(to), 1e-9 * 100);
  near([between(from, to, 0.5).zoom], [10], 1e-9 * 100);
});

test("the grid finds what a search of all points finds", () => {
  const xy = randoms(4000);
  const [grid, frame] = [new Grid(xy), frameOf(HOME, 400, 400, 0)];
  const hidden = grid.sorted(Uint8Array.from({ length: 2000 }, (_, i) => Number(i % 3 === 0)), new Uint8Array(2000));
  assert.equal(grid.count(-1, -1, 2, 2), 2000);
  for (let i = 0; i < 20; i++) {
    const [x, y] = randoms(2, i + 7);
    const distances = Array.from({ length: 2000 }, (_, at) => (at % 3 === 0 ? Infinity : Math.hypot(xy[2 * at] - x, xy[2 * at + 1] - y)));
    const least = Math.min(...distances);
    assert.equal(grid.nearest(x, y, frame, 400, hidden), distances.indexOf(least));
    assert.equal(grid.nearest(x, y, frame, 399 * least, hidden), -1);
  }
});

test("a lasso holds what lies inside", () => {
  const xy = randoms(4000);
  const grid = new Grid(xy);
  const inside = [...grid.inside([0.2, 0.1, 0.7, 0.1, 0.7, 0.6, 0.2, 0.6], null)];
  const wanted = Array.from({ length: 2000 }, (_, i) => i).filter((i) => xy[2 * i] > 0.2 && xy[2 * i] < 0.7 && xy[2 * i + 1] > 0.1 && xy[2 * i + 1] < 0.6);
  assert.deepEqual(inside, wanted);
  assert.deepEqual([...grid.inside([0.2, 0.2, 0.2, 0.2], null)], []);
});

test("a lasso of many corners is simplified, and a click is none", () => {
  const lasso = new Lasso(0, 0);
  lasso.add(1, 1);
  assert.ok(!lasso.drawn);
  for (let i = 0; i < 1000; i++) lasso.add(200 + 190 * Math.cos(i), 200 + 190 * Math.sin(i));
  assert.ok(lasso.drawn);
  const corners = lasso.polygon(frameOf(HOME, 400, 400, 0));
  assert.ok(corners.length <= 600 && corners.length > 400);
  assert.ok(corners.every((one) => one >= 0 && one <= 1));
});

test("colours of values go from end to end, and stand out from the background", () => {
  assert.deepEqual(rampColour(1, true), [253, 231, 37]);
  assert.deepEqual(rampColour(1, false), [68, 1, 84]);
  const brightness = (share, dark) => rampColour(share, dark).reduce((sum, one) => sum + one);
  for (let share = 0; share < 1; share += 0.1) {
    assert.ok(brightness(share + 0.1, true) > brightness(share, true) - 20);
    assert.ok(rampColour(share, false).every((one) => Number.isInteger(one) && one >= 0 && one <= 255));
  }
  assert.equal(cssColour([1, 2, 3]), "rgb(1, 2, 3)");
  assert.equal(packed([1, 2, 3]), 0x030201);
});

test("an axis of numbers ends at the lowest and highest", () => {
  const data = Float64Array.from({ length: 100 }, (_, i) => i + 0.5);
  const axis = axisOf({ kind: "number" }, data, 1);
  assert.equal(axis.place(0), 0);
  assert.equal(axis.place(99), 1);
  assert.deepEqual(axis.ticks(0, 1, 5).map((one) => one.text), ["20", "40", "60", "80"]);
  near(axis.ticks(0, 1, 5).map((one) => one.at), [19.5 / 99, 39.5 / 99, 59.5 / 99, 79.5 / 99]);
});

test("few values are scattered around each, and missing ones lie apart", () => {
  const data = Float64Array.from({ length: 60 }, (_, i) => (i % 4 === 3 ? NaN : i % 4));
  const axis = axisOf({ kind: "number" }, data, 2654435761);
  assert.deepEqual(axis.ticks(0, 1, 5).map((one) => one.text), ["missing", "0", "1", "2"]);
  const places = Array.from(data, (_, i) => axis.place(i));
  for (const value of [0, 1, 2]) {
    const own = places.filter((_, i) => data[i] === value);
    const middle = axis.ticks(0, 1, 5)[value + 1].at;
    assert.ok(own.every((one) => Math.abs(one - middle) < 0.5 * (0.91 / 3)) && new Set(own).size > 5);
  }
  assert.ok(places.filter((_, i) => Number.isNaN(data[i])).every((one) => one < 0.09));
});

test("categories and dates have words at the edge", () => {
  const colours = axisOf({ kind: "category", categories: ["red", "blue", "a very long name of a category"] }, Float64Array.of(0, 1, 2), 1);
  assert.deepEqual(colours.ticks(0, 1, 3).map((one) => one.text), ["red", "blue", "a very long nam…"]);
  assert.equal(colours.ticks(0, 1, 2).length, 2);
  const dates = axisOf({ kind: "date" }, Float64Array.of(19000, 19001), 1);
  assert.deepEqual(dates.ticks(0, 1, 5).map((one) => one.text), ["2022-01-08", "2022-01-09"]);
});
