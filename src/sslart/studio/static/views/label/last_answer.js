// The last answer, and the prediction of the model, which is shown only after the answer.
import { html } from "../../lib/ui.js";
import { percent } from "../../lib/format.js";
import { classIndex } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { ClassMark } from "../../parts/class_mark.js";

export function LastAnswer({ last, isHidden }) {
  if (!last) return html`<p class="last-answer small muted" aria-live="polite">${t("label.first")}</p>`;
  const { question, label, rows } = last;
  const guess = isHidden ? question.prediction : null;
  const agrees = guess && String(guess.class) === String(label);
  return html`<p class="last-answer small" aria-live="polite">
    <span class="muted">${t("label.you_said", { n: rows.length, row: String(question.row) })}</span>${" "}
    <${ClassMark} index=${classIndex(label)} name=${label} />${" "}
    ${guess && html`<span class=${agrees ? "agrees" : "differs"}>${t(agrees ? "label.guess_agrees" : "label.guess_differs", { guess: String(guess.class), probability: percent(guess.probability) })}</span>`}
  </p>`;
}
