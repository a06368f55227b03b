/** A line drawn by hand around points, simplified so that testing points against it is cheap. */

import { toPosition } from "./geometry.js";

const STEP = 3;
const MAX_CORNERS = 300;

export class Lasso {
  #points;

  constructor(px, py) {
    this.#points = [px, py];
  }

  /** Adds a corner, unless the pointer has hardly moved. */
  add(px, py) {
    const n = this.#points.length;
    if (Math.hypot(px - this.#points[n - 2], py - this.#points[n - 1]) >= STEP) this.#points.push(px, py);
  }

  /** Whether it was drawn at all: a click is no lasso. */
  get drawn() {
    return this.#points.length >= 6;
  }

  /** The polygon in positions: [x, y, x, y, …]. */
  polygon(frame) {
    const every = Math.ceil(this.#points.length / 2 / MAX_CORNERS);
    const corners = [];
    for (let i = 0; i < this.#points.length; i += 2 * every) {
      corners.push(...toPosition(frame, this.#points[i], this.#points[i + 1]));
    }
    return corners;
  }

  /** Draws the line so far. */
  draw(context, look) {
    context.beginPath();
    for (let i = 0; i < this.#points.length; i += 2) context.lineTo(this.#points[i], this.#points[i + 1]);
    context.closePath();
    context.globalAlpha = 0.12;
    context.fillStyle = look.ink;
    context.fill();
    context.globalAlpha = 1;
    context.lineWidth = 1.5;
    context.setLineDash([5, 4]);
    context.strokeStyle = look.ink;
    context.stroke();
    context.setLineDash([]);
  }
}
