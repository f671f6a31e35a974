/** The commands on an ability: those the service says are allowed now, and no others. */

import { command } from "../api.js";
import { h } from "../dom.js";
import { ABILITY_ACTIONS } from "../learning_words.js";
import { actButton, lacking } from "./act.js";

const MOST_REASON = 240;

export function abilityActions({ ability_id: id, allowed }, after) {
  const offered = Object.keys(ABILITY_ACTIONS).filter((name) => allowed.includes(name));
  if (!offered.length) return h("p", { class: "meta" }, "Nothing can be done with it by you right now.");
  const buttons = offered.map((name) => abilityButton(id, name, { id: `do-${name}`, after }));
  return h("div", { class: "actions" }, h("div", { class: "buttons" }, buttons), lacking(...offered.map((name) => ABILITY_ACTIONS[name].scope)));
}

/** One command's button. `words` may say it otherwise, `body` is sent along with the reason. */
export function abilityButton(abilityId, name, { id, after, words = {}, body = {}, kind }) {
  const { label, scope, done, title, text, confirm, tone, required = false } = { ...ABILITY_ACTIONS[name], ...words };
  const post = command(name);
  return actButton({
    id,
    label,
    kind: kind ?? (tone === "bad" ? "danger quiet" : ""),
    scope,
    done,
    dialog: () => ({ title, text, confirm, tone, fields: [{ name: "reason", label: "Reason", required, limit: MOST_REASON }] }),
    act: ({ reason }) => post(`abilities/${encodeURIComponent(abilityId)}/${name.replaceAll("_", "-")}`, reason ? { ...body, reason } : body),
    after,
  });
}
