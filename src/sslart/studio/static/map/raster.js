/**
 * Points to pixels. Each pixel counts its points, which makes its opacity, and keeps the code of one of them, which makes
 * its colour: the last one drawn (classes: a mixture of classes looks like one), or the lowest or highest (values: what is
 * rare stays visible).
 */

export const LAST = 0;
export const HIGHEST = 1;
export const LOWEST = 2;

const WORK = 3_000_000;
const DIMMED = 0.22;

export class Raster {
  #counts = new Uint32Array(0);
  #codes = new Uint8Array(0);
  #chosen = new Uint8Array(0);

  /** The pixels of `frame` as ImageData. `layer`: {codes, hidden, selected} in the order of the grid; the last two may be null. */
  paint(grid, layer, frame, seen, colours, rule, pixelRatio) {
    const size = frame.width * frame.height;
    this.#clear(size);
    const inView = grid.count(seen.x0, seen.y0, seen.x1, seen.y1);
    const offsets = disc(radiusFor(inView, size, pixelRatio), frame.width);
    grid.runs(seen.x0, seen.y0, seen.x1, seen.y1, (from, to) =>
      this.#add(grid.xy, layer, frame, from, to, rule, offsets),
    );
    const image = new ImageData(frame.width, frame.height);
    this.#shade(new Uint32Array(image.data.buffer), size, colours, layer.selected !== null, offsets.reach > 0);
    return image;
  }

  #clear(size) {
    if (this.#counts.length < size) {
      this.#counts = new Uint32Array(size);
      this.#codes = new Uint8Array(size);
      this.#chosen = new Uint8Array(size);
      return;
    }
    this.#counts.fill(0, 0, size);
    this.#chosen.fill(0, 0, size);
  }

  #add(xy, layer, frame, from, to, rule, offsets) {
    const { width, height, sx, sy, left, top } = frame;
    const { codes, hidden, selected } = layer;
    const counts = this.#counts;
    const kept = this.#codes;
    const chosen = this.#chosen;
    const { reach, shifts } = offsets;
    for (let place = from; place < to; place++) {
      if (hidden !== null && hidden[place]) continue;
      const px = Math.floor(left + xy[2 * place] * sx);
      const py = Math.floor(top - xy[2 * place + 1] * sy);
      if (px < reach || py < reach || px >= width - reach || py >= height - reach) continue;
      const code = codes[place];
      const pick = selected !== null && selected[place];
      const centre = py * width + px;
      for (let k = 0; k < shifts.length; k++) {
        const pixel = centre + shifts[k];
        const first = counts[pixel]++ === 0;
        if (pick) {
          if (!chosen[pixel]) kept[pixel] = code;
          chosen[pixel] = 1;
        } else if (chosen[pixel]) continue;
        if (first || rule === LAST) kept[pixel] = code;
        else if (rule === HIGHEST ? code > kept[pixel] : code < kept[pixel]) kept[pixel] = code;
      }
    }
  }

  #shade(out, size, colours, selecting, discs) {
    const counts = this.#counts;
    const codes = this.#codes;
    const chosen = this.#chosen;
    let most = 1;
    for (let pixel = 0; pixel < size; pixel++) if (counts[pixel] > most) most = counts[pixel];
    const least = discs ? 0.7 : 0.4;
    const opacities = new Uint8Array(1024);
    for (let n = 1; n < 1024; n++) {
      const share = most === 1 ? 1 : Math.min(1, Math.log(n) / Math.log(Math.min(most, 1023)));
      opacities[n] = 255 * (least + (1 - least) * share);
    }
    for (let pixel = 0; pixel < size; pixel++) {
      const n = counts[pixel];
      if (n === 0) continue;
      let alpha = opacities[n < 1023 ? n : 1023];
      if (selecting) alpha = chosen[pixel] ? 255 : alpha * DIMMED;
      out[pixel] = colours[codes[pixel]] | (alpha << 24);
    }
  }
}

/** Points are larger where few are seen, as long as they neither cover everything nor cost too much. */
function radiusFor(inView, size, pixelRatio) {
  const affordable = Math.sqrt(Math.min(WORK, 0.35 * size) / Math.max(1, inView) / Math.PI);
  return Math.min(affordable, 4 * pixelRatio);
}

/** Offsets of the pixels of a disc from its centre, in an image of this width. */
function disc(radius, width) {
  if (radius < 0.9) return { reach: 0, shifts: new Int32Array(1) };
  const reach = Math.ceil(radius);
  const shifts = [];
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      if (dx * dx + dy * dy <= radius * radius) shifts.push(dy * width + dx);
    }
  }
  return { reach, shifts: Int32Array.from(shifts) };
}
