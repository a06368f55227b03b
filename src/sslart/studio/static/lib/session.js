// Access token of this browser: obtained once with the code in the address, and stored.
import { signal } from "./ui.js";

const KEPT = "sslart.token";

/** "unknown" | "open" | "refused" */
export const session = signal("unknown");

/** The name of a model that the command makes of a table just now; "" if there is none. */
export const awaited = signal("");

export function token() {
  return localStorage.getItem(KEPT);
}

/**
 * Exchange the one-time code in the address, #code=CODE[&model=NAME], for a token.
 * The address is then that of the model, which may not be there yet: the command sends its table meanwhile.
 */
export async function begin() {
  const given = new URLSearchParams(location.hash.slice(1));
  const code = given.get("code");
  if (code) {
    awaited.value = given.get("model") ?? "";
    const next = awaited.value ? `#/${encodeURIComponent(awaited.value)}/table` : "";
    history.replaceState(null, "", location.pathname + location.search + next);
    try {
      const answer = await fetch("/studio/session", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ code }),
      });
      if (answer.ok) localStorage.setItem(KEPT, (await answer.json()).token);
    } catch {
      // the next request tells that there is no connection
    }
  }
  session.value = "open";
}
