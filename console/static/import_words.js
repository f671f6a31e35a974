/** The words for what imports and packs name in code: states, where bundles come from, how grave a finding is. */

/** How a state reads, how it is to be looked at, and what it waits for. */
export const IMPORT_STATES = {
  upload_pending: ["Being uploaded", "live", "The archive is on its way."],
  uploaded: ["Uploaded", "live", "It is kept for 24 hours; its check comes next."],
  scanning: ["Being checked", "live", "The archive is unpacked, read and scanned. Nothing of it is run."],
  scan_failed: ["Check failed", "bad", "The archive was not taken. What was found says why."],
  scan_complete: ["Checked", "you", "Read what was found, then keep it for review or drop it."],
  staging: ["Being kept", "live", "Its files are kept for review."],
  stage_failed: ["Not kept", "bad", "Its files could not be kept for review."],
  ready_for_review: ["Ready for review", "you", "It waits for your decision, without a deadline."],
  install_queued: ["Installing", "live", "It is checked and installed as a learned ability is."],
  install_failed: ["Not installed", "bad", "The install ended with an error, and all of it was undone."],
  installed_private: ["Installed", "good", "It is listed under Skills."],
  approved: ["Approved", "good", "It was approved without being installed. To install it, import its archive again."],
  rejected: ["Turned down", "bad", "It was turned down."],
  discarded: ["Dropped", "quiet", "It was dropped."],
  expired: ["Expired", "quiet", "Its upload is gone after 24 hours. Import the archive again."],
};

export const IMPORT_SOURCES = {
  manual_upload: "A file of mine",
  anthropic_bundle: "A bundle for Claude",
  openclaw_bundle: "A bundle for OpenClaw",
  elnor_generated: "Made by an agent",
};

export const SEVERITIES = {
  error: ["Error", "bad"],
  warning: ["Warning", "you"],
  info: ["Note", "quiet"],
};

/** What an install of the pack would do with a member. */
export const PACK_MEMBER_STATES = {
  installed: ["Installed", "good"],
  ready: ["To be installed", "you"],
  unavailable: ["Not here", "bad"],
};

/** How far a member of an install has come: how it is marked, and the word for it. */
export const PACK_STEPS = {
  kept: ["good", "Was here already"],
  pending: ["waiting", "Not reached"],
  installing: ["live", "Being installed"],
  installed: ["good", "Installed"],
  failed: ["bad", "Failed"],
  rolled_back: ["undone", "Undone"],
  rollback_failed: ["bad", "Undo failed"],
};
