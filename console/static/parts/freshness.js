/** What of the abilities is behind what was decided or seen, and what that means (DOC3 §0C.11B). */

import { h } from "../dom.js";

/** These end by themselves, within moments where a worker runs. */
const REFRESHING = ["snapshot_not_written", "bridge_not_written", "skills_not_written"];

/** A quiet notice, or nothing where abilities are shown as they are. */
export function freshness(reasons) {
  if (!reasons.length) return null;
  const refreshing = reasons.every((one) => REFRESHING.includes(one.code));
  return h(
    "div",
    { class: "notice", role: "status", "data-freshness": refreshing ? "refreshing" : "stale" },
    h("p", { class: "notice-title" }, refreshing ? "Refreshing abilities…" : "Abilities may have changed"),
    reasons.map((one) => h("p", {}, one.meaning)),
  );
}
