/** The words for what the runtime of skills names in code: states of folders, of invocations, kinds of inbox items. */

export const SKILL_STATES = {
  ready: ["Ready", "good"],
  awaiting_approval: ["Awaits approval", "you"],
  malformed: ["Malformed", "bad"],
  quarantined: ["Quarantined", "bad"],
  retired: ["Retired", "quiet"],
};

export const RUN_STATES = {
  queued: ["Queued", "live"],
  running: ["Running", "live"],
  awaiting_confirmation: ["Waits for you", "you"],
  success: ["Done", "good"],
  partial: ["Done in part", "you"],
  failure: ["Failed", "bad"],
  outcome_unknown: ["Not known what happened", "bad"],
  cancelled: ["Given up", "quiet"],
  expired: ["Expired", "quiet"],
};

export const OPEN_RUNS = ["queued", "running", "awaiting_confirmation"];

export const EFFECT_STATES = { satisfied: ["Came about", "good"], partial: ["In part", "you"], failed: ["Did not", "bad"] };

export const INBOX_KINDS = {
  approval: "Tool call",
  confirmation: "Skill",
  question: "Question",
  review: "Draft",
  message: "Message",
  check_in: "Check-in",
  escalation: "Needs you",
  approved_content: "Approved content",
};

/** What a skill may touch outside of its own process, each in words. */
export function permissionsOf(asked) {
  if (!asked) return [];
  const all = [
    ...asked.local_binaries.map((name) => `the program ${name}`),
    ...asked.hosts.map((name) => `the host ${name}`),
    ...asked.services.map((name) => `the service ${name}`),
    asked.network && "the network",
    asked.telegram && "messages to the operator",
    asked.openclaw_action && "the OpenClaw gateway",
  ].filter(Boolean);
  return all.length ? all : ["nothing outside of its own process"];
}
