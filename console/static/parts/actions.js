/** The commands a person can give a session from here: those its state takes, and no others. */

import { ApiError, command as sender, get } from "../api.js";
import { announce, facts, h } from "../dom.js";
import { identity } from "../identity.js";
import { live } from "../live.js";
import { vocabulary } from "../vocabulary.js";
import { ask } from "./dialogs.js";
import { trouble } from "./trouble.js";

const onSession = (name) => (session) => `learn/sessions/${session.learn_session_id}/${name}`;
const onProposal = (name) => (session) => `learn/proposals/${session.proposal_id}/${name}`;

/** In the order they are offered; `does` says what is announced when it is done. */
const COMMANDS = {
  resume: { label: "Resume", scope: "learn", path: onSession("resume"), primary: true, does: "Capture goes on" },
  stop: { label: "Stop capture", scope: "learn", path: onSession("stop"), primary: true, does: "Capture has ended" },
  pause: { label: "Pause", scope: "learn", path: onSession("pause"), does: "Capture is paused" },
  "generate-proposal": { label: "Draft a proposal", scope: "learn", path: onSession("generate-proposal"), primary: true, does: "A proposal is drafted" },
  approve: { label: "Approve…", scope: "approve", path: onProposal("approve"), primary: true, dialog: approval, does: "Approved and installed" },
  validate: { label: "Validate", scope: "learn", path: onProposal("validate"), primary: true, does: "The checks have started" },
  reject: { label: "Reject…", scope: "approve", path: onProposal("reject"), tone: "bad", dialog: rejection, does: "Rejected" },
  cancel: { label: "Cancel session…", scope: "learn", path: onSession("cancel"), tone: "bad", dialog: cancellation, does: "The session is cancelled" },
};

/** Buttons for what `session` takes now, of those in `only`; none while an install is under way. */
export function actions(session, { detail = null, installing = false, only = Object.keys(COMMANDS), place = "page" } = {}) {
  const offered = installing ? [] : Object.keys(COMMANDS).filter((name) => only.includes(name) && vocabulary.takes[session.state]?.includes(name));
  const first = offered.find((name) => COMMANDS[name].primary);
  const buttons = offered.map((name) => button(name, session, detail, { primary: name === first, place }));
  const missing = [...new Set(offered.map((name) => COMMANDS[name].scope))].filter((scope) => !identity.may(scope));
  const hint = missing.length > 0 && h("p", { class: "hint" }, `Your token lacks ${missing.join(" and ")}; the buttons that need it are off.`);
  return offered.length ? h("div", { class: "actions" }, h("div", { class: "buttons" }, buttons), hint) : null;
}

function button(name, session, detail, { primary, place }) {
  const command = COMMANDS[name];
  const kind = primary ? "primary" : command.tone === "bad" ? "danger quiet" : "";
  const attributes = { type: "button", class: kind, id: `${place}-${name}`, disabled: !identity.may(command.scope) };
  const element = h("button", attributes, command.label);
  element.addEventListener("click", async () => {
    trouble.clear();
    const post = sender(name);
    const act = (body) => post(command.path(session), body);
    if (command.dialog) {
      if (await ask({ ...(await command.dialog(session, detail)), act: perform })) await settled(command);
      return;
    }
    await attempt();

    async function perform(values) {
      const { check, body } = command.prepare?.(detail, values) ?? {};
      await check?.();
      return act(body ?? filled(values));
    }

    async function attempt() {
      trouble.clear();
      element.setAttribute("aria-busy", "true");
      element.disabled = true;
      try {
        await act();
        await settled(command);
      } catch (error) {
        trouble.report(error, error.retryable ? attempt : null);
        if (!error.retryable) live.refresh().catch(() => {});
      } finally {
        element.disabled = false;
        element.removeAttribute("aria-busy");
      }
    }
  });
  return element;
}

async function settled(command) {
  announce(command.does);
  await live.refresh().catch(() => {});
}

const filled = (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));

/** What is decided on is the draft that was read: had it changed meanwhile, nothing would be approved. */
COMMANDS.approve.prepare = (detail) => ({
  check: async () => {
    const { proposal } = await get(`learn/proposals/${detail.proposal.proposal_id}/detail`);
    if (proposal.content_hash === detail.proposal.content_hash) return;
    const message = "The draft has changed since you opened it; nothing was approved.";
    throw new ApiError({ code: "DRAFT_CHANGED", message, retryable: false });
  },
});

async function approval(session, detail) {
  const { proposal } = detail;
  return {
    title: `Approve “${proposal.title}”?`,
    text: "It is installed into the workspace, where the agent can find and use it. If a step fails, every step is undone.",
    details: facts([
      ["Skill folder", proposal.proposed_skill_slug],
      ["Revision", proposal.revision],
      ["Content", h("code", { title: proposal.content_hash }, proposal.content_hash.slice(0, 12))],
    ]),
    fields: [{ name: "approval_note", label: "Note", limit: 1000 }],
    confirm: "Approve and install",
  };
}

async function rejection() {
  return {
    title: "Reject this proposal?",
    text: "This is final. The session's settings can be used again for a new one.",
    fields: [{ name: "reason", label: "Reason", required: true, limit: 1000 }],
    confirm: "Reject for good",
    tone: "bad",
  };
}

async function cancellation() {
  return {
    title: "Cancel this session?",
    text: "It ends without an ability, for good. What was observed is deleted after the usual time.",
    fields: [{ name: "reason", label: "Reason", limit: 240 }],
    confirm: "Cancel session",
    tone: "bad",
  };
}
