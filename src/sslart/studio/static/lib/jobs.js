// Fits, which take a while: one per model is followed.
import { signal } from "./ui.js";
import { ApiError, api, model, pause } from "./api.js";

const SECONDS_BETWEEN = 0.5;
const followed = new Map();

/** The fits that run, by the name of their model: { sequence, state, progress, outcome }. */
export const running = signal({});

function show(name, job) {
  const { [name]: _, ...others } = running.value;
  running.value = job ? { ...others, [name]: job } : others;
}

export function hasEnded(job) {
  return ["done", "failed", "cancelled"].includes(job.state);
}

async function follow(name, number) {
  try {
    for (;;) {
      const job = await api.get(model(`/jobs/${number}`, name));
      if (hasEnded(job)) return job;
      show(name, job);
      await pause(SECONDS_BETWEEN);
    }
  } finally {
    followed.delete(`${name}/${number}`);
    show(name, null);
  }
}

/** Return a job when it has ended; meanwhile `running` has its progress. */
export function followJob(name, number) {
  const id = `${name}/${number}`;
  if (!followed.has(id)) followed.set(id, follow(name, number));
  return followed.get(id);
}

export async function cancelJob(name, number) {
  try {
    await api.del(model(`/jobs/${number}`, name));
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error; // 409: it has ended before
  }
}

/** Follow the jobs that run already, such as after the page was loaded again. */
export async function followRunning(onEnd) {
  const { jobs } = await api.get("/v1/jobs?most=20");
  for (const job of jobs.filter((one) => !hasEnded(one))) {
    show(job.model, job);
    followJob(job.model, job.sequence).then(onEnd, () => undefined);
  }
}
