// Comparison with random sampling. The simulation takes seconds and slows down other requests, so it starts on request or
// when the user is idle.
import { html, useEffect, useState } from "../../lib/ui.js";
import { api, model } from "../../lib/api.js";
import { fail } from "../../lib/state.js";
import { t } from "../../lib/texts.js";

const SECONDS_OF_REST = 20;

export function RandomOrder({ name, labels, hasQuality }) {
  const [found, setFound] = useState({ name: "", labels: 0, text: "" });
  const [isBusy, setIsBusy] = useState(false);
  const isNew = found.name !== name || found.labels !== labels;
  const ask = () => {
    setIsBusy(true);
    api.get(model("/quality/random_order", name))
      .then((answer) => setFound({ name, labels, text: answer.text }), fail)
      .finally(() => setIsBusy(false));
  };
  useEffect(() => {
    if (!hasQuality || isBusy || !isNew) return undefined;
    const timer = setTimeout(ask, 1000 * SECONDS_OF_REST);
    return () => clearTimeout(timer);
  }, [name, labels, hasQuality, isBusy, isNew]);
  if (!hasQuality) return null;
  return html`<div class="random-order small" role="status">
    ${found.name === name && html`<p>${found.text}</p>`}
    ${isNew && html`<button type="button" class="small" disabled=${isBusy} onClick=${ask}>
      ${isBusy && html`<span class="spinner" aria-hidden="true"></span>`}${t(isBusy ? "label.random_loading" : "label.random_ask")}
    </button>`}
  </div>`;
}
