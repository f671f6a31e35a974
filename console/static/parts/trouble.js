/** Where a command says that it failed, or what it left to do. It stays until it is dismissed or the page is left. */

import { h } from "../dom.js";
import { failure, prose } from "./notices.js";

const element = h("div", { class: "trouble" });

export const trouble = {
  element,
  /** Where it is in sight; of no error, nothing is left. */
  report(error, retry) {
    if (!error) return trouble.clear();
    show(failure(error, retry));
  },
  /** The command did its work, and a person has to do the rest. */
  remind(title, text) {
    show(h("div", { class: "notice", role: "alert" }, h("p", { class: "notice-title" }, title), h("p", {}, prose(text))));
  },
  clear() {
    element.replaceChildren();
  },
};

function show(notice) {
  element.replaceChildren(notice, dismiss());
  // A field that says by itself what is wrong with it is what to look at.
  if (!document.activeElement?.matches("[aria-invalid]")) element.scrollIntoView({ block: "nearest" });
}

function dismiss() {
  return h("button", { type: "button", class: "plain dismiss", click: () => trouble.clear() }, "Dismiss");
}
