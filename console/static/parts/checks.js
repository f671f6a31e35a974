/** The validation ladder: each check with its cases, while they run and afterwards. */

import { facts, h, time } from "../dom.js";
import { vocabulary } from "../vocabulary.js";
import { CHECKS, plural } from "../wording.js";
import { mark, pill } from "./marks.js";
import { prose } from "./notices.js";

/** What a whole run came to: its word and tone. */
export const RESULTS = { passed: ["Passed", "good"], failed: ["Failed", "bad"], cancelled: ["Cancelled", "quiet"], partial: ["Some checks only", "quiet"] };

/** Checks that are no part of the ladder: shown where they were asked for. */
const ON_REQUEST = new Set(["ablation", "variation"]);

const CASE_TONES = { passed: "good", failed: "bad", skipped: "skipped" };

export function ladder(run, steps, running) {
  const own = steps.filter((step) => step.validation_run_id === run.validation_run_id);
  const asked = (check) => !ON_REQUEST.has(check) || run.result_refs.includes(`check:${check}`);
  const rows = vocabulary.checks.filter(asked).map((check) => rung(check, own.filter((step) => step.test_case_id.startsWith(`${check}/`)), running));
  return [h("ol", { class: "rungs" }, rows), h("div", { class: "run-facts" }, verdict(run), facts([["Started", time(run.started_at)], ["Ended", time(run.completed_at)]]))];
}

/** What no check could prove here, each with its reason. */
export function unprovedList(steps) {
  const items = steps.map(({ step, reason }) => h("li", {}, mark("skipped", "Not proved"), h("span", {}, step, h("span", { class: "case-details" }, prose(reason)))));
  return h("ul", { class: "cases unproved", "aria-label": "Not proved", tabindex: "0" }, items);
}

function verdict(run) {
  if (run.stale) return pill("Out of date: the draft has changed", "quiet");
  if (!run.completed_at) return pill("Running", "live");
  return pill(...RESULTS[run.overall_result]);
}

function rung(check, cases, running) {
  const [name, meaning] = CHECKS[check] ?? [check, ""];
  const failed = cases.some((one) => one.result === "failed");
  const tone = failed ? "bad" : cases.length ? (cases.every((one) => one.result === "skipped") ? "skipped" : "good") : "waiting";
  const words = { good: "Passed", bad: "Failed", skipped: "Skipped", waiting: running ? "Not reached yet" : "Not run" }[tone];
  const count = cases.length ? `${cases.filter((one) => one.result === "passed").length} of ${plural(cases.length, "case")}` : words;
  const head = [mark(tone, words), h("span", { class: "rung-name" }, name), h("span", { class: "rung-count" }, count)];
  if (!cases.length) return h("li", {}, h("div", { class: "rung" }, head), h("p", { class: "rung-meaning" }, meaning));
  const attributes = { id: `check-${check}`, open: failed };
  return h("li", {}, h("details", attributes, h("summary", { class: "rung" }, head), h("ul", { class: "cases" }, cases.map(oneCase))), h("p", { class: "rung-meaning" }, meaning));
}

function oneCase(one) {
  const words = { passed: "Passed", failed: "Failed", skipped: "Skipped" }[one.result];
  return h("li", {}, mark(CASE_TONES[one.result], words), h("span", {}, one.label, one.details && h("span", { class: "case-details" }, prose(one.details))));
}
