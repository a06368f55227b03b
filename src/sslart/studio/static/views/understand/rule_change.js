// Correct the class of a rule, or veto it: preview the labels and their effect, then learn them.
import { html, useSignal } from "../../lib/ui.js";
import { api, model } from "../../lib/api.js";
import { interval, number } from "../../lib/format.js";
import { useLoaded } from "../../lib/loaded.js";
import { canUndo, classIndex, classes, fail, labelRows, link, say, undo } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { ClassMark } from "../../parts/class_mark.js";
import { Dialog } from "../../parts/dialog.js";
import { Loading, Problem } from "../../parts/notices.js";
import { features, shownCell } from "../map/state.js";
import { textOf } from "./rule_text.js";

const VETO = "";
const SUGGESTED = 10;
const CELLS = 4;
const SHOWN_LABELLED = 50;

/** `rules` are all rules: one that is left over covers what no other does. */
export function RuleChange({ rule, rules, onClose }) {
  const others = classes.value.filter((one) => String(one) !== String(rule.label));
  const to = useSignal(others.length === 1 ? String(others[0]) : null);
  const left = useSignal(new Set());
  const target = others.find((one) => String(one) === to.value) ?? null;
  const found = useLoaded(
    () => api.post(model("/rules/cover"), {
      conditions: rule.conditions, label: rule.label, n: SUGGESTED,
      others: rule.is_default ? rules.filter((one) => !one.is_default).map((one) => one.conditions) : [],
    }),
    [rule],
  );
  const rows = found.data ? rowsToChange(found.data, rule, target).filter((row) => !left.value.has(row)) : [];
  const choose = (value) => {
    to.value = value;
    left.value = new Set();
  };
  return html`<${Dialog} title=${t("understand.correct_rule", { number: rule.number })} onClose=${onClose} wide>
    <p>${t(rule.is_default ? "understand.default_says" : "understand.rule_says", { conditions: textOf(rule), class: rule.label })}</p>
    <fieldset class="choices"><legend>${t("understand.what_is_right")}</legend>
      ${others.map((one) => html`<label class="check" key=${String(one)}><input type="radio" name="target" checked=${to.value === String(one)} onChange=${() => choose(String(one))} />
        ${t("understand.it_is")} <${ClassMark} index=${classIndex(one)} name=${one} /></label>`)}
      <label class="check"><input type="radio" name="target" checked=${to.value === VETO} onChange=${() => choose(VETO)} /> ${t("understand.veto", { class: rule.label })}</label>
    </fieldset>
    ${to.value === null ? html`<p class="muted">${t("understand.choose_right")}</p>`
      : found.error ? html`<${Problem} error=${found.error} again=${found.again} />` : !found.data ? html`<${Loading} />`
      : html`<${Rows} cover=${found.data} rule=${rule} target=${target} left=${left} />
        <${Trial} key=${`${to.value} ${rows.join(" ")}`} rows=${rows} label=${target} onClose=${onClose} />`}
  <//>`;
}

/** The rows that get a label: those that stand for the rule, and those whose label the person calls wrong. */
function rowsToChange(cover, rule, target) {
  const wrong = cover.labelled.filter((one) => String(one.label) === String(rule.label)).map((one) => one.row);
  return target === null ? wrong : [...new Set([...cover.suggested, ...wrong])];
}

/** The features that the rule is about, also by a part of a date such as its month, and others if these are few. */
function columnsOf(rule) {
  const isNamed = ({ name }) => rule.conditions.some(({ feature }) => feature === name || feature.endsWith(` of ${name}`));
  const [own, others] = [features.value.filter(isNamed), features.value.filter((one) => !isNamed(one))];
  return [...own, ...others.slice(0, Math.max(0, CELLS - own.length))];
}

function Rows({ cover, rule, target, left }) {
  const rows = rowsToChange(cover, rule, target);
  const shown = rows.slice(0, SHOWN_LABELLED);
  const columns = columnsOf(rule);
  const { data, error } = useLoaded(shown.length ? () => api.post(model("/search"), { rows: shown, limit: SHOWN_LABELLED }) : null, [shown.join(" ")]);
  const toggle = (row) => {
    const next = new Set(left.value);
    if (!next.delete(row)) next.add(row);
    left.value = next;
  };
  if (!rows.length) return html`<p>${t(target === null ? "understand.nothing_to_withdraw" : "understand.nothing_to_label", { class: rule.label })}</p>`;
  if (error) return html`<${Problem} error=${error} />`;
  return html`<p>${t(target === null ? "understand.these_lose" : "understand.these_get", { n: rows.length, covered: cover.n_rows, class: target ?? rule.label })}</p>
    ${!data ? html`<${Loading} />` : html`<div class="scroll rows-to-change" tabindex="0" role="region" aria-label=${t("understand.rows_to_change")}><table>
      <thead><tr><th scope="col"><span class="visually-hidden">${t("understand.use")}</span></th><th scope="col">${t("understand.row")}</th><th scope="col">${t("understand.label_now")}</th>
        <th scope="col">${t("understand.predicted")}</th>${columns.map(({ name }) => html`<th scope="col" key=${name}>${name}</th>`)}</tr></thead>
      <tbody>${data.rows.map((one) => html`<tr key=${one.row}>
        <td><input type="checkbox" aria-label=${t("understand.use_row", { row: String(one.row) })} checked=${!left.value.has(one.row)} onChange=${() => toggle(one.row)} /></td>
        <th scope="row"><a href=${link("understand", `sample/${one.row}`)}>${one.row}</a></th>
        <td><${ClassMark} index=${classIndex(one.label)} name=${one.label ?? t("common.no_label")} /></td>
        <td><${ClassMark} index=${classIndex(one.class)} name=${one.class ?? t("common.none")} /></td>
        ${columns.map((feature) => html`<td key=${feature.name}>${shownCell(feature, one.cells)}</td>`)}
      </tr>`)}</tbody>
    </table></div>`}
    ${rows.length > SHOWN_LABELLED && html`<p class="muted small">${t(target === null ? "understand.others_lose" : "understand.others_get", { n: rows.length - SHOWN_LABELLED, shown: SHOWN_LABELLED, class: target ?? rule.label })}</p>`}`;
}

function Trial({ rows, label, onClose }) {
  const isVeto = label === null;
  const asked = useSignal(false);
  const busy = useSignal(false);
  const { data, error, loading } = useLoaded(
    asked.value ? (stop) => api.post(model("/trial"), { labels: rows.map((row) => ({ row, label, at_random: false })), together: rows.length > 1 }, { signal: stop }) : null, [asked.value],
  );
  const learn = async () => {
    busy.value = true;
    try {
      await labelRows(rows, label);
      say(t(isVeto ? "understand.withdrawn" : "understand.learnt", { n: rows.length }), { action: { text: t("app.undo"), run: () => canUndo.value && undo().catch(fail) } });
      onClose();
    } catch (problem) {
      fail(problem);
    }
    busy.value = false;
  };
  return html`<div aria-live="polite">
    ${loading && asked.value && html`<${Loading} text=${t(isVeto ? "understand.trying_without" : "understand.trying")} />`}
    ${error && html`<${Problem} error=${error} />`}
    ${data && html`<${Effect} data=${data} />`}
  </div>
  <div class="buttons">
    ${data ? html`<button type="button" class="primary" disabled=${busy.value} onClick=${learn}>${t(isVeto ? "understand.withdraw" : "understand.learn", { n: rows.length })}</button>`
      : html`<button type="button" class="primary" disabled=${!rows.length || (asked.value && loading)} onClick=${() => (asked.value = true)}>${t("understand.try")}</button>`}
    <button type="button" onClick=${onClose}>${t("common.cancel")}</button>
  </div>`;
}

function Effect({ data }) {
  const line = (name, quality) => html`<tr><th scope="row">${name}</th><td>${quality.accuracy ? interval(quality.accuracy) : (quality.why_not ?? t("common.none"))}</td></tr>`;
  return html`<div class="effect">
    <h3>${t("understand.effect")}</h3>
    <table><caption class="muted small">${t("understand.effect_text")}</caption>
      <tbody>${line(t("understand.before"), data.before)}${line(t("understand.after"), data.after)}</tbody></table>
    <p>${t("understand.n_changed", { n: data.changed.n, of: data.changed.of ?? data.changed.n })}</p>
    ${data.changed.by.length > 0 && html`<ul class="moves">${data.changed.by.map((one) => html`<li key=${`${one.from} ${one.to}`}>
      <${ClassMark} index=${classIndex(one.from)} name=${one.from ?? t("understand.abstains")} /> → <${ClassMark} index=${classIndex(one.to)} name=${one.to ?? t("understand.abstains")} />
      ${" "}<strong class="number">${number(one.n)}</strong></li>`)}</ul>`}
    ${data.text && html`<p class="muted small">${data.text}</p>`}
  </div>`;
}
