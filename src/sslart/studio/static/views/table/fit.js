// Progress of a fit, with a cancel button, and the reason of the last failure.
import { html, useEffect, useState } from "../../lib/ui.js";
import { api } from "../../lib/api.js";
import { cancelJob } from "../../lib/jobs.js";
import { fail } from "../../lib/state.js";
import { has, t } from "../../lib/texts.js";
import { Problem, Progress, Warning } from "../../parts/notices.js";
import { fitAnew } from "./refit.js";

function words(job) {
  const step = job.progress?.step;
  if (!step) return t("table.fit_waiting");
  return has(`table.steps.${step}`) ? t(`table.steps.${step}`) : step;
}

async function lastOf(name) {
  const { jobs } = await api.get("/v1/jobs?most=100");
  return jobs.find((one) => one.model === name) ?? null;
}

export function FitCard({ name, job }) {
  const [last, setLast] = useState(null);
  const isRunning = job !== undefined;
  useEffect(() => {
    if (isRunning) return undefined;
    let isWanted = true;
    lastOf(name).then((found) => isWanted && setLast(found), fail);
    return () => {
      isWanted = false;
    };
  }, [name, isRunning]);
  if (isRunning) {
    return html`<section class="card fit" aria-label=${t("table.fit")}>
      <${Progress} value=${job.progress?.share ? job.progress.share : null} text=${words(job)} />
      <div class="buttons">
        <button type="button" onClick=${() => cancelJob(name, job.sequence).catch(fail)}>${t("table.fit_cancel")}</button>
        <span class="muted small">${t("table.fit_text")}</span>
      </div>
    </section>`;
  }
  const again = () => fitAnew(name).catch(fail);
  if (last?.state === "failed") return html`<${Problem} error=${{ detail: t("table.fit_failed", { text: last.outcome?.error ?? "" }) }} again=${again} />`;
  if (last?.state === "cancelled") {
    return html`<${Warning}><p>${t("table.fit_cancelled")}</p><div class="buttons"><button type="button" onClick=${again}>${t("table.apply")}</button></div><//>`;
  }
  return null;
}
