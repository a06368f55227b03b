/** Overlay of the points: outlines of boxes, and a shape for each labelled sample. */

const SMALLEST_BOX = 3;
const MARK = 11;

/** `boxes`: {rectangles: [x0, y0, x1, y1, …], codes: colour of each}. Boxes too small to see are left out, many are fainter. */
export function drawBoxes(context, boxes, frame, pixelRatio, look, dimmed) {
  const { rectangles, codes } = boxes;
  const paths = new Map();
  let n = 0;
  for (let i = 0; i < codes.length; i++) {
    const x = frame.left + rectangles[4 * i] * frame.sx;
    const y = frame.top - rectangles[4 * i + 3] * frame.sy;
    const width = (rectangles[4 * i + 2] - rectangles[4 * i]) * frame.sx;
    const height = (rectangles[4 * i + 3] - rectangles[4 * i + 1]) * frame.sy;
    if (Math.max(width, height) < SMALLEST_BOX * pixelRatio) continue;
    if (x > frame.width || y > frame.height || x + width < 0 || y + height < 0) continue;
    n++;
    if (!paths.has(codes[i])) paths.set(codes[i], new Path2D());
    paths.get(codes[i]).rect(Math.round(x) + 0.5, Math.round(y) + 0.5, Math.round(width), Math.round(height));
  }
  context.lineWidth = pixelRatio;
  context.globalAlpha = (dimmed ? 0.4 : 1) * Math.min(0.6, 5 / Math.sqrt(n));
  for (const [code, path] of paths) {
    context.strokeStyle = look.outlines[code] ?? look.ink;
    context.stroke(path);
  }
  context.globalAlpha = 1;
}

/** `marks`: {xy, classes, at}. One mark in each small square of the screen, so that a crowd of them stays readable. */
export function drawMarks(context, marks, frame, pixelRatio, look, selected) {
  const size = Math.round(MARK * pixelRatio);
  const columns = Math.ceil(frame.width / size) + 1;
  const taken = new Uint8Array(columns * (Math.ceil(frame.height / size) + 1));
  const sprites = new Map();
  for (let i = 0; i < marks.classes.length; i++) {
    const x = frame.left + marks.xy[2 * i] * frame.sx;
    const y = frame.top - marks.xy[2 * i + 1] * frame.sy;
    if (!(x >= 0 && y >= 0 && x < frame.width && y < frame.height)) continue;
    const square = Math.floor(y / size) * columns + Math.floor(x / size);
    if (taken[square]) continue;
    taken[square] = 1;
    const label = marks.classes[i];
    if (!sprites.has(label)) sprites.set(label, sprite(label, size, look));
    context.globalAlpha = selected && !selected[marks.at[i]] ? 0.25 : 1;
    context.drawImage(sprites.get(label), Math.round(x - size / 2) - 1, Math.round(y - size / 2) - 1);
  }
  context.globalAlpha = 1;
}

/** The shape of a class with a line around it that separates it from points of the same colour. */
function sprite(label, size, look) {
  const canvas = new OffscreenCanvas(size + 2, size + 2);
  const context = canvas.getContext("2d");
  const { path, box } = look.shapes[label % look.shapes.length];
  context.translate(1, 1);
  context.scale(size / box, size / box);
  const shape = new Path2D(path);
  context.lineJoin = "round";
  context.lineWidth = (3.2 * box) / 12;
  context.strokeStyle = look.paper;
  context.stroke(shape);
  context.lineWidth = (1.4 * box) / 12;
  context.strokeStyle = look.ink;
  context.stroke(shape);
  if (look.hollow) return canvas;
  context.fillStyle = look.outlines[label] ?? look.ink;
  context.fill(shape);
  return canvas;
}
