/** Pointer, wheel, touch and keys of the map, as calls: pan, zoom, hover, click, lasso, and moves between boxes. */

const WHEEL = 0.0016;
const KEY_STEP = 60;
const CLICK = { mouse: 4, touch: 12 }; // pixels that a click or a tap may move
const isFinger = (event) => event.pointerType === "touch";

/** Listens on `element`, calls `act`, and returns a function that stops listening. `tool()` is "pan" or "lasso". */
export function listen(element, act, tool) {
  const pointers = new Map();
  let moved = 0;
  let lassoing = false;
  let spread = 0;

  const place = (event) => {
    const box = element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const middle = () => {
    const all = [...pointers.values()];
    return [all.reduce((sum, p) => sum + p[0], 0) / all.length, all.reduce((sum, p) => sum + p[1], 0) / all.length];
  };
  const spreadNow = () => {
    const [a, b] = [...pointers.values()];
    return Math.hypot(a[0] - b[0], a[1] - b[1]);
  };

  const handlers = {
    pointerdown(event) {
      if (event.button > 0) return;
      element.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, place(event));
      if (pointers.size === 1) {
        moved = 0;
        lassoing = event.shiftKey || tool() === "lasso";
        if (lassoing) act.lassoStart(...place(event));
      } else if (lassoing) {
        lassoing = false;
        act.lassoCancel();
      }
      if (pointers.size === 2) spread = spreadNow();
    },
    pointermove(event) {
      const now = place(event);
      const before = pointers.get(event.pointerId);
      if (!before) {
        act.hover(...now);
        return;
      }
      const from = middle();
      pointers.set(event.pointerId, now);
      const to = middle();
      moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
      if (lassoing) {
        act.lassoMove(...now);
        return;
      }
      act.pan(to[0] - from[0], to[1] - from[1]);
      if (pointers.size === 2) {
        const after = spreadNow();
        if (spread > 0) act.zoom(after / spread, ...to);
        spread = after;
      }
    },
    pointerup(event) {
      if (!pointers.delete(event.pointerId)) return;
      if (lassoing) act.lassoEnd();
      if (moved < CLICK[isFinger(event) ? "touch" : "mouse"] && pointers.size === 0) act.click(...place(event), isFinger(event));
      lassoing = false;
    },
    pointercancel(event) {
      pointers.delete(event.pointerId);
      if (lassoing) act.lassoCancel();
      lassoing = false;
    },
    pointerleave() {
      act.leave();
    },
    wheel(event) {
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 16 : 1;
      act.zoom(Math.exp(-event.deltaY * unit * WHEEL * (event.ctrlKey ? 4 : 1)), ...place(event));
    },
    keydown(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const box = element.getBoundingClientRect();
      const zoom = (factor) => act.zoom(factor, box.width / 2, box.height / 2);
      const keys = {
        ArrowLeft: () => act.pan(KEY_STEP, 0),
        ArrowRight: () => act.pan(-KEY_STEP, 0),
        ArrowUp: () => act.pan(0, KEY_STEP),
        ArrowDown: () => act.pan(0, -KEY_STEP),
        "+": () => zoom(1.4),
        "=": () => zoom(1.4),
        "-": () => zoom(1 / 1.4),
        0: () => act.home(),
        "[": () => act.step(-1),
        "]": () => act.step(1),
        Enter: () => act.choose(),
        Escape: () => act.clear(),
      };
      if (!keys[event.key]) return;
      keys[event.key]();
      event.preventDefault();
      event.stopPropagation();
    },
  };
  for (const [name, handler] of Object.entries(handlers)) {
    element.addEventListener(name, handler, { passive: name !== "wheel" && name !== "keydown" });
  }
  return () => {
    for (const [name, handler] of Object.entries(handlers)) element.removeEventListener(name, handler);
  };
}
