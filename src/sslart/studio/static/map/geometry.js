/** Viewport of the map: centre and zoom over the unit square of positions. y grows upwards. */

/** @type {Readonly<{ x: number, y: number, zoom: number }>} */
export const HOME = Object.freeze({ x: 0.5, y: 0.5, zoom: 1 });
const MAX_ZOOM = 20000;
const MIN_ZOOM = 0.5;

/** The frame that a view has on a canvas of `width` × `height`: how positions become pixels, with a margin around all. */
export function frameOf(view, width, height, margin) {
  const sx = Math.max(1, width - 2 * margin) * view.zoom;
  const sy = Math.max(1, height - 2 * margin) * view.zoom;
  return { width, height, sx, sy, left: width / 2 - view.x * sx, top: height / 2 + view.y * sy };
}

export const toPixel = (frame, x, y) => [frame.left + x * frame.sx, frame.top - y * frame.sy];

export const toPosition = (frame, px, py) => [(px - frame.left) / frame.sx, (frame.top - py) / frame.sy];

/** The rectangle of positions that a frame shows. */
export function seenIn(frame) {
  const [x0, y1] = toPosition(frame, 0, 0);
  const [x1, y0] = toPosition(frame, frame.width, frame.height);
  return { x0, y0, x1, y1 };
}

/** The view moved by pixels. Its centre never leaves the surroundings of the data. */
export function panned(view, frame, dx, dy) {
  return limited({ ...view, x: view.x - dx / frame.sx, y: view.y + dy / frame.sy });
}

/** The view zoomed by `factor` around a pixel, which keeps its position. */
export function zoomed(view, frame, factor, px, py) {
  const zoom = Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, view.zoom * factor));
  const real = zoom / view.zoom;
  const [x, y] = toPosition(frame, px, py);
  return limited({ x: x + (view.x - x) / real, y: y + (view.y - y) / real, zoom });
}

/** A view in which a rectangle of positions is well seen. */
export function viewAround(rectangle) {
  const [x0, y0, x1, y1] = rectangle;
  const zoom = Math.min(MAX_ZOOM, Math.max(1, 0.4 / Math.max(x1 - x0, y1 - y0, 1e-5)));
  return limited({ x: (x0 + x1) / 2, y: (y0 + y1) / 2, zoom: Math.min(zoom, 200) });
}

export const between = (from, to, share) => {
  const zoom = Math.exp(Math.log(from.zoom) + (Math.log(to.zoom) - Math.log(from.zoom)) * share);
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share, zoom };
};

function limited(view) {
  const clamp = (value) => Math.min(1.1, Math.max(-0.1, value));
  return { x: clamp(view.x), y: clamp(view.y), zoom: view.zoom };
}
