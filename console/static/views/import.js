/** One import: where it stands, what was found in it, what nothing proves, and the decision about it. */

import { get } from "../api.js";
import { facts, h, Section, time } from "../dom.js";
import { IMPORT_SOURCES, IMPORT_STATES, SEVERITIES } from "../import_words.js";
import { lacking } from "../parts/act.js";
import { unprovedList } from "../parts/checks.js";
import { copyable } from "../parts/copyable.js";
import { importButtons } from "../parts/import_commands.js";
import { mark, pill } from "../parts/marks.js";
import { poll } from "../parts/polling.js";
import { triggerTest } from "../parts/trigger_test.js";
import { plural } from "../wording.js";

/** States in which it is of use to know which requests would lead to it. */
const UNDECIDED = new Set(["scan_complete", "ready_for_review", "install_failed"]);

export function importView(page, id) {
  const [head, found, decision, trial] = [new Section(), new Section(), new Section(), new Section()];
  poll(page);
  return async () => {
    const detail = await get(`skills/import/${encodeURIComponent(id)}`, { signal: page.signal });
    const { import_record: record, compatibility_report: report, overlaps, unproved } = detail;
    page.heading.textContent = record.skill_name;
    document.title = `${record.skill_name} · Import`;
    head.show(detail, standing);
    found.show({ report, overlaps, unproved }, findings);
    decision.show(detail, () => deciding(detail, () => page.refresh()));
    trial.show(UNDECIDED.has(record.stage_state), (shown) => shown && part("Would agents find it?", triggerTest(id)));
    return head.element.isConnected ? null : [head.element, decision.element, found.element, trial.element];
  };
}

function standing({ import_record: record, ability_id: ability, held_up_by: held, override, warnings }) {
  const [label, tone, says] = IMPORT_STATES[record.stage_state];
  return [
    h("p", { class: "back" }, h("a", { href: "#/imports" }, "← All imports")),
    h(
      "section",
      { class: "card", "aria-label": "Where it stands" },
      h("div", { class: "pills" }, pill(label, tone)),
      h("p", { class: "lead" }, says),
      ability && h("p", {}, h("a", { href: `#/skills/${encodeURIComponent(ability)}` }, "See the ability")),
      warnings.map((one) => h("p", { class: "notice" }, one.replace(/^\w+: /, ""))),
      held && !override && h("p", { class: "notice", "data-tone": "bad" }, heldUp(held)),
      override && h("p", { class: "notice" }, `${override.by_user_id} went on in spite of ${override.codes.join(", ")}: ${override.reason}`),
      facts([
        ["File", record.original_filename],
        ["From", IMPORT_SOURCES[record.source]],
        ["Pack", record.skill_pack && h("a", { href: `#/packs/${encodeURIComponent(record.skill_pack)}` }, record.skill_pack)],
        ["Came", time(record.created_at)],
        ["Last change", time(record.updated_at)],
        ["Tried again", record.retry_count > 0 && plural(record.retry_count, "time")],
        ["Last error", record.last_error_code && [h("code", {}, record.last_error_code), record.last_error && ` ${record.last_error}`]],
        ["Set aside", record.set_aside_at && time(record.set_aside_at)],
      ]),
    ),
  ];
}

function heldUp({ codes, needs, only_obstacle: only }) {
  const what = `Held up by ${codes.join(", ")}`;
  return only ? `${what}. Going on takes a reason and the right ${needs}.` : `${what} and by other errors, which no reason mends.`;
}

function findings({ report, overlaps, unproved }) {
  return [
    report && part("What was found", [h("div", { class: "pills" }, judged(report)), report.findings.length > 0 ? h("ul", { class: "cases", "aria-label": "Findings", tabindex: "0" }, report.findings.map(finding)) : h("p", {}, "Nothing that a person has to know.")]),
    overlaps.length > 0 && part("Abilities that answer its triggers", h("ul", { class: "listed" }, overlaps.map(overlap))),
    unproved.length > 0 && part("Not proved", [h("p", {}, "Nothing here can show that these work:"), unprovedList(unproved)]),
  ];
}

function part(title, content) {
  const id = `part-${title.toLowerCase().replaceAll(/[^a-z]+/g, "-")}`;
  return h("section", { class: "card", "aria-labelledby": id }, h("h2", { id }, title), content);
}

function judged({ compatible, requires_adapter: adapter }) {
  return [pill(compatible ? "Compatible" : "Not compatible", compatible ? "good" : "bad"), adapter && pill("Needs an adapter", "bad")];
}

function finding({ code, severity, message, path_hint: path }) {
  const [word, tone] = SEVERITIES[severity];
  return h("li", {}, mark(tone, word), h("span", {}, `${word}: ${message}`, h("span", { class: "case-details" }, h("code", {}, code), path && ` in ${path}`)));
}

function overlap({ ability_id: id, title, triggers }) {
  return h("li", {}, h("a", { href: `#/skills/${encodeURIComponent(id)}` }, title), ` answers ${triggers.map((one) => `“${one}”`).join(", ")}`);
}

function deciding(detail, refresh) {
  const buttons = importButtons(detail, refresh).filter(Boolean);
  const [usual] = detail.next;
  if (!buttons.length && !usual) return null;
  return h(
    "section",
    { class: "card", "aria-label": "What comes next" },
    buttons.length > 0 && h("div", { class: "buttons" }, buttons),
    buttons.length > 0 && lacking(...rightsOf(detail)),
    usual && h("p", { class: "meta" }, `${usual.what}, at the command line:`),
    usual && copyable(usual.command),
  );
}

function rightsOf({ import_record: { stage_state: state }, held_up_by: held, override }) {
  const decided = state === "ready_for_review" ? ["install", "approve"] : state === "install_failed" ? ["install"] : [];
  return ["learn", ...decided, ...(held && !override ? [held.needs] : [])];
}
