/** Values along the two axes of the map, at the left and lower edge. */

import { seenIn, toPixel } from "./geometry.js";

const SPACE = { x: 90, y: 44 };

export function drawTicks(context, frame, axes, look) {
  const seen = seenIn(frame);
  context.font = "11px system-ui, sans-serif";
  context.lineWidth = 3;
  context.strokeStyle = look.paper;
  context.fillStyle = look.ink;
  const write = (text, px, py) => {
    context.strokeText(text, px, py);
    context.fillText(text, px, py);
  };
  if (axes.x) {
    context.textAlign = "center";
    context.textBaseline = "bottom";
    for (const { at, text } of axes.x(seen.x0, seen.x1, Math.max(2, frame.width / SPACE.x))) {
      const [px] = toPixel(frame, at, 0);
      if (px > 20 && px < frame.width - 20) write(text, px, frame.height - 4);
    }
  }
  if (axes.y) {
    context.textAlign = "left";
    context.textBaseline = "middle";
    for (const { at, text } of axes.y(seen.y0, seen.y1, Math.max(2, frame.height / SPACE.y))) {
      const [, py] = toPixel(frame, 0, at);
      if (py > 8 && py < frame.height - 24) write(text, 4, py);
    }
  }
}
