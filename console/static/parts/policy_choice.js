/** What holds for a server or a tool, where that comes from, and the ways to decide otherwise. */

import { command } from "../api.js";
import { h } from "../dom.js";
import { CHOICES, INHERITED, MODES } from "../tool_words.js";
import { actButton } from "./act.js";
import { pill } from "./marks.js";

/** In words and colour: the mode, and whether it is decided here or inherited. */
export function policyPill(effective) {
  const [label, tone] = MODES[effective.decision.mode];
  return h("span", { class: "policy" }, pill(label, tone), h("span", { class: "meta" }, origin(effective)));
}

function origin({ target, inherited_from: from, decision }) {
  if (decision.reason_code === "always_ask_first") return "each time, whatever is decided otherwise";
  if (decision.updated_by === "system") return target.target_kind === "tool" || decision.mode !== "enabled" ? "by default" : "by default; changes ask first";
  return INHERITED[from] ?? from;
}

export function policyChoice(name, target, effective, after) {
  const explicit = effective.inherited_from === "none" && effective.decision.updated_by !== "system";
  const always = effective.decision.reason_code === "always_ask_first";
  const post = command("policy");
  const place = [target.server_id, target.tool_name].filter(Boolean).join("-");
  const buttons = Object.entries(CHOICES).filter(([mode]) => !always || mode === "disabled").map(([mode, label]) =>
    actButton({
      id: `policy-${place}-${mode}`,
      label,
      kind: "small",
      scope: "approve",
      pressed: String(explicit && effective.decision.mode === mode),
      done: `${name}: ${MODES[mode][0].toLowerCase()}`,
      after,
      act: () => post("mcp/policy/update", { target, decision: { mode } }),
    }),
  );
  return h("div", { class: "policy-choice", role: "group", "aria-label": `Policy of ${name}` }, buttons);
}
