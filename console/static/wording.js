/** The words for what the service names in code. Every state, check and kind has its own. */

import { ofAgent } from "./agent.js";

/** How a state reads, what it waits for, how far along it is (0-4) and how it is to be looked at. */
export const STATES = {
  idle: { label: "Being set up", waits: "It is being armed.", phase: 0, tone: "active" },
  armed: { label: "Armed", waits: "Waits for the first action. Show the task in a recorded terminal.", phase: 0, tone: "active" },
  capturing: { label: "Capturing", waits: "Your demonstration is being recorded. Stop when the task is done.", phase: 0, tone: "live" },
  paused: { label: "Paused", waits: "Nothing is recorded until you resume.", phase: 0, tone: "you" },
  stopped: { label: "Captured", waits: "The demonstration is complete. Have a proposal drafted from it.", phase: 1, tone: "you" },
  reviewing: { label: "Captured", waits: "The demonstration is complete. Have a proposal drafted from it.", phase: 1, tone: "you" },
  awaiting_questions: { label: "Has questions", waits: "Waits for your answers.", phase: 1, tone: "you" },
  drafting_proposal: { label: "Drafted", waits: "Read what was understood, then have it proven.", phase: 2, tone: "you" },
  testing_proposal: { label: "Being proven", waits: "The checks are running.", phase: 2, tone: "live" },
  ready_for_review: { label: "Ready for review", waits: "It is proven. Waits for your decision.", phase: 3, tone: "you" },
  installing_private: { label: "Installing", waits: "It is being installed for you alone.", phase: 3, tone: "live" },
  installed_private: { label: "Active for you", waits: "Only you can use it. Approve it to add it to Skills.", phase: 4, tone: "you" },
  approved: { label: "Approved", waits: "It is installed and listed under Skills.", phase: 4, tone: "good" },
  rejected: { label: "Rejected", waits: "It was turned down. Its settings can be used again for a new session.", phase: 3, tone: "bad" },
  cancelled: { label: "Cancelled", waits: "It ended without an ability.", phase: 0, tone: "quiet" },
  quarantined: { label: "Quarantined", waits: "It is kept away from use until it is revised.", phase: 3, tone: "bad" },
};

export const PHASES = ["Show", "Understand", "Prove", "Decide", "Use"];

/** What to type where the console has no button for the next step. */
export const NEXT_COMMAND = {
  armed: (id) => `apprentice record terminal --session ${id}`,
  rejected: (id) => `apprentice learn create --clone-of ${id}`,
};

export const MODES = {
  demonstrating_skill: "Demonstrating Skill",
  coaching_agent: ofAgent("Coaching Agent", (name) => `Coaching ${name}`),
  autonomous_agent_practice: ofAgent("Autonomous Agent Practice", (name) => `${name} Practice`),
  improving_existing_skill: "Improving Existing Skill",
  import_skill: "Import Skill",
};

export const PENDING = {
  capturing: "Capturing",
  awaiting_input: "Awaiting input",
  drafting: "Drafting",
  testing: "Testing",
  ready_for_review: "Ready for review",
  private_active: "Active for you",
  revision_required: "Revision required",
};

export const CHECKS = {
  lint: ["Lint", "The files are well formed and hold no secret."],
  trigger: ["Triggers", "It is found by what it is for, and not by what it is not for."],
  dry_run: ["Dry run", "Every command parses and stays within the policy."],
  dependency_check: ["Dependencies", "The programs it calls exist, and its name is free."],
  rehearsal: ["Rehearsal", "The commands really run in a sandbox, with the effects that were shown."],
  ablation: ["Ablation", "Each condition breaks when some step is left out."],
  variation: ["Variation", "Each condition holds when the input is another one."],
};

export const SAGA_STEPS = {
  plan: "Plan",
  materialise: "Write the files",
  project_workspace: "Put them into the workspace",
  rebuild_bridge: "Rebuild the bridge",
  refresh_availability: "Refresh availability",
};

export const SAGA_STATES = {
  running: ["Installing", "live"],
  installed: ["Installed", "good"],
  compensating: ["Being undone", "live"],
  rolled_back: ["Undone: everything is as before", "bad"],
  rollback_failed: ["The undo failed: see the step", "bad"],
};

export const OUTCOMES = {
  approved: ["Approved", "good"],
  rejected: ["Rejected", "bad"],
  cancelled: ["Cancelled", "quiet"],
  in_progress: ["In progress", "active"],
  quarantined: ["Quarantined", "bad"],
};

/** Of a session that ended in quarantine, once its ability is out of it. */
export const LIFTED = ["Quarantined, lifted since", "quiet"];

/** What a session waits for. */
export const waitsFor = (session) => (session.quarantine_lifted ? "Its ability is in use again: the quarantine was lifted." : STATES[session.state]?.waits);

export const LANES = {
  pending: "Pending",
  experimental_private: "For you alone",
  approved_workspace: "Workspace",
  shared_promoted: "Shared",
  quarantined: "Quarantined",
};

export const SOURCES = { learned: "Learned", imported: "Imported", native: "Native", promoted: "Promoted" };

const REMEDIES = {
  UNAUTHENTICATED: "See that the whole token was copied, and that it belongs to this installation; the places to find it are named below.",
  FORBIDDEN: "Sign out and paste a token that has this right.",
  UNREACHABLE: "See that `apprentice up` is running, then try again.",
  TEMPORAL_UNAVAILABLE: "Nothing was changed. See that `apprentice up` is running, then try again.",
  PARTIAL_DEPLOYMENT: "Nothing was changed. See that `apprentice up` is running and may write the memory tree, then try again.",
  STORAGE_FULL: "Free space on the machine that runs the service, then try again.",
  INVALID_LEARN_STATE_TRANSITION: "The session has moved on; what is shown here is being refreshed.",
  CAPTURE_ALREADY_STOPPED: "The capture has ended; what is shown here is being refreshed.",
  VALIDATION_REQUIRED: "Validate the proposal first.",
  VALIDATION_IN_PROGRESS: "Wait until the checks have ended.",
  UNPROVED_NOT_ACCEPTED: "Read what is not proved, then tick that you accept it.",
  INSTALL_IN_PROGRESS: "Wait until the install has ended.",
  CHECKPOINT_LINT_FAILED: "Revise the draft: its lint findings say what to write instead.",
  INSUFFICIENT_TRACES: "Nothing useful was captured. Cancel, and show the task again.",
  SESSION_TIMEOUT: "Start a new session.",
  MCP_ASK_FIRST_DECIDED: "Somebody else was first; what is shown here is being refreshed.",
  MCP_ASK_FIRST_EXPIRED: "Its time ran out and nothing was sent. Who asked has to ask again.",
  MCP_TOOL_CHANGED: "Look at the tool as it is now, then decide again.",
  DRAFT_CHANGED: "Read the draft as it is now, then decide again.",
};

/** What a person can do about an error. */
export function remedy(error) {
  if (REMEDIES[error.code]) return REMEDIES[error.code];
  if (error.extra?.recovery) return error.extra.recovery;
  if (error.status === 404) return "It may be gone, or belong to somebody else. Go back to the list.";
  return error.retryable ? "Try again in a moment." : "If this is not clear, `apprentice doctor` checks the installation.";
}

/** A receipt's kind in plain words. */
export function receiptLabel(kind) {
  const words = kind.replaceAll("_", " ");
  return words[0].toUpperCase() + words.slice(1);
}

export const plural = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;
