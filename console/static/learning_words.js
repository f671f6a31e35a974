/** The words for what learning names in code: parameters, abilities' states and commands, mining, practice. */

import { THE_AGENT } from "./agent.js";

export const PARAMETER_TYPES = { text: "Text", number: "Number", date: "Date", path: "Path", choice: "Choice" };

export const DEPENDENCIES = {
  support_pack: "Support pack",
  app_manual: "Manual of an application",
  existing_skill: "Installed skill",
  capability_manifest: "Capability manifest",
  test_artifact: "Test",
};

/** How an installed ability stands: its word and tone. */
export const ABILITY_STATES = {
  active: ["Active", "good"],
  deactivated: ["Deactivated", "quiet"],
  quarantined: ["Quarantined", "bad"],
  archived: ["Archived", "quiet"],
};

export const CHECKPOINT_HEALTH = {
  strong: ["Checkpoints reached reliably", "good"],
  moderate: ["Checkpoints mostly reached", "you"],
  weak: ["Checkpoints often missed", "bad"],
  no_data: ["Checkpoints not tried yet", "quiet"],
  quarantined: ["Checkpoints led to quarantine", "bad"],
};

/**
 * The commands on an ability: what the button says, the right it takes, what is announced, and what is asked first.
 * `tone` is bad where something is taken away; `needed` is why a reason has to be given.
 */
export const ABILITY_ACTIONS = {
  activate: { label: "Activate…", scope: "install", done: "The ability is active", title: "Activate this ability?", text: "It can be found and used again.", confirm: "Activate" },
  promote_shared: { label: "Share with everybody…", scope: "approve", done: "The ability is shared", title: "Share this ability with everybody here?", text: "Every user of this installation can find and use it.", confirm: "Share" },
  rollback: { label: "Roll back…", scope: "install", done: "An earlier version is current again", title: "Go back to the version before?", text: "Its content becomes current again, as a new version. Nothing is deleted.", confirm: "Roll back", tone: "bad" },
  unquarantine: { label: "Lift the quarantine…", scope: "approve", done: "The quarantine is lifted", title: "Lift the quarantine?", text: "It can be used again, in the lane it was taken from. Say why that is safe.", confirm: "Lift it", required: true },
  demote_private: { label: "Make private…", scope: "install", done: "The ability is its owner's alone", title: "Make this ability private?", text: "Nobody but its owner can find or use it any more.", confirm: "Make private", tone: "bad" },
  deactivate: { label: "Deactivate…", scope: "install", done: "The ability is deactivated", title: "Deactivate this ability?", text: `It leaves routing and ${THE_AGENT}'s workspace, and its calls that run or wait are given up. Activating brings it back.`, confirm: "Deactivate", tone: "bad" },
  quarantine: { label: "Quarantine…", scope: "install", done: "The ability is quarantined", title: "Quarantine this ability?", text: "It is kept away from use until somebody has looked into what is wrong; its calls that run or wait are given up.", confirm: "Quarantine", tone: "bad", required: true },
  archive: { label: "Archive…", scope: "install", done: "The ability is archived", title: "Archive this ability?", text: "It is put away and its calls that run or wait are given up. Its versions and records stay; activating brings it back.", confirm: "Archive", tone: "bad" },
};

/** What mining may do by itself: a name, and what that means. */
export const MINING_MODES = {
  off: ["Off", "Nothing is looked at by itself."],
  ask_before_build: ["Ask before building", "What repeats is listed here; nothing is drafted before you accept it."],
  build_then_review: ["Build, then review", "A proposal is drafted and tested by itself. You decide on it."],
  auto_install_private: ["Install for you alone", "A proposal that passes its tests is installed for you alone."],
};

/** What became of a candidate: its word and tone. */
export const CANDIDATES = {
  open: { label: "Waits for you", tone: "you" },
  building: { label: "Being built", tone: "live" },
  built: { label: "Built", tone: "good" },
  failed: { label: "Not built", tone: "bad" },
  dismissed: { label: "Dismissed", tone: "quiet" },
  expired: { label: "Expired", tone: "quiet" },
};

/** What kept a group of traces from being suggested. */
export const GATES = {
  enough_traces: "Shown too rarely",
  low_variation: "Done too differently each time",
  verified: "Too little of the outcome can be seen",
  safe: "Not safe to repeat",
  no_friction: "A checkpoint was skipped or failed",
  not_covered: "Covered already",
  reusable: "Too particular to be used again",
};

export const MINING_RUNS = {
  running: ["Looking", "live"],
  completed: ["Finished", "good"],
  failed: ["Failed", "bad"],
  cancelled: ["Cancelled", "quiet"],
};

export const TRACE_SOURCES = { agent_observed: `Seen in ${THE_AGENT}'s work`, user_guided: "Shown by you", desktop_observed: `Seen outside ${THE_AGENT}` };

export const PRACTICE = {
  running: ["Practising", "live"],
  reached: ["Goal reached", "good"],
  asks: ["Has a question", "you"],
  budget_used: ["Budget used up", "bad"],
  cancelled: ["Cancelled", "quiet"],
  failed: ["Failed", "bad"],
};

export const IDEA_SOURCES = { allowed: "from what was allowed", ability: "from an ability", trace: "from a capture", model: "from a model" };

/** What an item in a category is. */
export const ITEM_KINDS = {
  task_template: "Task template",
  automation: "Automation",
  skill: "Skill",
  bundle: "Bundle",
  connector: "Connector",
  proposal: "Proposal",
  learned_ability: "Learned ability",
};

/** How a trial stands: its word and tone. */
export const TRIAL_STATES = {
  running: ["Running", "live"],
  passed: ["Passed", "good"],
  failed: ["Failed", "bad"],
  cancelled: ["Cancelled", "quiet"],
};

/** How a command of a trial ended, and whether a condition holds afterwards: tone and word. */
export const TRIAL_COMMANDS = { worked: ["good", "Worked"], failed: ["bad", "Failed"], not_run: ["skipped", "Not run"] };
export const TRIAL_CONDITIONS = {
  holds: ["good", "Holds"],
  failed: ["bad", "Failed"],
  not_applicable: ["skipped", "Not applicable"],
  not_checked: ["skipped", "Not checked"],
};
