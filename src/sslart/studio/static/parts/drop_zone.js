// Drop zone for a file, with a button to choose one, and upload progress.
import { html, useRef, useState } from "../lib/ui.js";
import { bytes } from "../lib/format.js";
import { t } from "../lib/texts.js";
import { Problem, Progress } from "./notices.js";

export const TABLES = ".csv,.tsv,.txt,.xlsx,.xls,.parquet,.arrow,.feather";

/**
 * `send(file, { progress, signal })` sends one file. `words` is the section of the texts: one_file, choose_file, sending
 * and reading. `children` stand above the button, `after` below it. Sending can be stopped as long as `stops` allows it for the share sent.
 */
export function DropZone({ send, words, kinds, className = "drop", testid, button = "primary", disabled = false, stops = () => true, after = null, children }) {
  const input = useRef(null);
  const [isOver, setIsOver] = useState(false);
  const [sending, setSending] = useState(null);
  const [error, setError] = useState(null);
  const take = async (file) => {
    if (!file) return;
    const stop = new AbortController();
    const progress = (share) => setSending({ file, share, stop });
    setError(null);
    progress(0);
    try {
      await send(file, { progress, signal: stop.signal });
    } catch (problem) {
      if (!stop.signal.aborted) setError(problem);
    } finally {
      setSending(null);
    }
  };
  const dropped = (event) => {
    event.preventDefault();
    setIsOver(false);
    if (event.dataTransfer.files.length > 1) setError({ detail: t(`${words}.one_file`) });
    else take(event.dataTransfer.files[0]);
  };
  const over = (event) => {
    event.preventDefault();
    setIsOver(true);
  };
  return html`${error && html`<${Problem} error=${error} />`}
    <div class=${isOver ? `${className} over` : className} data-testid=${testid} onDragOver=${over} onDragLeave=${() => setIsOver(false)} onDrop=${dropped}>
      ${sending ? html`<${Sending} ...${sending} words=${words} stops=${stops} />` : html`${children}
        <button type="button" class=${button} disabled=${disabled} onClick=${() => input.current.click()}>${t(`${words}.choose_file`)}</button>
        <input ref=${input} type="file" hidden accept=${kinds} onChange=${(event) => { take(event.target.files[0]); event.target.value = ""; }} />
        ${after}`}
    </div>`;
}

function Sending({ file, share, stop, words, stops }) {
  const text = t(share < 1 ? `${words}.sending` : `${words}.reading`, { file: file.name, size: bytes(file.size) });
  return html`<div role="status">
    <${Progress} value=${share < 1 ? share : null} text=${text} />
    ${stops(share) && html`<div class="buttons"><button type="button" onClick=${() => stop.abort()}>${t("common.cancel")}</button></div>`}
  </div>`;
}
