// Refit to all rows of a model, optionally with new settings; a running fit is cancelled first.
import { api, model } from "../../lib/api.js";
import { cancelJob, followJob, running } from "../../lib/jobs.js";
import { fail, refresh, say } from "../../lib/state.js";
import { t } from "../../lib/texts.js";

export async function fitAnew(name, settings = {}) {
  const before = running.value[name];
  if (before) {
    await cancelJob(name, before.sequence);
    await followJob(name, before.sequence);
  }
  const job = await api.post(model("/refit", name), { settings });
  followJob(name, job.sequence).then((ended) => {
    if (ended.state === "done") say(t("table.fitted"));
    return refresh();
  }).catch(fail);
}
