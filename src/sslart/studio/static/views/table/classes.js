// The classes: from a column, or named by the person.
import { html, useState } from "../../lib/ui.js";
import { addClass, classes, description, fail, link, properties, samples, setProperty } from "../../lib/state.js";
import { t } from "../../lib/texts.js";
import { ClassMark } from "../../parts/class_mark.js";

function ClassChip({ name, index, n, isKnown }) {
  const remove = () => setProperty("classes", properties.value.classes.filter((one) => String(one) !== String(name))).catch(fail);
  return html`<li class="class-chip">
    <${ClassMark} index=${index} name=${name} />
    <span class="muted small">${n ? t("common.labels", { n }) : t("common.no_label")}</span>
    ${!isKnown && html`<button type="button" class="quiet icon" aria-label=${t("table.remove_class", { name })} onClick=${remove}>×</button>`}
  </li>`;
}

export function ClassesCard() {
  const [text, setText] = useState("");
  const counts = description.value?.summary?.labels ?? {};
  const known = (samples.value?.classes ?? description.value?.classes ?? []).map(String);
  const column = description.value?.settings?.label;
  const add = (event) => {
    event.preventDefault();
    setText(""); // at once: the next name may be written before the service has this one
    addClass(text).catch((error) => {
      setText((now) => now || text);
      fail(error);
    });
  };
  return html`<section class="card classes-card" aria-labelledby="classes-title">
    <h2 id="classes-title">${t("table.classes")}</h2>
    <p class="muted">${column ? t("table.classes_from", { column }) : t(known.length ? "table.classes_some" : "table.classes_none")}</p>
    <ul class="class-chips">
      ${classes.value.map((name, index) => html`<${ClassChip} key=${name} name=${name} index=${index} n=${counts[name]} isKnown=${known.includes(String(name))} />`)}
    </ul>
    <div class="field-row">
      <form class="add-class" onSubmit=${add}>
        <label class="visually-hidden" for="new-class">${t("table.new_class")}</label>
        <input id="new-class" type="text" maxlength="200" placeholder=${t("table.new_class")} value=${text} onInput=${(event) => setText(event.target.value)} />
        <button type="submit" disabled=${!text.trim()}>${t("table.add_class")}</button>
      </form>
      ${classes.value.length > 1 && html`<a class="button primary" href=${link("label")}>${t("table.to_label")}</a>`}
    </div>
  </section>`;
}
