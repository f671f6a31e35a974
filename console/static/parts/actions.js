/** Buttons for what the service says a session takes now, and why something usual is not among it. */

import { command as sender } from "../api.js";
import { announce, h } from "../dom.js";
import { identity } from "../identity.js";
import { live } from "../live.js";
import { lacking } from "./act.js";
import { whileBusy } from "./busy.js";
import { ask } from "./dialogs.js";
import { following } from "./following.js";
import { actionOf, COMMANDS } from "./session_commands.js";
import { prose } from "./notices.js";
import { trouble } from "./trouble.js";

/** What goes on by itself needs no word on why one has to wait: the state says it. */
const PASSING = new Set(["VALIDATION_IN_PROGRESS", "INSTALL_IN_PROGRESS"]);

const EVERYWHERE = Object.keys(COMMANDS).filter((name) => name !== "trim");

/** Of those in `only`. `detail` is the proposal as it was read, `observed` the capture: what the dialogs need. */
export function actions(session, { detail = null, observed = null, only = EVERYWHERE, place = "page" } = {}) {
  const offered = only.filter((name) => session.allowed_actions.includes(actionOf(name)));
  const first = Object.keys(COMMANDS).find((name) => offered.includes(name) && COMMANDS[name].primary);
  const ordered = Object.keys(COMMANDS).filter((name) => offered.includes(name));
  const buttons = ordered.map((name) => button(name, session, { detail, observed }, { primary: name === first, place }));
  const reasons = notYet(session, only);
  if (!buttons.length && !reasons.length) return null;
  return h("div", { class: "actions" }, h("div", { class: "buttons" }, buttons), reasons, lacking(...offered.map((name) => COMMANDS[name].scope)));
}

/** Why what one looks for here is not offered; one line for what has one reason. */
function notYet({ refused_actions: refused }, only) {
  const byReason = new Map();
  for (const { action, code, reason } of refused) {
    const name = only.find((one) => actionOf(one) === action);
    if (!name || PASSING.has(code)) continue;
    byReason.set(reason, [...(byReason.get(reason) ?? []), COMMANDS[name].label.replace("…", "")]);
  }
  return [...byReason].map(([reason, labels]) => h("p", { class: "hint" }, h("strong", {}, `${labels.join(", ")}: `), prose(reason)));
}

function button(name, session, context, { primary, place }) {
  const command = COMMANDS[name];
  const kind = primary ? "primary" : command.tone === "bad" ? "danger quiet" : "";
  const attributes = { type: "button", class: kind, id: `${place}-${name}`, disabled: !identity.may(command.scope) };
  const element = h("button", attributes, command.label);
  const post = sender(name);
  element.addEventListener("click", async () => {
    trouble.clear();
    if (!command.dialog) return attempt();
    if (await ask({ ...command.dialog(context), act: perform })) await settled(command);
  });
  return element;

  async function perform(values) {
    await command.check?.(context.detail);
    return post(command.path(session), command.body?.(values, context) ?? filled(values));
  }

  async function attempt() {
    trouble.clear();
    await whileBusy(element, async () => {
      try {
        const sent = () => perform({});
        await (command.workflow ? following(element, command.workflow(session), sent) : sent());
        await settled(command);
      } catch (error) {
        trouble.report(error, error.retryable ? attempt : null);
        if (!error.retryable) live.refresh().catch(() => {});
      }
    });
  }
}

async function settled(command) {
  announce(command.does);
  await live.refresh().catch(() => {});
}

const filled = (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
