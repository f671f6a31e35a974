/** What mining has found: tasks done often and alike enough, with their scores, and what a person says of them. */

import { command } from "../api.js";
import { facts, h, time } from "../dom.js";
import { CANDIDATES, TRACE_SOURCES } from "../learning_words.js";
import { LANES, plural, STATES } from "../wording.js";
import { actButton, lacking } from "./act.js";
import { pill } from "./marks.js";
import { nothing } from "./notices.js";
import { gauge } from "./practice.js";

const MOST_REASON = 240;

const percent = (share) => `${Math.round(share * 100)} %`;

export function candidateList({ candidates, limits }, after) {
  if (!candidates.length) {
    return nothing("Nothing is suggested yet", "A task is suggested once it was shown often enough and alike enough. Show it a few times, then look now.", h("a", { class: "button", href: "#/learn" }, "Show a task"));
  }
  const choices = candidates.some((one) => one.allowed_actions.length > 0);
  return [
    h("p", { class: "meta" }, "Each has passed every gate: shown often enough and alike enough, verified, safe, without friction, reusable."),
    h("ul", { class: "cards", "aria-label": "Suggestions" }, candidates.map((one) => card(one, limits, after))),
    choices && lacking("learn"),
  ];
}

function card(view, limits, after) {
  const { candidate, session_state: session, install_lane: lane } = view;
  const { cluster } = candidate;
  const { label, tone } = CANDIDATES[candidate.state] ?? { label: candidate.state, tone: "quiet" };
  return h(
    "li",
    { class: "card" },
    h("div", { class: "card-head" }, h("h3", {}, candidate.title), pill(label, tone)),
    candidate.reason && h("p", {}, candidate.reason),
    h(
      "div",
      { class: "gauges", role: "group", "aria-label": `Scores of ${candidate.title}` },
      gauge("Variation", `${percent(cluster.variation_score)}, at most ${percent(limits.variation)}`, cluster.variation_score),
      gauge("Verified", `${percent(cluster.verification_coverage_score)}, at least ${percent(limits.coverage)}`, cluster.verification_coverage_score),
    ),
    facts([
      ["Traces", `${cluster.successful_trace_ids.length} succeeded, ${cluster.failed_trace_ids.length} failed`],
      ["Where from", TRACE_SOURCES[cluster.source_mode] ?? cluster.source_mode],
      ["Application", cluster.app_family],
      ["Unclear", candidate.ambiguity_flags.length > 0 && h("ul", { class: "plain-list" }, candidate.ambiguity_flags.map((one) => h("li", {}, one)))],
      ["Found in", h("span", { class: "links" }, candidate.source_session_ids.map((id, index) => h("a", { href: `#/sessions/${id}` }, `Session ${index + 1}`)))],
      ["Became", candidate.learn_session_id && [h("a", { href: `#/sessions/${candidate.learn_session_id}` }, "A session"), session && [", ", (STATES[session]?.label ?? session).toLowerCase()], lane && lane !== "pending" && [", ", (LANES[lane] ?? lane).toLowerCase()]]],
      ["Tries", candidate.attempt > 1 && plural(candidate.attempt, "build")],
      ["Found", time(candidate.created_at)],
    ]),
    answers(view, after),
  );
}

/** Buttons for what the service says may be done with it now, and why it cannot be built where that is so. */
function answers({ candidate: { candidate_id: id, title, state }, allowed_actions: allowed, refused_actions: refused }, after) {
  const send = (verb) => {
    const post = command(verb);
    return ({ reason } = {}) => post(`learn/mining/candidates/${id}/${verb}`, reason ? { reason } : {});
  };
  const dialog = () => ({ title: `Dismiss “${title}”?`, text: "It is put aside for good: what it was found in does not count again.", confirm: "Dismiss for good", tone: "bad", fields: [{ name: "reason", label: "Reason", limit: MOST_REASON }] });
  const reasons = refused.filter(({ action }) => action === "accept").map(({ reason }) => h("p", { class: "hint" }, reason));
  const buttons = [
    allowed.includes("accept") && actButton({ id: `accept-${id}`, label: state === "failed" ? "Build it again" : "Accept and build", kind: "primary", scope: "learn", done: `${title} is being built`, act: send("accept"), after }),
    allowed.includes("dismiss") && actButton({ id: `dismiss-${id}`, label: "Dismiss…", kind: "danger quiet", scope: "learn", done: `${title} is dismissed`, dialog, act: send("dismiss"), after }),
  ].filter(Boolean);
  return [reasons, buttons.length > 0 && h("div", { class: "card-actions" }, buttons)];
}
