/**
 * Cache of images of the points. The last image is shown at once, moved and scaled to the current view, with an image of
 * everything behind it. A new one is requested when the worker is free.
 */

const PAUSE_WHILE_MOVING = 110;
const OVERVIEW = 0.5;

export class Sheets {
  #post;
  #crisp = null;
  #overview = null;
  #waiting = false;
  #moving = false;
  #wanted = null;
  #timer = 0;
  #lastAsked = 0;
  #version = 0;
  #overviewWanted = null;

  constructor(post) {
    this.#post = post;
  }

  /** Asks for an image of this frame (device pixels); while things move, not more often than needed. */
  want(frame, pixelRatio, moving = false) {
    this.#wanted = { frame, pixelRatio };
    this.#moving = moving;
    this.#ask();
  }

  /** What was drawn so far shows other data or colours than those that hold now. */
  outdate(home, pixelRatio) {
    this.#version++;
    this.#overviewWanted = { frame: home, pixelRatio };
  }

  #ask() {
    clearTimeout(this.#timer);
    if (this.#waiting || !this.#wanted) return;
    const rest = this.#moving ? this.#lastAsked + PAUSE_WHILE_MOVING - performance.now() : 0;
    if (rest > 0) {
      this.#timer = setTimeout(() => this.#ask(), rest);
      return;
    }
    const { frame, pixelRatio } = this.#wanted;
    this.#wanted = null;
    this.#waiting = true;
    this.#lastAsked = performance.now();
    this.#post({ type: "image", id: this.#version, frame, pixelRatio, purpose: "crisp" });
  }

  /** Takes an image of the worker. */
  take({ id, purpose, frame, bitmap }) {
    if (purpose === "overview") {
      this.#overview?.bitmap.close();
      this.#overview = { frame, bitmap };
      return;
    }
    this.#waiting = false;
    this.#crisp?.bitmap.close();
    this.#crisp = { frame, bitmap };
    const overview = this.#overviewWanted;
    if (overview && id === this.#version) {
      this.#overviewWanted = null;
      const pixelRatio = overview.pixelRatio * OVERVIEW;
      this.#post({ type: "image", id, purpose: "overview", pixelRatio, frame: scaled(overview.frame, OVERVIEW) });
    }
    this.#ask();
  }

  /** Draws the images as the present frame (device pixels) has them. */
  draw(context, frame) {
    context.imageSmoothingEnabled = false;
    const place = this.#crisp && placed(this.#crisp.frame, frame);
    if (this.#overview && !(place && covers(place, frame))) {
      context.save();
      if (place) {
        context.beginPath();
        context.rect(0, 0, frame.width, frame.height);
        context.rect(...place);
        context.clip("evenodd");
      }
      context.drawImage(this.#overview.bitmap, ...placed(this.#overview.frame, frame));
      context.restore();
    }
    if (place) context.drawImage(this.#crisp.bitmap, ...place);
  }

  close() {
    clearTimeout(this.#timer);
    this.#crisp?.bitmap.close();
    this.#overview?.bitmap.close();
  }
}

/** @returns {[number, number, number, number]} */
function placed(from, to) {
  const fx = to.sx / from.sx;
  const fy = to.sy / from.sy;
  return [to.left - from.left * fx, to.top - from.top * fy, from.width * fx, from.height * fy];
}

const covers = ([x, y, width, height], frame) =>
  x <= 0.5 && y <= 0.5 && x + width >= frame.width - 0.5 && y + height >= frame.height - 0.5;

function scaled(frame, factor) {
  const round = (value) => Math.max(1, Math.round(value * factor));
  return {
    width: round(frame.width),
    height: round(frame.height),
    sx: frame.sx * factor,
    sy: frame.sy * factor,
    left: frame.left * factor,
    top: frame.top * factor,
  };
}
