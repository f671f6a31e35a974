/** What of the abilities is behind what was decided or seen, and what that means (DOC3 §0C.11B). */

import { h } from "../dom.js";

/** A quiet notice, or nothing where abilities are shown as they are. What is refreshing ends by itself. */
export function freshness(found) {
  if (!found?.reasons.length) return null;
  const { state, reasons } = found;
  const refreshing = state === "refreshing";
  return h(
    "div",
    { class: "notice", role: "status", "data-freshness": refreshing ? "refreshing" : "stale" },
    h("p", { class: "notice-title" }, refreshing ? "Refreshing abilities…" : "Abilities may have changed"),
    reasons.map((one) => h("p", {}, one.meaning)),
  );
}
