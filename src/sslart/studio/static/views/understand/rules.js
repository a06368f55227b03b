// The rules that agree with the predictions: sort, filter, rename, and correct them.
import { html, useSignal } from "../../lib/ui.js";
import { api, model } from "../../lib/api.js";
import { focused } from "../../lib/focus.js";
import { interval, number, percent, portion } from "../../lib/format.js";
import { useLoaded } from "../../lib/loaded.js";
import { classIndex, classes, fail, properties, sequence, setProperty } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { ClassMark } from "../../parts/class_mark.js";
import { Loading, Problem } from "../../parts/notices.js";
import { RuleChange } from "./rule_change.js";
import { textOf } from "./rule_text.js";

const COLUMNS = {
  number: (rule) => rule.number,
  label: (rule) => String(rule.label),
  covered: (rule) => rule.n_covered,
  agreement: (rule) => rule.agreement,
  right: (rule) => (rule.n_labelled ? rule.n_right / rule.n_labelled : -1),
};
const AMOUNTS = [6, 12, 24, 48];

const nameOf = (rule) => properties.value.rule_names?.[textOf(rule)] ?? "";

export function Rules() {
  const amount = useSignal(12);
  const sort = useSignal({ by: "number", down: false });
  const text = useSignal("");
  const label = useSignal("");
  const changing = useSignal(null);
  const { data, error, loading, again } = useLoaded(
    (stop) => api.get(model(`/rules?max_rules=${amount.value}`), { signal: stop }),
    [amount.value, sequence.value],
  );
  if (error) return html`<${Problem} error=${error} again=${again} />`;
  if (!data) return html`<${Loading} text=${t("understand.computing")} />`;
  const shown = data.rules.filter((rule) =>
    (!label.value || String(rule.label) === label.value)
    && `${textOf(rule)} ${nameOf(rule)} ${rule.label}`.toLowerCase().includes(text.value.trim().toLowerCase()));
  const key = COLUMNS[sort.value.by];
  shown.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) * (sort.value.down ? -1 : 1));
  return html`<section class="card rules" aria-labelledby="rules-title" aria-busy=${loading}>
    <h2 id="rules-title">${t("understand.rules")}</h2>
    <p class="muted small">${t(data.from_boxes ? "understand.rules_text_boxes" : "understand.rules_text", { share: portion(data.agreement), n: data.n_samples })} ${t("understand.rules_columns")}</p>
    <div class="field-row">
      <label class="field">${t("understand.filter")}<input type="search" maxlength="200" value=${text.value} onInput=${(event) => (text.value = event.target.value)} /></label>
      <label class="field">${t("understand.class")}
        <select value=${label.value} onChange=${(event) => (label.value = event.target.value)}>
          <option value="">${t("understand.all_classes")}</option>
          ${classes.value.map((one) => html`<option key=${String(one)} value=${String(one)}>${String(one)}</option>`)}
        </select></label>
      <label class="field">${t("understand.amount")}
        <select value=${amount.value} onChange=${(event) => (amount.value = Number(event.target.value))}>${AMOUNTS.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}</select></label>
      <p class="muted rules-count" role="status">${t("understand.rules_shown", { n: shown.length, of: data.rules.length })}</p>
    </div>
    <div class="scroll" tabindex="0" role="group" aria-labelledby="rules-title"><table class="rules-table stacked">
      <${Head} sort=${sort} />
      <tbody>${shown.map((rule) => html`<${RuleRow} key=${textOf(rule)} rule=${rule} onChange=${() => (changing.value = rule)} />`)}</tbody>
    </table></div>
    ${!shown.length && html`<p class="muted">${t("understand.no_rules")}</p>`}
    ${changing.value && html`<${RuleChange} rule=${changing.value} rules=${data.rules} onClose=${() => (changing.value = null)} />`}
  </section>`;
}

function Head({ sort }) {
  const column = (name, kind) => {
    const isSorted = sort.value.by === name;
    return html`<th scope="col" class=${kind} aria-sort=${!isSorted ? undefined : sort.value.down ? "descending" : "ascending"}>
      <button type="button" class="quiet small" onClick=${() => (sort.value = { by: name, down: isSorted ? !sort.value.down : kind === "number" && name !== "number" })}>
        ${t(`understand.columns.${name}`)}<span aria-hidden="true" class="sort-sign">${!isSorted ? "↕" : sort.value.down ? "↓" : "↑"}</span></button></th>`;
  };
  return html`<thead><tr>${column("number", "number")}<th scope="col">${t("understand.rule")}</th>${column("label")}
    ${column("covered", "number")}${column("agreement", "number")}${column("right", "number")}<th scope="col"><span class="visually-hidden">${t("understand.actions")}</span></th></tr></thead>`;
}

function RuleRow({ rule, onChange }) {
  const right = rule.n_labelled
    ? html`<span title=${interval({ value: rule.n_right / rule.n_labelled, low: rule.right_interval[0], high: rule.right_interval[1] })}>
        ${t("understand.of", { n: rule.n_right, of: rule.n_labelled })}<br /> <span class="muted">${percent(rule.right_interval[0])} – ${percent(rule.right_interval[1])}</span></span>`
    : t("common.none");
  return html`<tr>
    <td class="number rule-number">${rule.number}</td>
    <th scope="row" class="rule-words"><${RuleName} rule=${rule} /></th>
    <td><${ClassMark} index=${classIndex(rule.label)} name=${rule.label} /></td>
    <td class="number" data-name=${t("understand.columns.covered")}>${number(rule.n_covered)}<br /> <span class="muted">${portion(rule.coverage)}</span></td>
    <td class="number" data-name=${t("understand.columns.agreement")}>${portion(rule.agreement)}</td>
    <td class="number" data-name=${t("understand.columns.right")}>${right}</td>
    <td><button type="button" class="small" onClick=${onChange} aria-label=${t("understand.correct_rule", { number: rule.number })}>${t("understand.correct")}</button></td>
  </tr>`;
}

function RuleName({ rule }) {
  const writing = useSignal(null);
  const words = textOf(rule);
  const save = (event) => {
    event.preventDefault();
    const { [words]: _, ...others } = properties.value.rule_names ?? {};
    const name = writing.value.trim();
    setProperty("rule_names", name ? { ...others, [words]: name } : others).then(() => (writing.value = null), fail);
  };
  const sentence = rule.is_default ? words : t("understand.if", { conditions: words });
  if (writing.value === null) {
    return html`${nameOf(rule) && html`<strong class="rule-name">${nameOf(rule)}</strong>`}
      <span class=${nameOf(rule) ? "muted" : undefined}>${sentence}</span>
      <button type="button" class="quiet small rename" aria-label=${t("understand.rename_rule", { number: rule.number })} onClick=${() => (writing.value = nameOf(rule))}>${t("understand.rename")}</button>`;
  }
  return html`<form class="rule-form" onSubmit=${save}>
    <input type="text" maxlength="120" ref=${focused} aria-label=${t("understand.rule_name")} value=${writing.value}
      onInput=${(event) => (writing.value = event.target.value)} onKeyDown=${(event) => event.key === "Escape" && (writing.value = null)} />
    <button type="submit" class="small">${t("common.save")}</button><button type="button" class="quiet small" onClick=${() => (writing.value = null)}>${t("common.cancel")}</button>
    <span class="muted">${sentence}</span>
  </form>`;
}
