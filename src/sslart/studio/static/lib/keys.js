// Keyboard shortcuts: `useKeys([{ key: "u", text: t("keys.undo"), run }])` while a component is there.
import { signal, useEffect, useRef } from "./ui.js";

let groups = []; // of those that are there: the last one counts first

/** Active shortcuts, for the list: [{ key, text }]. */
export function keysNow() {
  return groups.flatMap((group) => group.current);
}

const KEPT = "sslart.keys";

/** Whether single letters are shortcuts: those who use speech input switch them off. */
export const keysOn = signal(localStorage.getItem(KEPT) !== "off");

export function setKeysOn(on) {
  keysOn.value = on;
  localStorage.setItem(KEPT, on ? "on" : "off");
}

function isWriting(target) {
  if (target instanceof HTMLInputElement) return !/^(checkbox|radio|button|range)$/.test(target.type);
  return target instanceof HTMLElement && (target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName));
}

function pressed(event) {
  if (!keysOn.value || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (isWriting(event.target) || document.querySelector("dialog[open]")) return;
  const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  for (const group of [...groups].reverse()) {
    const found = group.current.find((one) => one.key === name && !one.disabled);
    if (found) {
      event.preventDefault();
      if (!event.repeat || found.repeats) found.run(event);
      return;
    }
  }
}

export function listenToKeys() {
  document.addEventListener("keydown", pressed);
}

export function useKeys(keys) {
  const group = useRef(keys);
  group.current = keys;
  useEffect(() => {
    groups = [...groups, group];
    return () => {
      groups = groups.filter((one) => one !== group);
    };
  }, []);
}
