/** The tools of a server: what each does, whether its definition was looked at, and what policy says of it. */

import { command } from "../api.js";
import { h } from "../dom.js";
import { EFFECTS, TOOL_STATES } from "../tool_words.js";
import { visible } from "../visible.js";
import { actButton, lacking } from "./act.js";
import { pill } from "./marks.js";
import { nothing, prose } from "./notices.js";
import { policyChoice, policyPill } from "./policy_choice.js";

export function toolList({ tools, next_action: next }, serverId, after) {
  if (!tools.length) return nothing("No tool is known yet", "The tools of a server are listed when it is tested.");
  return [next && h("p", { class: "notice" }, prose(next)), h("ul", { class: "tools" }, tools.map((tool) => row(tool, serverId, after))), lacking("install", "approve")];
}

function row(tool, serverId, after) {
  const { definition, state } = tool;
  const name = definition.tool_name;
  const gone = state === "removed";
  return h(
    "li",
    { class: "tool" },
    h("div", { class: "card-head" }, h("h3", {}, visible(definition.title || name), definition.title && h("code", { class: "tool-name" }, name)), h("div", { class: "pills" }, pill(EFFECTS[tool.effect] ?? tool.effect), pill(...TOOL_STATES[state]))),
    definition.description && h("p", { class: "meta tool-says" }, visible(definition.description)),
    tool.diff && h("details", { id: `tool-diff-${name}` }, h("summary", {}, "What changed since it was looked at"), h("pre", { tabindex: "0", "aria-label": `What changed in ${name}` }, tool.diff)),
    !gone && whatItTakes(definition, `tool-takes-${name}`),
    !gone && h("div", { class: "tool-policy" }, tool.effective_policy && policyPill(tool.effective_policy), tool.effective_policy && policyChoice(name, { target_kind: "tool", server_id: serverId, tool_name: name }, tool.effective_policy, after), review(tool, serverId, after)),
  );
}

/** The fields of a tool, as its server describes them. */
export function whatItTakes(definition, id) {
  return h("details", { id }, h("summary", {}, "What it takes"), h("pre", { tabindex: "0", "aria-label": `What ${definition.tool_name} takes` }, visible(JSON.stringify(definition.input_schema, null, 2))));
}

function review(tool, serverId, after) {
  if (tool.state === "pinned") return null;
  const name = tool.definition.tool_name;
  const post = command("review");
  const path = `mcp/servers/${encodeURIComponent(serverId)}/tools/${encodeURIComponent(name)}/review`;
  return actButton({
    id: `review-${name}`,
    label: "Mark as looked at…",
    kind: "small",
    scope: "install",
    done: `${name} is pinned as it is`,
    after,
    dialog: () => ({
      title: `Have you looked at ${name}?`,
      text: "Its definition is pinned as it is shown here. Should the server change it again, you are told.",
      details: tool.diff && h("pre", { tabindex: "0", "aria-label": "What changed" }, tool.diff),
      confirm: "Pin it",
    }),
    act: () => post(path, { definition_hash: tool.definition_hash }),
  });
}
