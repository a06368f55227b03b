// Frame of a view: its heading, which gets the focus, and a one-sentence introduction.
import { html, useEffect, useRef } from "../lib/ui.js";
import { t } from "../lib/texts.js";

export function View({ title, lead, actions, children, name }) {
  const heading = useRef(null);
  useEffect(() => {
    document.title = t("app.title", { view: title });
    heading.current?.focus({ preventScroll: true });
  }, [title]);
  return html`<section class="view view-${name}" aria-labelledby="view-title">
    <header class="view-head">
      <div>
        <h1 id="view-title" tabindex="-1" ref=${heading}>${title}</h1>
        ${lead && html`<p class="lead">${lead}</p>`}
      </div>
      ${actions && html`<div class="view-actions">${actions}</div>`}
    </header>
    ${children}
  </section>`;
}
