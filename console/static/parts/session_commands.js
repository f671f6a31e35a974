/** What a person can say to a session: the button's words, the right it takes, where it goes, what is asked first. */

import { ofAgent, THE_AGENT } from "../agent.js";
import { ApiError, get } from "../api.js";
import { facts, h } from "../dom.js";
import { sessionWorkflow } from "../session_data.js";
import { plural } from "../wording.js";
import { unprovedList } from "./checks.js";

const onSession = (name) => (session) => `learn/sessions/${session.learn_session_id}/${name}`;
const onProposal = (name) => (session) => `learn/proposals/${session.proposal_id}/${name}`;

/**
 * In the order they are offered. `action` is the service's name for it where that is another; `does` is announced
 * when it is done; `body` is what is sent, of what was filled in and read; `check` may still stop it; `workflow`
 * names the one whose reports are shown meanwhile.
 */
export const COMMANDS = {
  resume: { label: "Resume", scope: "learn", path: onSession("resume"), primary: true, does: "Capture goes on" },
  start: { label: "Start capture", scope: "learn", path: onSession("start"), does: "Capture has begun" },
  stop: { label: "Stop capture", scope: "learn", path: onSession("stop"), primary: true, does: "Capture has ended" },
  pause: { label: "Pause", scope: "learn", path: onSession("pause"), does: "Capture is paused" },
  "mark-step": { action: "mark", label: "Mark a step…", scope: "learn", path: onSession("mark-step"), dialog: stepMark, does: "The step is marked" },
  "mark-goal": { action: "mark", label: "Say the goal…", scope: "learn", path: onSession("mark-goal"), dialog: goalMark, does: "The goal is noted" },
  trim: { label: "Trim…", scope: "learn", path: onSession("trim"), dialog: trimming, does: "The capture is trimmed" },
  "generate-proposal": { label: "Draft a proposal", scope: "learn", path: onSession("generate-proposal"), workflow: sessionWorkflow, primary: true, does: "A proposal is drafted" },
  approve: { label: "Approve…", scope: "approve", path: onProposal("approve"), primary: true, dialog: approval, check: unchanged, body: accepting, does: "Approved and installed" },
  install: { label: "Install privately…", scope: "install", path: onProposal("install"), primary: true, dialog: privateInstall, check: unchanged, body: (values, context) => ({ ...accepting(values, context), install_lane: "experimental_private" }), does: "Installed for you alone" },
  validate: { label: "Validate", scope: "learn", path: onProposal("validate"), primary: true, does: "The checks have started" },
  revise: { label: "Revise…", scope: "learn", path: onProposal("revise"), dialog: revision, does: "The draft is revised" },
  reject: { label: "Reject…", scope: "approve", path: onProposal("reject"), tone: "bad", dialog: rejection, does: "Rejected" },
  cancel: { label: "Cancel session…", scope: "learn", path: onSession("cancel"), tone: "bad", dialog: cancellation, does: "The session is cancelled" },
};

export const actionOf = (name) => COMMANDS[name].action ?? name;

/** What is decided on is the draft that was read: had it changed meanwhile, nothing would be installed. */
async function unchanged(detail) {
  const { proposal } = await get(`learn/proposals/${detail.proposal.proposal_id}/detail`);
  if (proposal.content_hash === detail.proposal.content_hash) return;
  const message = "The draft has changed since you opened it; nothing was installed.";
  throw new ApiError({ code: "DRAFT_CHANGED", message, retryable: false });
}

const identified = (proposal) =>
  facts([
    ["Skill folder", proposal.proposed_skill_slug],
    ["Revision", proposal.revision],
    ["Content", h("code", { title: proposal.content_hash }, proposal.content_hash.slice(0, 12))],
  ]);

/** What is accepted is the list that was read: the service refuses the acceptance of another one. */
function accepting(values, { detail }) {
  const filled = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
  return detail.unproved_digest ? { ...filled, unproved_digest: detail.unproved_digest } : filled;
}

const read = ({ proposal, unproved }) => [identified(proposal), unproved.length > 0 && unprovedList(unproved)];

const acceptance = ({ unproved }) =>
  unproved.length > 0 ? [{ name: "accept_unproved", label: "I have read what is not proved, and accept it as it is.", box: true, required: true }] : [];

function approval({ detail }) {
  const { proposal } = detail;
  return {
    title: `Approve “${proposal.title}”?`,
    text: `It is installed into the workspace, where ${THE_AGENT} can find and use it. If a step fails, every step is undone.`,
    details: read(detail),
    fields: [...acceptance(detail), { name: "approval_note", label: "Note", limit: 1000 }],
    confirm: "Approve and install",
  };
}

function privateInstall({ detail }) {
  const { proposal } = detail;
  return {
    title: `Install “${proposal.title}” for you alone?`,
    text: `${ofAgent("Your agent can find and use it, nobody else’s.", (name) => `${name} can find and use it for you alone.`)} You can approve it for the workspace afterwards. If a step fails, every step is undone.`,
    details: read(detail),
    fields: acceptance(detail),
    confirm: "Install privately",
  };
}

function revision({ detail: { proposal } }) {
  return {
    title: `Revise “${proposal.title}”?`,
    text: "It is drafted anew with what you write here, for example: remove step 3; swap steps 2 and 3; change the condition of step 2 to …; add to Done when: …; call the parameter width `pixels`; make 800 fixed; rename the title to …. What is not understood is said under “About that”. What was proven of the present draft has to be proven again.",
    fields: [{ name: "revision_instructions", label: "What to change", required: true, limit: 2000 }],
    confirm: "Revise",
  };
}

function stepMark() {
  return {
    title: "Mark a step?",
    text: "What you show from now on belongs to this step, until you mark the next one.",
    fields: [{ name: "step_label", label: "What the step does", required: true, limit: 240 }],
    confirm: "Mark it",
  };
}

function goalMark() {
  return {
    title: "What is this for?",
    text: "The goal in your own words. The skill is named and found by it; the newest one counts.",
    fields: [{ name: "goal_description", label: "Goal", required: true, limit: 400 }],
    confirm: "Note the goal",
  };
}

function trimming({ observed: { observations, total, page, page_size: size } }) {
  const before = (page - 1) * size;
  const only = total > observations.length ? ` Of ${plural(total, "action")}, those of the page that is shown can be chosen here.` : "";
  return {
    title: "Trim the capture?",
    text: `What you leave out is not learned from. It stays on record until the capture is deleted.${only}`,
    fields: [
      { name: "trim_kind", label: "Leave out", options: [["trim_start", "everything before this action"], ["trim_end", "everything after this action"]] },
      { name: "to_event_id", label: "Action", options: observations.map((one, index) => [one.event_id, `${before + index + 1}. ${one.terminal?.command ?? one.action_label}`]) },
    ],
    confirm: "Trim",
  };
}

function rejection() {
  return {
    title: "Reject this proposal?",
    text: "This is final. The session's settings can be used again for a new one.",
    fields: [{ name: "reason", label: "Reason", required: true, limit: 1000 }],
    confirm: "Reject for good",
    tone: "bad",
  };
}

function cancellation() {
  return {
    title: "Cancel this session?",
    text: "It ends without an ability, for good. What was observed is deleted after the usual time.",
    fields: [{ name: "reason", label: "Reason", limit: 240 }],
    confirm: "Cancel session",
    tone: "bad",
  };
}
