/** What a person can decide about an import: the button's words, the right it takes, what is asked first. */

import { command } from "../api.js";
import { actButton } from "./act.js";
import { unprovedList } from "./checks.js";

const MOST_REASON = 1000;
/** For whom something is installed. */
export const TARGETS = [
  ["private", "For me alone"],
  ["workspace", "For the whole workspace (needs the right approve)"],
];
const RETRIES = {
  scan_failed: ["scan", "Check it again", "learn"],
  stage_failed: ["stage", "Keep it again", "learn"],
  install_failed: ["install", "Install it again", "install"],
};

/** The buttons of an import as it stands, the usual one first; none where it is over or under way. */
export function importButtons(detail, refresh) {
  const { import_id: id, stage_state: state } = detail.import_record;
  const button = ({ path, label, scope, done, kind = "", given = {}, dialog }) => {
    const post = command(`import-${path}`);
    const send = (values) => post(`skills/import/${path}`, { import_id: id, ...given, ...filled(values) });
    return actButton({ id: `${path}-${id}`, label, kind, scope, done, dialog, act: send, after: refresh });
  };
  if (state === "scan_complete") return [mayBeStaged(detail) && button(staging(detail)), button(dropping(detail))];
  if (state === "ready_for_review") return [installing, approving, rejecting, dropping].map((one) => button(one(detail)));
  const retry = RETRIES[state];
  if (!retry) return [];
  const [kind, label, scope] = retry;
  const again = button({ path: "retry", label, scope, kind: "primary", done: "It was tried again", given: { retry_kind: kind } });
  return [again, !detail.import_record.set_aside_at && button(dropping(detail))];
}

const filled = (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));

/** An incompatible bundle is kept for review only where a scan's findings are all that is in its way. */
function mayBeStaged({ compatibility_report: report, held_up_by: held }) {
  return (report?.compatible && !report.requires_adapter) || Boolean(held?.only_obstacle);
}

const isHeld = ({ held_up_by: held, override }) => held && !override;

/** Asked for where findings are gone on in spite of; it is recorded with who said it and when. */
const overriding = (detail) =>
  isHeld(detail)
    ? [{ name: "override_reason", label: `Why you go on in spite of ${detail.held_up_by.codes.join(", ")} (needs the right ${detail.held_up_by.needs})`, required: true, limit: MOST_REASON }]
    : [];

function staging(detail) {
  const { skill_name: name } = detail.import_record;
  const needed = !detail.compatibility_report.compatible;
  const dialog = () => ({ title: `Keep “${name}” for review?`, text: "Its files are kept as they are. Nothing is installed, and nothing of it is run.", fields: overriding(detail), confirm: "Keep it" });
  return { path: "stage", label: needed ? "Keep it for review…" : "Keep it for review", scope: isHeld(detail) ? detail.held_up_by.needs : "learn", kind: needed ? "" : "primary", done: `${name} is kept for review`, dialog: needed ? dialog : undefined };
}

function installing(detail) {
  const { import_record: record, unproved, unproved_digest: digest } = detail;
  const accepted = unproved.length ? [{ name: "accept_unproved", label: "I have read what is not proved, and accept it as it is.", box: true, required: true }] : [];
  const dialog = () => ({
    title: `Install “${record.skill_name}”?`,
    text: "It becomes an ability that agents find and use. If a step fails, every step is undone.",
    details: unproved.length > 0 && unprovedList(unproved),
    fields: [{ name: "target_scope", label: "For whom", options: TARGETS }, ...overriding(detail), ...accepted],
    confirm: "Install",
  });
  return { path: "install-private", label: "Install…", scope: "install", kind: "primary", done: `${record.skill_name} is installed`, given: digest ? { unproved_digest: digest } : {}, dialog };
}

function approving(detail) {
  const { skill_name: name } = detail.import_record;
  const fields = [...overriding(detail), { name: "approval_note", label: "Note", limit: MOST_REASON }];
  const dialog = () => ({ title: `Approve “${name}” without installing it?`, text: "The import ends here, and nothing is installed. To install it, use Install in place of this.", fields, confirm: "Approve" });
  return { path: "approve", label: "Approve only…", scope: "approve", done: `${name} is approved`, dialog };
}

function rejecting({ import_record: { skill_name: name } }) {
  const dialog = () => ({ title: `Turn “${name}” down?`, text: "The import ends here.", fields: [{ name: "reason", label: "Why", required: true, limit: MOST_REASON }], confirm: "Turn it down", tone: "bad" });
  return { path: "reject", label: "Turn it down…", scope: "approve", kind: "danger quiet", done: `${name} is turned down`, dialog };
}

function dropping({ import_record: { skill_name: name } }) {
  const dialog = () => ({ title: `Drop “${name}”?`, text: "The import ends here, without a decision about the skill.", fields: [{ name: "reason", label: "Why", limit: MOST_REASON }], confirm: "Drop it", tone: "bad" });
  return { path: "discard", label: "Drop it…", scope: "learn", kind: "danger quiet", done: `${name} is dropped`, dialog };
}
