/** One run of a skill as it stands: its progress, what it asks, what came of it, and its record. */

import { command } from "../api.js";
import { facts, h, time } from "../dom.js";
import { EFFECT_STATES, OPEN_RUNS, RUN_STATES } from "../skill_words.js";
import { visible } from "../visible.js";
import { actButton, lacking } from "./act.js";
import { copyable } from "./copyable.js";
import { pill } from "./marks.js";
import { prose } from "./notices.js";

export const runPill = (status) => pill(...(RUN_STATES[status] ?? [status, "quiet"]));

export function skillRun(run, after) {
  const open = OPEN_RUNS.includes(run.status);
  return h(
    "section",
    { class: "card", "aria-labelledby": "this-run" },
    h("div", { class: "card-head" }, h("h2", { id: "this-run", tabindex: "-1" }, "This run"), runPill(run.status)),
    open && run.status !== "awaiting_confirmation" && !run.due_at && h("progress", { "aria-label": "It runs" }),
    run.requires_confirmation && h("p", { class: "notice" }, visible(run.confirmation_prompt ?? "A person has to confirm it.")),
    run.message && h("p", { class: "lead" }, visible(run.message)),
    run.error && failed(run.error),
    run.warnings.length > 0 && h("ul", { class: "phrases" }, run.warnings.map((one) => h("li", {}, pill(visible(one), "you")))),
    answers(run, open, after),
    run.outputs && h("div", { class: "arguments" }, h("h3", { id: "outputs" }, "Outputs"), h("pre", { tabindex: "0", "aria-labelledby": "outputs" }, visible(JSON.stringify(run.outputs, null, 2)))),
    effects(run.observables.effects),
    h("details", { id: "record" }, h("summary", {}, "Record"), recordOf(run)),
  );
}

function failed({ code, message, recovery, fields }) {
  return h(
    "div",
    { class: "notice", "data-tone": "bad" },
    h("p", { class: "notice-title" }, visible(message), " ", h("code", {}, code)),
    (fields ?? []).length > 0 && h("ul", {}, fields.map(({ path, problem }) => h("li", {}, h("code", {}, path), ` ${problem}`))),
    h("p", {}, prose(recovery)),
  );
}

function answers(run, open, after) {
  if (!open) return null;
  const path = (verb) => `skills/invocations/${run.invocation_id}/${verb}`;
  const button = (id, label, kind, scope, done, verb, body) => {
    const post = command(verb);
    return actButton({ id, label, kind, scope, done, after, act: () => post(path(verb), body) });
  };
  const waits = run.status === "awaiting_confirmation";
  return h(
    "div",
    { class: "actions" },
    h(
      "div",
      { class: "buttons" },
      waits && button(`confirm-${run.invocation_id}`, "Confirm", "primary", "approve", "Confirmed", "confirm", { approve: true }),
      waits && button(`refuse-${run.invocation_id}`, "Refuse", "danger quiet", "approve", "Refused; nothing was run", "confirm", { approve: false }),
      button(`cancel-${run.invocation_id}`, "Give it up", "", "read", "Given up", "cancel", {}),
    ),
    waits && lacking("approve"),
  );
}

function effects(found) {
  if (!found.length) return null;
  return h("ul", { class: "phrases", "aria-label": "Expected effects" }, found.map(({ name, state }) => h("li", {}, name.replaceAll("_", " "), " ", pill(...(EFFECT_STATES[state] ?? [state])))));
}

function recordOf(run) {
  const record = run.record ?? {};
  const last = run.attempts.at(-1)?.isolation;
  return facts([
    ["Run", copyable(run.invocation_id, "run id")],
    ["Skill", `${run.skill} ${run.version}`],
    ["Asked", time(run.created_at)],
    ["Waits until", run.status === "awaiting_confirmation" && time(run.expires_at)],
    ["Goes on at", run.due_at && time(run.due_at)],
    ["Attempts", run.attempts.length > 0 && String(run.attempts.length)],
    ["Took", record.duration_ms !== undefined && `${record.duration_ms} ms`],
    ["Kept answer", run.cached && "yes: nothing was run for it"],
    ["Asked by", record.agent_id],
    ["Isolation", last && [last.namespaces && "namespaces", last.landlock && "Landlock", last.seccomp && "seccomp"].filter(Boolean).join(", ")],
    ["Input hash", record.input_hash && h("code", {}, record.input_hash)],
    ["Output hash", record.output_hash && h("code", {}, record.output_hash)],
    ["Workflow", run.workflow_id && copyable(run.workflow_id, "workflow id")],
  ]);
}
