// Light or dark: as the system has it until the person chooses.
import { computed, signal } from "./ui.js";

const KEPT = "sslart.theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const systemIsDark = signal(system.matches);
const chosen = signal(localStorage.getItem(KEPT));

/** "light" or "dark", for what is drawn on a canvas. */
export const theme = computed(() => chosen.value ?? (systemIsDark.value ? "dark" : "light"));

function show() {
  if (chosen.value) document.documentElement.dataset.theme = chosen.value;
}

export function toggleTheme() {
  chosen.value = theme.value === "dark" ? "light" : "dark";
  localStorage.setItem(KEPT, chosen.value);
  show();
}

system.addEventListener("change", () => {
  systemIsDark.value = system.matches;
});
show();
