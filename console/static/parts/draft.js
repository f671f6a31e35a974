/** What was read out of the demonstration, and the files drafted from it. */

import { facts, h } from "../dom.js";
import { visible } from "../visible.js";

export function meaning({ title, meaning: read, phrases, negative, untested = [], alsoTested = [], because = [], hollow = [], leftOut = [] }) {
  return [
    h("p", { class: "lead" }, visible(read.goal_summary)),
    h("div", { class: "lists" }, [
      list("Use it when", read.use_conditions),
      list("Not when", read.non_use_conditions),
      list("It worked when", read.success_conditions.map((one) => (untested.includes(one) ? `${one} (not tested: a person looks)` : one))),
      list("Tested besides", alsoTested),
      hollow.length > 0 && list("Proves nothing", hollow.map((one) => `${one.question_text} ${one.next_step}`)),
      because.length > 0 && untestedCheckpoints(read.checkpoints, because),
      list("Found when somebody says", phrases.map((one) => `“${one}”`)),
      list("Left alone when somebody says", negative.map((one) => `“${one}”`)),
    ]),
    leftOut.length > 0 && leftOutCommands(leftOut),
    facts([["Title", title], ["Confirmed by you", read.user_confirmed ? "Yes" : "Not yet"]]),
  ];
}

/** The checkpoints that no rehearsal tests, each with why and what to do about it. */
function untestedCheckpoints(checkpoints, because) {
  const rows = checkpoints.flatMap((checkpoint) => {
    const why = because.find((one) => one.checkpoint_id === checkpoint.checkpoint_id);
    return why ? [untestedCheckpoint(checkpoint, why)] : [];
  });
  return h("div", { class: "listed" }, h("h3", { id: "not-tested" }, "Checkpoints that nothing tests"), h("ul", { "aria-labelledby": "not-tested" }, rows));
}

function untestedCheckpoint({ goal, success_condition: condition }, { reason, next_step: next }) {
  return h("li", {}, visible(`${goal}: ${condition}`), h("span", { class: "case-details" }, `${reason} ${next}`));
}

/** The commands of the demonstration that are no part of the lesson, each with the reason. */
function leftOutCommands(commands) {
  const rows = commands.map(({ command, reason }) => h("li", {}, h("code", {}, visible(command)), h("span", { class: "case-details" }, reason)));
  return h("details", { class: "file" }, h("summary", {}, `Left out of the lesson (${commands.length})`), h("p", { class: "meta" }, "Revise with “put back …” and its words if one of them belongs to it."), h("ul", { class: "cases" }, rows));
}

function list(title, items) {
  return items.length > 0 && h("div", { class: "listed" }, h("h3", {}, title), h("ul", {}, items.map((one) => h("li", {}, visible(one)))));
}

export function lint(findings) {
  return h("ul", { class: "cases" }, findings.map(finding));
}

function finding(one) {
  const said = h("span", {}, one.message, h("span", { class: "case-details" }, `${one.suggestion} (${one.location})`));
  return h("li", {}, h("span", { class: "pill", "data-tone": one.severity === "error" ? "bad" : "you" }, one.rule), said);
}

export function drafted({ files, hash, revision }) {
  return [
    h("p", { class: "meta" }, `Revision ${revision} · content `, h("code", { title: hash }, hash.slice(0, 12))),
    files.map((one, index) => file(one, index)),
  ];
}

/** One drafted file; `of` tells those of several drafts on one page apart. */
export function file({ path, content }, index, of = "") {
  const attributes = { id: `${of}file-${path}`, class: "file", open: index === 0 && path === "SKILL.md" };
  return h("details", attributes, h("summary", {}, h("code", {}, path)), h("pre", { tabindex: "0", "aria-label": path }, visible(content)));
}
