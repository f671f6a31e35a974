/** A call that waits for a person: what would run, for whom, why it is asked about, and the answers it takes. */

import { command } from "../api.js";
import { facts, h, time } from "../dom.js";
import { ACTION_CLASSES, APPROVALS, EFFECTS, PROVIDERS, TOOL_STATES } from "../tool_words.js";
import { visible } from "../visible.js";
import { actButton, lacking } from "./act.js";
import { copyable } from "./copyable.js";
import { pill } from "./marks.js";
import { whatItTakes } from "./tool_list.js";

const MOST_REASON = 500;

export function waitingCall({ record, call, server, tool }, countdowns, after) {
  const id = record.dispatch_id;
  const heading = `call-${id}`;
  const why = call.verdict?.trace.find((step) => step.decisive);
  return h(
    "section",
    { class: "card waiting-call", "aria-labelledby": heading },
    h("div", { class: "card-head" }, h("h3", { id: heading, tabindex: "-1" }, visible(tool?.definition.title || record.tool_name), h("span", { class: "at" }, ` at ${server ?? record.server_id}`)), countdowns.element(record.expires_at)),
    h("div", { class: "pills" }, pill(...APPROVALS.pending), tool && pill(EFFECTS[tool.effect] ?? tool.effect), call.data_class && pill(call.data_class, "you")),
    definitionWarning(record, tool),
    facts([
      ["Asked for by", askedBy(call)],
      ["What", visible(record.request_summary)],
      ["Provider", call.provider && (PROVIDERS[call.provider] ?? call.provider)],
      ["Kind of action", call.action_class && (ACTION_CLASSES[call.action_class] ?? call.action_class)],
      ["Why it asks", why?.why],
      ["On behalf of", call.ability_id && h("a", { href: `#/skills/${encodeURIComponent(call.ability_id)}` }, call.ability_id)],
      ["Answer by", [time(record.expires_at), "; after that nothing is sent"]],
      ["Call", copyable(id, "call id")],
    ]),
    argumentsOf(call, id),
    answers(record, call, tool, after),
  );
}

/** Which agent it is, as far as its token and its own words say. */
function askedBy(call) {
  const asker = call.asked_by;
  const token = asker?.token_name ? ` with the token ${asker.token_name}${asker.token_revoked ? " (revoked since)" : ""}` : "";
  const within = [["session", call.caller.session_ref], ["turn", call.caller.turn_ref]].filter(([, name]) => name).map(([what, name]) => `, ${what} ${name}`);
  return visible([call.caller.runtime ?? "a client", " for ", call.caller.user_id, token, ...within].join(""));
}

/** What is decided on is what would run: should the tool be another than was looked at, that is said first. */
function definitionWarning(record, tool) {
  if (!tool) return null;
  const since = tool.state !== "removed" && record.tool_definition_hash !== tool.definition_hash;
  if (tool.state === "pinned" && !since) return null;
  return h(
    "div",
    { class: "notice", "data-tone": "bad" },
    h("p", { class: "notice-title" }, since ? "Changed since this call was asked for" : TOOL_STATES[tool.state][0]),
    h("p", {}, since ? "An approval sends the call to the tool as it is now, and says that you have looked at it." : "Nobody has looked at this definition yet. Approving this call says that you have."),
    tool.diff && h("details", { id: `diff-${record.dispatch_id}` }, h("summary", {}, "What changed"), h("pre", { tabindex: "0", "aria-label": "What changed" }, tool.diff)),
    tool.definition.description && h("p", {}, "It says of itself: ", visible(tool.definition.description)),
    whatItTakes(tool.definition, `takes-${record.dispatch_id}`),
  );
}

function argumentsOf(call, id) {
  const given = call.arguments;
  const text = given ? visible(JSON.stringify(given, null, 2)) : "The arguments are not kept any more.";
  return h("div", { class: "arguments" }, h("h4", { id: `arguments-${id}` }, "Arguments that will run"), h("pre", { id: `text-${id}`, tabindex: "0", "aria-labelledby": `arguments-${id}` }, text));
}

// What is approved is what was looked at: with another call or tool by now, the answer is refused.
function seen(call, tool) {
  return { arguments_digest: call.arguments_digest, tool_definition_hash: tool?.definition_hash ?? call.ask_first?.tool_definition_hash ?? null };
}

function answers(record, call, tool, after) {
  const takes = (decision) => (call.answers ?? []).includes(decision);
  const path = (verb) => `mcp/ask-first/${record.dispatch_id}/${verb}`;
  const approve = (decision, label, done, kind = "") => {
    const post = command("approve");
    return actButton({ id: `${decision}-${record.dispatch_id}`, label, kind, scope: "approve", done, after, act: () => post(path("approve"), { decision, ...seen(call, tool) }) });
  };
  return h(
    "div",
    { class: "actions" },
    h(
      "div",
      { class: "buttons" },
      approve("approve_once", "Approve once", "Approved once", "primary"),
      takes("approve_until_end_of_turn") && approve("approve_until_end_of_turn", "Until end of turn", "Approved until the end of the turn"),
      takes("approve_for_session") && approve("approve_for_session", "For the session", "Approved for the session"),
      edit(record, call, tool, path, after),
      deny(record, path, after),
    ),
    lacking("approve"),
  );
}

function edit(record, call, tool, path, after) {
  const post = command("approve");
  return actButton({
    id: `edit-${record.dispatch_id}`,
    label: "Edit, then approve…",
    scope: "approve",
    done: "Approved with other arguments",
    after,
    dialog: () => ({
      title: "Approve with other arguments?",
      text: "What you write here is sent instead of what was asked for. Both are kept.",
      fields: [{ name: "arguments", label: "Arguments as JSON", required: true, rows: 12, code: true, value: visible(JSON.stringify(call.arguments ?? {}, null, 2)) }],
      confirm: "Approve these once",
    }),
    act: (values) => post(path("approve"), { decision: "approve_once", arguments: parsed(values.arguments), ...seen(call, tool) }),
  });
}

function deny(record, path, after) {
  const post = command("deny");
  return actButton({
    id: `deny-${record.dispatch_id}`,
    label: "Deny…",
    kind: "danger quiet",
    scope: "approve",
    done: "Denied; nothing was sent",
    after,
    dialog: () => ({
      title: "Deny this call?",
      text: "Nothing is sent, and nothing is tried again. Who asked reads your reason.",
      fields: [{ name: "reason", label: "Reason", limit: MOST_REASON }],
      confirm: "Deny",
      tone: "bad",
    }),
    act: ({ reason }) => post(path("deny"), reason ? { decision: "deny", reason } : { decision: "deny" }),
  });
}

function parsed(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`This is no JSON: ${error.message}`);
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Error("Arguments are an object: {…}.");
  return value;
}
