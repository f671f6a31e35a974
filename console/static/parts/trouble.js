/** Where a command that failed says so. It stays through refreshes, until it is dismissed or the page is left. */

import { h } from "../dom.js";
import { failure } from "./notices.js";

const element = h("div", { class: "trouble" });

export const trouble = {
  element,
  report(error, retry) {
    const dismiss = h("button", { type: "button", class: "plain dismiss", click: () => trouble.clear() }, "Dismiss");
    element.replaceChildren(failure(error, retry), dismiss);
  },
  clear() {
    element.replaceChildren();
  },
};
