// The address: #/MODEL/VIEW[/ARG]. Without a model it is #/-/table.
import { batch, signal } from "./ui.js";

export const VIEWS = ["table", "map", "label", "understand", "trust", "watch", "take_away"];
const NO_MODEL = "-"; // no model can have this name

export const modelName = signal("");
export const view = signal("table");
/** What follows the view in the address, such as sample/12; "" if nothing does. */
export const arg = signal("");

export function link(toView, toArg = "", toModel = modelName.value) {
  const end = toArg === "" ? "" : `/${String(toArg).split("/").map(encodeURIComponent).join("/")}`;
  return `#/${encodeURIComponent(toModel || NO_MODEL)}/${toView}${end}`;
}

/** Change the address, and follow it at once: its event comes later, and a key that is pressed before it would be lost. */
export function go(toView, toArg = "", toModel = modelName.value) {
  location.hash = link(toView, toArg, toModel);
  readAddress();
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

export function readAddress() {
  const [toModel = "", toView = "", ...toArg] = location.hash.replace(/^#\/?/, "").split("/").map(decoded);
  batch(() => {
    modelName.value = toModel === NO_MODEL ? "" : toModel;
    view.value = VIEWS.includes(toView) ? toView : "table";
    arg.value = toArg.join("/");
  });
}
