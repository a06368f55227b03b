// Server-sent events of the model. EventSource cannot send a token, so the stream is read with fetch.
import { effect } from "./ui.js";
import { authorised, connected, pause } from "./api.js";
import { followJob } from "./jobs.js";
import { modelName } from "./route.js";
import { fail, isStarting, noteLabels, refresh, refreshProperties, sequence } from "./state.js";

const SECONDS_TO_START = 1;
const listeners = new Map();

/** Call a function with the data of each event of a kind: job, state, drift, rejected, decision, labels, learnt, properties. */
export function onEvent(kind, run) {
  if (!listeners.has(kind)) listeners.set(kind, new Set());
  listeners.get(kind).add(run);
  return () => listeners.get(kind).delete(run);
}

function tell(kind, data) {
  for (const run of listeners.get(kind) ?? []) run(data);
}

async function read(response, got) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (text + value).split("\n\n");
    text = blocks.pop();
    for (const block of blocks) got(block);
  }
}

async function listen(name, stop) {
  let lastId = null;
  let wasCut = false;
  const got = (block) => {
    const fields = Object.fromEntries(block.split("\n").map((line) => {
      const at = line.indexOf(": ");
      return at > 0 ? [line.slice(0, at), line.slice(at + 2)] : ["", line];
    }));
    if (fields.id) lastId = fields.id;
    if (fields.event) tell(fields.event, JSON.parse(fields.data));
  };
  for (let attempt = 0; !stop.aborted; attempt += 1) {
    try {
      const headers = authorised(lastId === null ? {} : { "last-event-id": lastId });
      const response = await fetch(`/v1/events?model=${encodeURIComponent(name)}`, { headers, signal: stop });
      if (response.ok) {
        if (wasCut) refresh().catch(fail);
        wasCut = true;
        connected.value = true;
        attempt = 0;
        await read(response, got);
      }
    } catch {
      if (stop.aborted) return;
      connected.value = false;
    }
    await pause(Math.min(5, 0.3 * 2 ** attempt), stop).catch(() => undefined);
  }
}

function keepUp() {
  onEvent("learnt", (data) => {
    sequence.value = Math.max(sequence.value, data.sequence);
  });
  onEvent("labels", (data) => noteLabels(data.sequence));
  onEvent("properties", () => refreshProperties().catch(fail));
  onEvent("state", () => refresh().catch(fail));
  onEvent("job", (data) => {
    if (data.state === "running") followJob(data.model, data.sequence).catch(() => undefined);
    else refresh().catch(fail);
  });
}

/** Ask again while the model is being started: its event may have come before this tab listened. */
function awaitStart() {
  effect(() => {
    if (!isStarting.value) return undefined;
    const timer = setInterval(() => refresh().catch(fail), 1000 * SECONDS_TO_START);
    return () => clearInterval(timer);
  });
}

/** Follow the events of whichever model is chosen. */
export function followEvents() {
  keepUp();
  awaitStart();
  let stop = null;
  effect(() => {
    const name = modelName.value;
    stop?.abort();
    stop = name ? new AbortController() : null;
    if (stop) listen(name, stop.signal);
  });
}
