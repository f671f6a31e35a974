/** How a draft came about: who worded it, what varies in it, what it improves, and what it rests on. */

import { facts, h } from "../dom.js";
import { DEPENDENCIES, PARAMETER_TYPES } from "../learning_words.js";
import { plural } from "../wording.js";
import { pill } from "./marks.js";
import { nothing } from "./notices.js";

const MODEL = "model:";

const RULES = { deterministic: "The rules, without a model", improvement: "The rules, from the installed version" };

/** Who worded the draft, in words; a model is named. */
const drafter = (by) => (by.startsWith(MODEL) ? `The model ${by.slice(MODEL.length)}` : (RULES[by] ?? by));

export function wordedBy({ by, note, traces, dependencies }) {
  return [
    facts([
      ["Worded by", drafter(by)],
      ["Note", note],
      ["Drafted from", plural(traces, "demonstration")],
    ]),
    dependencies.length > 0 && restsOn(dependencies),
  ];
}

function restsOn(dependencies) {
  const rows = dependencies.map((one) =>
    h("li", {}, h("span", { class: "dependency-kind" }, DEPENDENCIES[one.dependency_kind] ?? one.dependency_kind), h("code", {}, one.dependency_ref), pill(one.required ? "Required" : "Optional", one.required ? "active" : "quiet")),
  );
  return h("div", { class: "listed" }, h("h3", { id: "rests-on" }, "Rests on"), h("ul", { class: "dependencies", "aria-labelledby": "rests-on" }, rows));
}

export function parameterList(parameters) {
  return [
    h("p", {}, "What differed between your demonstrations. The skill asks for these instead of repeating one of them."),
    h("ul", { class: "parameters" }, parameters.map(parameter)),
  ];
}

function parameter({ name, type, description, examples, required }) {
  return h(
    "li",
    {},
    h("div", { class: "pills" }, h("code", { class: "parameter-name" }, name), pill(PARAMETER_TYPES[type] ?? type, "active"), pill(required ? "Required" : "May be left out", "quiet")),
    h("p", {}, description),
    h("p", { class: "meta" }, "Shown as ", examples.map((one, index) => [index > 0 && ", ", one ? h("code", {}, one) : "left out"])),
  );
}

/** What an improvement starts from, and where a hand's edits and the draft disagree. */
export function improvedSkill({ base, standing }) {
  const { stale, reasons = [], edited_by_hand: edited = [], conflicts = [], present_version: present } = standing ?? {};
  return [
    facts([
      ["Improves", h("a", { href: `#/skills/${encodeURIComponent(base.ability_id)}` }, base.ability_id)],
      ["Starts from", `Version ${base.version}`],
      ["Installed now", present && `Version ${present}`],
      ["Content", h("code", { title: base.content_hash }, base.content_hash.slice(0, 12))],
    ]),
    stale && h("div", { class: "notice", "data-tone": "bad" }, h("p", { class: "notice-title" }, "It no longer starts from what is installed"), reasons.map((one) => h("p", {}, one)), h("p", {}, "It is not approved like this. Revise it: that takes in what has changed.")),
    edited.length > 0 && h("div", { class: "listed" }, h("h3", {}, "Edited by hand since it was drafted"), h("ul", {}, edited.map((one) => h("li", {}, h("code", {}, one))))),
    conflicts.length ? conflictList(conflicts) : nothing("No conflict with edits made by hand", "What somebody wrote into the skill by hand is taken over; should the draft say otherwise, both texts are shown here."),
  ];
}

function conflictList(conflicts) {
  return [
    h("p", {}, `${plural(conflicts.length, "part was", "parts were")} edited by hand and would be changed by the draft. The hand’s text is kept; revise the draft if the other one should win.`),
    h("ul", { class: "conflicts" }, conflicts.map(conflict)),
  ];
}

function conflict({ path, part, yours, proposed }, index) {
  return h(
    "li",
    {},
    h("p", {}, h("strong", {}, part), h("span", { class: "meta" }, " in ", h("code", {}, path))),
    h("div", { class: "two-texts" }, text("Kept, by hand", yours, `yours-${index}`), text("Proposed, left out", proposed, `proposed-${index}`)),
  );
}

function text(title, content, id) {
  return h("div", { class: "arguments" }, h("h3", { id: `conflict-${id}` }, title), h("pre", { tabindex: "0", "aria-labelledby": `conflict-${id}` }, content || "(nothing)"));
}
