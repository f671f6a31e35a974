/** What a page says when something failed, is empty or is on its way. */

import { h } from "../dom.js";
import { remedy } from "../wording.js";
import { copyable } from "./copyable.js";

/** A failure: what happened, what to do, and the id by which the logs know it. */
export function failure(error, retry) {
  const id = error.correlationId;
  return h(
    "div",
    { class: "notice", "data-tone": "bad", role: "alert" },
    h("p", { class: "notice-title" }, error.message || "Something went wrong in this page."),
    error.code && h("p", {}, prose(remedy(error))),
    id && h("div", { class: "correlation" }, h("span", {}, "Correlation id"), copyable(id, "correlation id")),
    retry && h("button", { type: "button", click: retry }, "Try again"),
  );
}

/** Nothing to show, and what would change that. */
export function nothing(title, text, ...next) {
  return h("div", { class: "nothing" }, h("p", { class: "nothing-title" }, title), h("p", {}, text), next);
}

export function loading(what) {
  return h("p", { class: "loading" }, `Loading ${what}…`);
}

/** Text in which `backquotes` mark what is typed. */
export function prose(text) {
  return text.split("`").map((part, index) => (index % 2 ? h("code", {}, part) : part));
}
