/** Points sorted once into the cells of a square grid, so that what looks at a part of them touches only that part. */

const LOW = -0.125;
const EXTENT = 1.25;

export class Grid {
  /** `xy` has x and y of each point in turn; they lie in, or a little around, 0 to 1. */
  constructor(xy) {
    const n = xy.length >> 1;
    this.n = n;
    this.side = Math.max(1, Math.min(512, Math.ceil(Math.sqrt(n / 4))));
    this.scale = this.side / EXTENT;
    const cells = new Uint32Array(n);
    const starts = new Uint32Array(this.side * this.side + 1);
    const { side, scale } = this;
    for (let i = 0; i < n; i++) {
      let column = ((xy[2 * i] - LOW) * scale) | 0;
      let line = ((xy[2 * i + 1] - LOW) * scale) | 0;
      column = column < 0 ? 0 : column >= side ? side - 1 : column;
      line = line < 0 ? 0 : line >= side ? side - 1 : line;
      const cell = line * side + column;
      cells[i] = cell;
      starts[cell + 1]++;
    }
    for (let cell = 0; cell < side * side; cell++) starts[cell + 1] += starts[cell];
    const next = starts.slice(0, -1);
    this.order = new Uint32Array(n);
    this.xy = new Float32Array(2 * n);
    for (let i = 0; i < n; i++) {
      const place = next[cells[i]]++;
      this.order[place] = i;
      this.xy[2 * place] = xy[2 * i];
      this.xy[2 * place + 1] = xy[2 * i + 1];
    }
    this.starts = starts;
  }

  /** `values`, one per point as they came, in the order of the grid. */
  sorted(values, into) {
    const { order, n } = this;
    for (let place = 0; place < n; place++) into[place] = values[order[place]];
    return into;
  }

  /** Columns and lines of cells that a rectangle of positions touches. */
  cellsOf(x0, y0, x1, y1) {
    const at = (value) => Math.min(this.side - 1, Math.max(0, Math.floor((value - LOW) * this.scale)));
    return [at(x0), at(y0), at(x1), at(y1)];
  }

  /** Calls `visit(from, to)` for runs of places: all points of these cells, line by line. */
  runs(x0, y0, x1, y1, visit) {
    const [c0, l0, c1, l1] = this.cellsOf(x0, y0, x1, y1);
    for (let line = l0; line <= l1; line++) {
      const from = this.starts[line * this.side + c0];
      const to = this.starts[line * this.side + c1 + 1];
      if (to > from) visit(from, to);
    }
  }

  /** How many points these cells have. */
  count(x0, y0, x1, y1) {
    let n = 0;
    this.runs(x0, y0, x1, y1, (from, to) => (n += to - from));
    return n;
  }

  /** The point nearest to a position, in pixels and not farther than `radius`; -1 if there is none. */
  nearest(x, y, frame, radius, hidden) {
    const rx = radius / frame.sx;
    const ry = radius / frame.sy;
    const { xy } = this;
    let best = radius * radius;
    let found = -1;
    this.runs(x - rx, y - ry, x + rx, y + ry, (from, to) => {
      for (let place = from; place < to; place++) {
        if (hidden && hidden[place]) continue;
        const dx = (xy[2 * place] - x) * frame.sx;
        const dy = (xy[2 * place + 1] - y) * frame.sy;
        const distance = dx * dx + dy * dy;
        if (distance <= best) {
          best = distance;
          found = place;
        }
      }
    });
    return found < 0 ? -1 : this.order[found];
  }

  /** Indices of the points inside a polygon ([x, y, x, y, …]), in rising order. */
  inside(polygon, hidden) {
    const { side, starts, xy, order } = this;
    const [x0, y0, x1, y1] = bounds(polygon);
    const [c0, l0, c1, l1] = this.cellsOf(x0, y0, x1, y1);
    const crossed = this.#crossed(polygon);
    const found = [];
    for (let line = l0; line <= l1; line++) {
      for (let column = c0; column <= c1; column++) {
        const cell = line * side + column;
        if (starts[cell] === starts[cell + 1]) continue;
        const whole = !crossed[cell];
        const middle = whole && contains(polygon, LOW + (column + 0.5) / this.scale, LOW + (line + 0.5) / this.scale);
        if (whole && !middle) continue;
        for (let place = starts[cell]; place < starts[cell + 1]; place++) {
          if (hidden && hidden[place]) continue;
          if (whole || contains(polygon, xy[2 * place], xy[2 * place + 1])) found.push(order[place]);
        }
      }
    }
    return Uint32Array.from(found).sort();
  }

  /** Cells that may have a part of the polygon's outline; all cells at the border, which also hold what lies beyond. */
  #crossed(polygon) {
    const { side } = this;
    const crossed = new Uint8Array(side * side);
    const n = polygon.length >> 1;
    for (let i = 0; i < n; i++) {
      const j = (i + 1) % n;
      const [ax, ay, bx, by] = [polygon[2 * i], polygon[2 * i + 1], polygon[2 * j], polygon[2 * j + 1]];
      const steps = Math.max(1, Math.ceil(Math.max(Math.abs(bx - ax), Math.abs(by - ay)) * this.scale));
      for (let step = 0; step < steps; step++) {
        const at = (share, from, to) => from + ((to - from) * share) / steps;
        const [px, qx] = [at(step, ax, bx), at(step + 1, ax, bx)];
        const [py, qy] = [at(step, ay, by), at(step + 1, ay, by)];
        const [c0, l0, c1, l1] = this.cellsOf(Math.min(px, qx), Math.min(py, qy), Math.max(px, qx), Math.max(py, qy));
        for (let line = l0; line <= l1; line++) crossed.fill(1, line * side + c0, line * side + c1 + 1);
      }
    }
    for (let k = 0; k < side; k++) {
      crossed[k] = crossed[(side - 1) * side + k] = crossed[k * side] = crossed[k * side + side - 1] = 1;
    }
    return crossed;
  }
}

function bounds(polygon) {
  let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < polygon.length; i += 2) {
    x0 = Math.min(x0, polygon[i]);
    x1 = Math.max(x1, polygon[i]);
    y0 = Math.min(y0, polygon[i + 1]);
    y1 = Math.max(y1, polygon[i + 1]);
  }
  return [x0, y0, x1, y1];
}

function contains(polygon, x, y) {
  let inside = false;
  const n = polygon.length;
  for (let i = 0, j = n - 2; i < n; j = i, i += 2) {
    const yi = polygon[i + 1];
    const yj = polygon[j + 1];
    if (yi > y !== yj > y && x < ((polygon[j] - polygon[i]) * (y - yi)) / (yj - yi) + polygon[i]) inside = !inside;
  }
  return inside;
}
