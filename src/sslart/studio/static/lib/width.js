// The width of an element as it is now, so that the text of a chart has the same size on every page.
import { useLayoutEffect, useRef, useState } from "./ui.js";

/** Returns [ref, width]: the width in pixels, `most` at most. */
export function useWidth(most) {
  const element = useRef(null);
  const [width, setWidth] = useState(most);
  useLayoutEffect(() => {
    const measure = () => setWidth(Math.max(200, Math.min(most, Math.floor(element.current.clientWidth))));
    const observer = new ResizeObserver(measure);
    observer.observe(element.current);
    measure();
    return () => observer.disconnect();
  }, [most]);
  return [element, width];
}
