/** What is on record of an ability: how it has done, what agents said of its checkpoints, its versions. */

import { facts, h, time } from "../dom.js";
import { plural } from "../wording.js";
import { ABILITY_ACTIONS } from "../learning_words.js";
import { abilityButton } from "./ability_actions.js";
import { mark, pill } from "./marks.js";
import { nothing } from "./notices.js";

const STATUS = { reached: ["good", "Reached"], skipped: ["skipped", "Skipped"], failed: ["bad", "Failed"] };

export function outcomes(done) {
  const told = done.checkpoints_reached + done.checkpoints_failed;
  return facts([
    ["Used", done.uses ? [plural(done.uses, "time"), ", last ", time(done.last_used_at)] : "Not yet"],
    ["Installed", plural(done.installs, "time")],
    ["Rolled back", plural(done.rollbacks, "time")],
    ["Quarantined", plural(done.quarantines, "time")],
    ["Checkpoints", `${done.checkpoints_reached} reached, ${done.checkpoints_failed} failed, ${done.checkpoints_skipped} skipped`],
    ["Success", told > 0 && `${Math.round(done.checkpoint_success * 100)} % of ${plural(told, "checkpoint")}`],
    ["Last failure", time(done.last_failed_at)],
  ]);
}

export function checkpointReceipts({ receipts, total }) {
  if (!total) return nothing("No agent has reported yet", "When an agent uses this skill it reports each checkpoint with its evidence. The reports are listed here.");
  return h("ul", { class: "cases", "aria-label": "Checkpoint receipts" }, receipts.map(receipt));
}

function receipt({ checkpoint_id: id, status, evidence, reason, created_at: at }) {
  const [tone, words] = STATUS[status] ?? ["waiting", status];
  const said = h("span", {}, h("code", {}, id), " ", evidence, reason && h("span", { class: "case-details" }, `Reason: ${reason}`), h("span", { class: "case-details" }, time(at)));
  return h("li", {}, mark(tone, words), said);
}

/** Each version; an older one can be gone back to where the service allows that now. */
export function versionList({ versions, ability_id: id, allowed }, after) {
  return h("ul", { class: "versions" }, versions.map((one) => version(one, id, allowed.includes("rollback"), after)));
}

function version(one, abilityId, mayReturn, after) {
  const words = { label: "Go back to this…", title: `Go back to version ${one.version}?`, done: `Version ${one.version} is current again`, text: ABILITY_ACTIONS.rollback.text };
  return h(
    "li",
    {},
    h(
      "div",
      {},
      h("p", {}, h("strong", {}, `Version ${one.version}`), one.current && [" ", pill("Current", "good")], one.restored_from && ` holds the content of version ${one.restored_from}`),
      h("p", { class: "meta" }, time(one.installed_at), " · ", h("code", { title: one.content_hash }, one.content_hash.slice(0, 12))),
    ),
    mayReturn && !one.current && abilityButton(abilityId, "rollback", { id: `rollback-${one.version}`, kind: "small", words, body: { to_version: one.version }, after }),
  );
}
