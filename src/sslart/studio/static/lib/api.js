// Requests to the service. Reading, and writing with a key, is tried again until the service answers.
import { signal } from "./ui.js";
import { readNpy } from "./npy.js";
import { session, token } from "./session.js";
import { modelName } from "./route.js";
import { t } from "./texts.js";

const READS = /\/(search|predict|explain|contributions|counterfactual|similar|trial|rules\/cover)(\?|$)/;
const MOST_REFUSALS = 5;

/** Whether the service answers. */
export const connected = signal(true);

export class ApiError extends Error {
  constructor(status, detail, answer = null) {
    super(detail);
    this.status = status;
    this.detail = detail;
    this.answer = answer;
  }
}

/** The path of something of the chosen model. */
export function model(path = "", name = modelName.value) {
  return `/v1/models/${encodeURIComponent(name)}${path}`;
}

export function newKey() {
  return crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint32Array(4)), (one) => one.toString(16)).join("-");
}

export function authorised(headers = {}) {
  const known = token();
  return known ? { ...headers, authorization: `Bearer ${known}` } : headers;
}

export function pause(seconds, stop) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, 1000 * seconds);
    stop?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(stop.reason);
    }, { once: true });
  });
}

async function problemOf(response) {
  const text = await response.text();
  try {
    const answer = JSON.parse(text);
    return new ApiError(response.status, answer.error ?? t("errors.status", { status: response.status }), answer);
  } catch {
    return new ApiError(response.status, t("errors.status", { status: response.status }));
  }
}

/**
 * @typedef {object} Options Of a request: `key` makes a repetition harmless, `again` has it tried until there is an answer.
 * @property {any} [body]
 * @property {string} [key]
 * @property {AbortSignal} [signal]
 * @property {boolean} [again]
 */

/**
 * @param {string} method
 * @param {string} path
 * @param {Options} [options]
 * @returns {Promise<Response>}
 */
async function request(method, path, { body, key, signal: stop, again = false } = {}) {
  const headers = authorised(key ? { "idempotency-key": key } : {});
  if (body !== undefined) headers["content-type"] = "application/json";
  const content = body === undefined ? undefined : JSON.stringify(body);
  for (let attempt = 0, refusals = 0; ; attempt += 1) {
    let response;
    try {
      response = await fetch(path, { method, headers, body: content, signal: stop });
    } catch (error) {
      if (stop?.aborted) throw error;
      connected.value = false;
      if (!again) throw new ApiError(0, t("errors.no_connection"));
      await pause(Math.min(5, 0.3 * 2 ** attempt), stop);
      continue;
    }
    connected.value = true;
    if (response.ok) return response;
    if (response.status === 401) session.value = "refused";
    const wait = response.headers.get("retry-after");
    if (again && wait !== null && [429, 503].includes(response.status) && refusals < MOST_REFUSALS) {
      refusals += 1;
      await pause(Math.min(10, Number(wait) || 1), stop);
      continue;
    }
    throw await problemOf(response);
  }
}

async function json(response) {
  return response.status === 204 ? null : response.json();
}

/**
 * Send a file, with its progress from 0 to 1.
 * @param {string} method
 * @param {string} path
 * @param {Blob} content
 * @param {Options & { progress?: (share: number) => void }} [options]
 * @returns {Promise<any>}
 */
function send(method, path, content, { progress, key, signal: stop } = {}) {
  return new Promise((resolve, reject) => {
    const sent = new XMLHttpRequest();
    sent.open(method, path);
    const headers = authorised({ "content-type": "application/octet-stream", ...(key ? { "idempotency-key": key } : {}) });
    for (const [name, value] of Object.entries(headers)) sent.setRequestHeader(name, value);
    sent.upload.onprogress = (event) => event.lengthComputable && progress?.(event.loaded / event.total);
    sent.onerror = () => {
      connected.value = false;
      reject(new ApiError(0, t("errors.no_connection")));
    };
    sent.onabort = () => reject(new ApiError(0, t("errors.stopped")));
    sent.onload = () => {
      connected.value = true;
      let answer = null;
      try {
        answer = JSON.parse(sent.responseText);
      } catch {
        // an answer that is no JSON is told by its status
      }
      if (sent.status >= 200 && sent.status < 300) resolve(answer);
      else reject(new ApiError(sent.status, answer?.error ?? t("errors.status", { status: sent.status }), answer));
    };
    stop?.addEventListener("abort", () => sent.abort(), { once: true });
    sent.send(content);
  });
}

async function download(path, filename) {
  const content = await (await request("GET", path, { again: true })).blob();
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = filename;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
  return content.size;
}

/**
 * @param {string} path
 * @param {Options} [options]
 */
async function npy(path, options = {}) {
  const response = await request("GET", path, { again: true, ...options });
  return { ...readNpy(await response.arrayBuffer()), headers: response.headers };
}

export const api = {
  get: async (path, /** @type {Options} */ options = {}) => json(await request("GET", path, { again: true, ...options })),
  post: async (path, body = {}, /** @type {Options} */ { key, signal: stop } = {}) =>
    json(await request("POST", path, { body, key, signal: stop, again: key !== undefined || READS.test(path) })),
  put: async (path, body, /** @type {Options} */ options = {}) => json(await request("PUT", path, { body, again: true, ...options })),
  patch: async (path, body, /** @type {Options} */ options = {}) => json(await request("PATCH", path, { body, ...options })),
  del: async (path, /** @type {Options} */ options = {}) => json(await request("DELETE", path, options)),
  send,
  npy,
  download,
};
