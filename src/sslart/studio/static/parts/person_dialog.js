// Name of the annotator, stored with each label, so that answers can be compared.
import { html, useState } from "../lib/ui.js";
import { person, setPerson } from "../lib/state.js";
import { t } from "../lib/texts.js";
import { Dialog } from "./dialog.js";

export function PersonDialog({ onClose }) {
  const [name, setName] = useState(person.value);
  const save = (event) => {
    event.preventDefault();
    setPerson(name);
    onClose();
  };
  return html`<${Dialog} title=${t("person.title")} onClose=${onClose}>
    <form onSubmit=${save}>
      <p>${t("person.text")}</p>
      <label class="field">${t("person.name")}
        <input type="text" maxlength="100" autocomplete="name" value=${name} onInput=${(event) => setName(event.target.value)} />
      </label>
      <div class="buttons"><button type="submit" class="primary">${t("common.save")}</button></div>
    </form>
  <//>`;
}
