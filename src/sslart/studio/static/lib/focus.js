// Keeps the focus: where a focused element is removed, the part of the page around it gets the focus; where it is
// disabled for a while, it gets the focus back.
const PARTS = "section, aside, form, dialog, [role='tabpanel'], main";

let last = null; // what had the focus, with all that is around it then

const isGone = (element) => !element.isConnected || element.disabled;

function around(element) {
  const found = [];
  for (let one = element; one; one = one.parentElement) found.push(one);
  return found;
}

function mend() {
  const isLost = document.activeElement === document.body || document.activeElement === null;
  if (last === null || !last.isLost || !isLost) return;
  const [element, ...parts] = last.path;
  if (element.isConnected) {
    if (!element.disabled) element.focus({ preventScroll: true });
    return;
  }
  const part = parts.find((one) => one.isConnected && one.matches(PARTS));
  if (!part) return;
  if (!part.hasAttribute("tabindex")) part.tabIndex = -1;
  part.focus({ preventScroll: true });
}

/** Begin to watch the focus. */
export function keepFocus() {
  document.addEventListener("focusin", (event) => {
    last = { path: around(event.target), isLost: false };
  });
  document.addEventListener("focusout", (event) => {
    const left = last;
    setTimeout(() => {
      if (left !== null && left === last && !isGone(event.target)) last = null; // left on purpose
    });
  });
  const check = () => {
    if (last !== null && !last.isLost && isGone(last.path[0])) last.isLost = true;
    if (last?.isLost) requestAnimationFrame(mend);
  };
  new MutationObserver(check).observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ["disabled"] });
}
