// The studio: starts the session, follows the address, and shows its view.
import { html, render, useEffect, useErrorBoundary, useState } from "./lib/ui.js";
import { connected, pause } from "./lib/api.js";
import { followEvents } from "./lib/events.js";
import { keepFocus } from "./lib/focus.js";
import { followRunning } from "./lib/jobs.js";
import { listenToKeys, useKeys } from "./lib/keys.js";
import { sendLeftOver, watchLabels } from "./lib/labels.js";
import { VIEWS, readAddress } from "./lib/route.js";
import { awaited, begin, session } from "./lib/session.js";
import { canUndo, fail, go, isStarting, modelName, models, refresh, undo, view } from "./lib/state.js";
import { t } from "./lib/texts.js";
import { Header } from "./parts/header.js";
import { KeysHelp } from "./parts/keys_help.js";
import { Loading, Problem } from "./parts/notices.js";
import { Toasts } from "./parts/toasts.js";
import { View } from "./parts/view.js";

const WITHOUT_MODEL = ["table"];
const SECONDS_FOR_TABLE = 60;

function stylesheet(name) {
  const href = `style/${name}.css`;
  if (document.querySelector(`link[href="${href}"]`)) return undefined;
  return new Promise((resolve) => {
    const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href, onload: resolve, onerror: resolve });
    document.head.append(link);
  });
}

async function loaded(name) {
  const [module] = await Promise.all([import(`./views/${name}.js`), stylesheet(name)]);
  return module.default;
}

function Shown({ name }) {
  const [found, setFound] = useState({});
  const [attempt, setAttempt] = useState(0);
  const [broken, mend] = useErrorBoundary((error) => console.error(error));
  useEffect(() => {
    let isWanted = true;
    loaded(name).then(
      (component) => isWanted && setFound({ component }),
      (error) => {
        console.error(error);
        if (isWanted) setFound({ error });
      },
    );
    return () => {
      isWanted = false;
    };
  }, [name, attempt]);
  if (broken) return html`<${Problem} error=${broken} again=${mend} />`;
  if (found.error) return html`<${Problem} error=${{ detail: t("errors.view", { view: t(`views.${name}`) }) }} again=${() => setAttempt(attempt + 1)} />`;
  return found.component ? html`<${found.component} />` : html`<${Loading} />`;
}

function Page() {
  const name = view.value;
  const list = models.value;
  if (list === null) return html`<${Loading} />`;
  const isThere = list.some((one) => one.name === modelName.value);
  if (!isThere && awaited.value !== "" && awaited.value === modelName.value) return html`<${Loading} text=${t("app.awaited", { name: awaited.value })} />`;
  if (!isThere && !WITHOUT_MODEL.includes(name)) {
    return html`<${View} name="none" title=${t("app.no_model")} lead=${t(list.length ? "app.no_model_text" : "app.no_table_text")}>
      <p><a class="button primary" href="#/-/table">${t("app.to_table")}</a></p>
    <//>`;
  }
  if (isStarting.value && !WITHOUT_MODEL.includes(name)) {
    return html`<${View} name="none" title=${t(`views.${name}`)}><${Loading} text=${t("app.starting", { name: modelName.value })} /><//>`;
  }
  return html`<${Shown} key=${`${name} ${modelName.value}`} name=${name} />`;
}

function App() {
  const [helps, setHelps] = useState(false);
  useKeys([
    { key: "u", text: t("keys.undo"), disabled: !canUndo.value, run: () => undo().catch(fail) },
    { key: "?", text: t("keys.help"), run: () => setHelps(true) },
    { key: "g", text: t("keys.next_view"), run: () => go(VIEWS[(VIEWS.indexOf(view.value) + 1) % VIEWS.length]) },
  ]);
  if (session.value === "refused") {
    return html`<main id="main"><${View} name="none" title=${t("session.title")} lead=${t("session.text")} /></main>`;
  }
  return html`
    <a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); document.getElementById("main").focus(); }}>${t("app.skip")}</a>
    <${Header} onHelp=${() => setHelps(true)} />
    <div role="status" class="connection">${!connected.value && html`<p class="banner"><span class="spinner" aria-hidden="true"></span>${t("app.reconnecting")}</p>`}</div>
    <main id="main" tabindex="-1"><${Page} /></main>
    <${Toasts} />
    ${helps && html`<${KeysHelp} onClose=${() => setHelps(false)} />`}`;
}

/** Wait for the model of the table that the command was started with. */
async function waitForTable() {
  for (let n = 0; awaited.value !== "" && n < SECONDS_FOR_TABLE; n += 1) {
    await refresh();
    if (models.value.some((one) => one.name === awaited.value)) break;
    await pause(1);
  }
  awaited.value = "";
}

async function start() {
  await begin();
  readAddress();
  addEventListener("hashchange", () => {
    if (location.hash.startsWith("#code=")) location.reload(); // a new address of the command
    else readAddress();
  });
  listenToKeys();
  keepFocus();
  watchLabels();
  render(html`<${App} />`, document.getElementById("app"));
  followEvents();
  modelName.subscribe(() => refresh().catch(fail));
  await sendLeftOver();
  await waitForTable();
  await followRunning(() => refresh().catch(fail));
}

start().catch(fail);
