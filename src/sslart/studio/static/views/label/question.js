// One question: the sample, its distinctive features, and the answers.
import { html, useEffect, useSignal } from "../../lib/ui.js";
import { useKeys } from "../../lib/keys.js";
import { cell } from "../../lib/format.js";
import { classes, link, samples } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { Empty, Loading, Problem } from "../../parts/notices.js";
import { shownCell } from "../map/state.js";
import { Answers } from "./answers.js";
import { LastAnswer } from "./last_answer.js";
import { useQueue } from "./queue.js";
import { SamplesTogether } from "./samples_together.js";

const KEPT = "sslart.hides_guess";
const FEW_FEATURES = 14;
const NARROW = matchMedia("(max-width: 860px)"); // the next question is above the answers, out of sight

/** Return the reason for a question, unless it would reveal the prediction. */
function reason(question, isHidden) {
  const guesses = Object.keys(question.prediction?.probabilities ?? {});
  const tells = isHidden && guesses.some((one) => question.why.includes(one));
  return tells ? t("label.why_hidden") : question.why;
}

function Special({ question }) {
  if (!question.special.length) return null;
  return html`<div class="special">
    <h3>${t("label.special")}</h3>
    <dl>${question.special.map((one) => html`<div key=${one.feature}>
      <dt>${one.feature}</dt><dd class="number">${cell(one.value)}</dd><dd class="muted">${one.text}</dd>
    </div>`)}</dl>
  </div>`;
}

/** Position of a number between the minimum and maximum over all samples. */
function Place({ feature, value }) {
  const number = value === null || value === "" ? NaN : Number(value); // cells of a text file are texts
  if (feature.kind !== "number" || Number.isNaN(number) || !(feature.high > feature.low)) return null;
  const at = Math.min(1, Math.max(0, (number - feature.low) / (feature.high - feature.low)));
  const words = t("label.place", { low: cell(feature.low), high: cell(feature.high) });
  return html`<svg viewBox="0 0 104 10" role="img" aria-label=${words}><title>${words}</title>
    <rect x="2" y="4" width="100" height="2" fill="var(--track)" /><circle cx=${2 + 100 * at} cy="5" r="3.5" fill="var(--accent)" />
  </svg>`;
}

function AllFeatures({ cells }) {
  const known = new Map(samples.value.features.map((one) => [one.name, one]));
  const names = Object.keys(cells);
  const rows = [...names.filter((one) => known.has(one)), ...names.filter((one) => !known.has(one) && cells[one] !== null)];
  return html`<details class="all-features" open=${rows.length <= FEW_FEATURES}>
    <summary>${t("label.all_features", { n: rows.length })}</summary>
    <table><tbody>${rows.map((name) => html`<tr key=${name} class=${known.has(name) ? "" : "muted"}>
      <th scope="row">${name}</th><td>${known.has(name) ? shownCell(known.get(name), cells) : cell(cells[name])}</td>
      <td class="place">${known.has(name) ? html`<${Place} feature=${known.get(name)} value=${cells[name]} />` : html`<span class="chip">${t("label.no_feature")}</span>`}</td>
    </tr>`)}</tbody></table>
  </details>`;
}

function Done({ queue }) {
  const n = queue.skipped.length;
  return html`<${Empty} title=${t("label.done")}>
    <p>${n ? t("label.done_skipped", { n }) : t("label.done_text")}</p>
    ${n > 0 && html`<p><button type="button" class="primary" onClick=${() => queue.askSkipped()}>${t("label.ask_skipped")}</button></p>`}
  <//>`;
}

export function QuestionCard() {
  const queue = useQueue();
  const isHidden = useSignal(localStorage.getItem(KEPT) !== "no");
  const isWhole = useSignal(false);
  const question = queue.questions.value[0];
  const hide = (on) => {
    isHidden.value = on;
    localStorage.setItem(KEPT, on ? "yes" : "no");
  };
  useEffect(() => {
    isWhole.value = false;
    if (queue.last.value && NARROW.matches) document.getElementById("question-title")?.closest("section").scrollIntoView();
  }, [question?.row]);
  const isBox = question?.kind === "box";
  const hasMore = question?.rows.length > 1;
  const takeWhole = () => { // at once: a quick second key is about another question
    const whole = hasMore && isWhole.value;
    isWhole.value = false;
    return whole;
  };
  const answer = (label) => question && queue.answer(label, takeWhole());
  const skip = () => {
    takeWhole();
    queue.skip();
  };
  useKeys([
    ...classes.value.slice(0, 10).map((name, at) => ({ key: String((at + 1) % 10), text: t("label.key_answer", { name }), run: () => answer(name) })),
    { key: "s", text: t("label.key_skip"), disabled: !question, run: skip },
    { key: "w", text: t("label.key_whole"), disabled: !hasMore, run: () => { isWhole.value = !isWhole.value; } },
    { key: "h", text: t("label.key_guess"), run: () => hide(!isHidden.value) },
    { key: "n", text: t("label.key_new"), disabled: !question, run: () => document.getElementById("other-class")?.focus() },
  ]);

  const again = () => queue.load();
  if (!question) {
    if (queue.error.value) return html`<${Problem} error=${queue.error.value} again=${again} />`;
    if (queue.isLoading.value || queue.remaining.value === null) return html`<section class="card question"><${Loading} text=${t("label.looking")} /></section>`;
    return html`<${LastAnswer} last=${queue.last.value} isHidden=${isHidden.value} /><${Done} queue=${queue} />`;
  }
  return html`<section class="card question" aria-labelledby="question-title">
    <${LastAnswer} last=${queue.last.value} isHidden=${isHidden.value} />
    <div class="question-head">
      <div role="status">
        <h2 id="question-title">${isBox ? t("label.question_box", { n: question.rows.length }) : t("label.question")}</h2>
        <p class="muted">${isBox ? t("label.row_of_box", { row: String(question.row) }) : `${t("label.row", { row: String(question.row) })} ${reason(question, isHidden.value)}`}</p>
        ${queue.elsewhere.value.has(question.row) && html`<p class="meanwhile">${t("label.meanwhile", { name: queue.elsewhere.value.get(question.row) })}</p>`}
      </div>
      <a class="small" href=${link("understand", `sample/${question.row}`)}>${t("label.to_understand")}</a>
    </div>
    <${Special} question=${question} />
    <${Answers} question=${question} isHidden=${isHidden.value} isWhole=${isWhole} onAnswer=${answer} onSkip=${skip} />
    ${hasMore && html`<${SamplesTogether} question=${question} />`}
    <${AllFeatures} cells=${question.cells} />
    <label class="check small"><input type="checkbox" checked=${isHidden.value} onChange=${(event) => hide(event.target.checked)} /> ${t("label.hide_guess")}</label>
  </section>`;
}
