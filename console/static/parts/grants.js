/** Standing approvals: what passes without asking, since when and until when, and taking that back. */

import { command } from "../api.js";
import { h, time } from "../dom.js";
import { SCOPES } from "../tool_words.js";
import { plural } from "../wording.js";
import { actButton, lacking } from "./act.js";
import { nothing } from "./notices.js";

export function grantList({ grants, names }, after) {
  if (!grants.length) return nothing("No standing approval", "When you approve a call for a turn or a session, the calls it lets pass are governed here.");
  return [h("ul", { class: "grants" }, grants.map((grant) => row(grant, names, after))), lacking("approve")];
}

function row(grant, names, after) {
  const revoke = command("revoke", "DELETE");
  return h(
    "li",
    { class: "grant" },
    h(
      "div",
      {},
      h("p", {}, h("strong", {}, grant.tool_name), ` at ${names[grant.server_id] ?? grant.server_id}, ${SCOPES[grant.scope]}`),
      h("p", { class: "meta" }, `By ${grant.granted_by} · `, time(grant.created_at), " · until ", time(grant.expires_at), ` · used ${plural(grant.used, "time")}`),
    ),
    actButton({
      id: `revoke-${grant.grant_id}`,
      label: "Revoke",
      kind: "small danger quiet",
      scope: "approve",
      done: `${grant.tool_name} asks again`,
      after,
      act: () => revoke(`mcp/grants/${grant.grant_id}`),
    }),
  );
}
