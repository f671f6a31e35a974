/** The words for what the tool gateway names in code: badges, states of approvals, tools, health and policy. */

export const BADGES = {
  connected: ["Connected", "good"],
  approval_required: ["Asks first", "you"],
  auth_required: ["Sign-in needed", "bad"],
  degraded: ["Degraded", "bad"],
  disabled: ["Switched off", "quiet"],
  deferred: ["Deferred", "quiet"],
  background_only: ["Background only", "active"],
};

export const APPROVALS = {
  pending: ["Waits for you", "you"],
  approved_once: ["Approved once", "good"],
  approved_until_end_of_turn: ["Approved for the turn", "good"],
  approved_for_session: ["Approved for the session", "good"],
  denied: ["Denied", "bad"],
  expired: ["Expired", "quiet"],
  cancelled: ["Cancelled", "quiet"],
  resumed: ["Let pass by policy", "good"],
};

/** Whose permission a call was made with. */
export const IDENTITIES = {
  local_user: "you, on this machine",
  oauth_user: "an account that you signed in to",
  service_principal: "a service of its own",
  unknown: "a key whose owner is not known",
};

/** What came of a call, where it is over. */
export const ENDS = {
  running: "The call is being made.",
  pending_approval: "It waits for a person.",
  completed: "The tool has answered.",
  blocked: "Policy blocked it.",
  denied: "Nothing was sent.",
  expired: "Nobody answered in time; nothing was sent. It has to be asked for again.",
  cancelled: "It was given up.",
  auth_required: "Nothing was sent: a sign-in is needed.",
  failed: "The call failed.",
  outcome_unknown: "Nobody knows whether the tool did its work. Look at its effect before it is called again.",
};

export const MODES = {
  enabled: ["Allowed", "good"],
  ask_first: ["Asks first", "you"],
  disabled: ["Off", "bad"],
};

/** What a person may choose for a target. */
export const CHOICES = { enabled: "Allow", ask_first: "Ask first", disabled: "Switch off" };

export const INHERITED = {
  none: "decided here",
  global: "inherited from what holds for everything",
  provider: "inherited from its provider",
  server: "inherited from its server",
};

export const TOOL_STATES = {
  pinned: ["Looked at", "good"],
  added: ["New, not looked at", "you"],
  changed: ["Changed since it was looked at", "bad"],
  removed: ["Gone", "quiet"],
};

export const EFFECTS = { read: "Reads", create: "Creates", update: "Changes", delete: "Deletes", send: "Sends" };

export const HEALTH = {
  healthy: ["Healthy", "good"],
  degraded: ["Degraded", "bad"],
  disabled: ["Disabled", "quiet"],
  unknown: ["Not looked at yet", "quiet"],
};

export const ADAPTER_STATES = {
  healthy: ["Healthy", "good"],
  degraded: ["Degraded", "bad"],
  disabled: ["Switched off", "quiet"],
  missing: ["Not available", "bad"],
};

export const DOCUMENT_OPERATIONS = {
  extract_text: "Read text",
  extract_tables: "Read tables",
  ocr: "Read text in pictures",
  redaction_prep: "Prepare a redaction",
};

export const ACTION_CLASSES = {
  search: "Searches",
  fetch: "Fetches",
  read: "Reads",
  write: "Writes",
  update: "Changes",
  send: "Sends",
  schedule: "Puts on a calendar",
  other: "Something else",
};

export const PROVIDERS = {
  m365: "Microsoft 365",
  gmail_google: "Google",
  acrobat: "Acrobat",
  custom_remote: "Your own",
  provider_native: "Agent runtime",
};

export const TRANSPORTS = { remote_http: "over HTTP", local_bridge: "on the worker's machine", provider_native: "inside its provider" };

/** Scopes of standing approvals. */
export const SCOPES = { end_of_turn: "until the end of the turn", session: "for the session" };
