/** Small marks that say in words and colour how something stands. */

import { h, spoken } from "../dom.js";
import { PHASES, STATES } from "../wording.js";

export const pill = (text, tone = "quiet") => h("span", { class: "pill", "data-tone": tone }, text);

export function statePill(state) {
  const known = STATES[state] ?? { label: state, tone: "quiet" };
  return pill(known.label, known.tone);
}

const GLYPHS = { good: "✓", bad: "✕", skipped: "–", waiting: "", live: "", undone: "↩" };

/** A circle for one line of a list: its colour is never the only sign. */
export function mark(tone, words) {
  return h("span", { class: "mark", "data-tone": tone }, h("span", { "aria-hidden": "true" }, GLYPHS[tone] ?? ""), spoken(`${words}: `));
}

/** How far a session has come, from showing to using. */
export function phases(session) {
  const state = STATES[session.state];
  const at = session.state === "cancelled" && session.proposal_id ? 2 : (state?.phase ?? 0);
  const steps = PHASES.map((name, index) => {
    const where = index < at || session.state === "approved" ? "done" : index === at ? "here" : "ahead";
    const attributes = { "data-where": where, "data-tone": state?.tone ?? "quiet", "aria-current": index === at ? "step" : null };
    return h("li", attributes, h("span", {}, name), where === "done" && spoken(" (done)"));
  });
  return h("ol", { class: "phases", "aria-label": "Progress" }, steps);
}
