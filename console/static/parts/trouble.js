/** Where a command says that it failed, or what it left to do. It stays until it is dismissed or the page is left. */

import { h } from "../dom.js";
import { failure, prose } from "./notices.js";

const element = h("div", { class: "trouble" });

export const trouble = {
  element,
  report(error, retry) {
    element.replaceChildren(failure(error, retry), dismiss());
  },
  /** The command did its work, and a person has to do the rest. */
  remind(title, text) {
    element.replaceChildren(h("div", { class: "notice", role: "alert" }, h("p", { class: "notice-title" }, title), h("p", {}, prose(text))), dismiss());
  },
  clear() {
    element.replaceChildren();
  },
};

function dismiss() {
  return h("button", { type: "button", class: "plain dismiss", click: () => trouble.clear() }, "Dismiss");
}
