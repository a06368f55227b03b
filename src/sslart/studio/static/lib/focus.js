// Keeps the focus: where a focused element is removed or disabled, the part of the page around it gets the focus, until
// the element can have it again.
const PARTS = "section, aside, form, dialog, [role='tabpanel'], main";

let last = null; // what had the focus, with all that is around it
let waiting = null; // an element that is disabled, and the part that has the focus for it

const isGone = (element) => !element.isConnected || element.disabled;
const isLost = () => {
  const focus = /** @type {HTMLInputElement | null} */ (document.activeElement);
  return focus === null || focus === document.body || focus.disabled;
};

function around(element) {
  const found = [];
  for (let one = element; one; one = one.parentElement) found.push(one);
  return found;
}

function mend() {
  if (waiting && document.activeElement === waiting.part && !isGone(waiting.element)) waiting.element.focus({ preventScroll: true });
  if (last === null || !isGone(last[0]) || !isLost()) return;
  const [element, ...parts] = last;
  const part = parts.find((one) => one.isConnected && one.matches(PARTS));
  if (!part) return;
  if (!part.hasAttribute("tabindex")) part.tabIndex = -1;
  waiting = { element, part };
  part.focus({ preventScroll: true });
}

/** As the ref of an element: it gets the focus when it appears, each time, which the attribute autofocus does not give. */
export const focused = (element) => element?.focus();

/** Begin to watch the focus. */
export function keepFocus() {
  document.addEventListener("focusin", (event) => {
    last = around(event.target);
    if (event.target !== waiting?.part) waiting = null;
  });
  document.addEventListener("focusout", (event) => {
    const left = last;
    setTimeout(() => {
      if (left === last && !isGone(event.target)) last = null; // left on purpose
    });
  });
  const check = () => (last !== null && isGone(last[0])) || waiting !== null;
  new MutationObserver(() => check() && requestAnimationFrame(mend))
    .observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ["disabled"] });
}
