/** A session's practice: its goal and bounds, every attempt with what was run and what was seen of it. */

import { facts, h, time } from "../dom.js";
import { IDEA_SOURCES, PRACTICE } from "../learning_words.js";
import { plural } from "../wording.js";
import { copyable } from "./copyable.js";
import { mark, pill } from "./marks.js";
import { nothing } from "./notices.js";

const BEGIN = 'apprentice learn practice "GOAL" --allow PROGRAM --makes FILE';

export function practiceRun(run) {
  if (!run) {
    return nothing("Nothing was practised in this session", "Cancel it and begin from a terminal, which opens a session of its own: say what is to be reached, what may be run, and how success is seen.", copyable(BEGIN));
  }
  const [word, tone] = PRACTICE[run.state] ?? [run.state, "quiet"];
  return [
    h("div", { class: "where-it-stands" }, pill(word, tone), h("p", {}, run.note ?? run.goal)),
    run.question && h("p", { class: "notice" }, h("strong", {}, "It asks: "), run.question, " Begin a new session with the answer in its goal."),
    budget(run),
    facts([
      ["Goal", run.goal],
      ["Succeeds when", h("ul", { class: "plain-list" }, run.success_conditions.map((one) => h("li", {}, condition(one))))],
      ["May run", h("span", { class: "phrases-inline" }, run.allowed_commands.map((one) => h("code", {}, one)))],
      ["Begins with", run.start_files.join(", ")],
      ["Asks for ideas", run.model && h("code", {}, run.model)],
      ["Begun", time(run.started_at)],
      run.finished_at ? ["Ended", time(run.finished_at)] : ["Ends by", time(run.ends_by)],
    ]),
    run.attempts.length ? h("ol", { class: "rungs attempts", "aria-label": "Attempts" }, run.attempts.map(attempt)) : h("p", { class: "meta" }, "No attempt has ended yet."),
  ];
}

function budget({ budget: most, attempts, actions_used: used }) {
  const bounds = [
    ["Attempts", attempts.length, most.max_attempts],
    ["Actions", used, most.max_actions],
  ];
  const rows = bounds.map(([name, spent, limit]) => gauge(name, `${spent} of ${limit}`, spent / limit));
  return h("div", { class: "gauges", role: "group", "aria-label": "Budget" }, rows, h("p", { class: "meta" }, `At most ${plural(most.max_minutes, "minute")} in all.`));
}

/** A share between nothing and all, with its words. */
export function gauge(name, words, share) {
  return h("div", { class: "gauge" }, h("span", {}, name), h("meter", { min: 0, max: 1, value: share, "aria-label": `${name}: ${words}` }), h("span", { class: "gauge-words" }, words));
}

function condition({ kind, path, text, command, exit_code: code }) {
  if (kind === "file_exists") return [h("code", {}, path), " is made"];
  if (kind === "file_contains") return [h("code", {}, path), " holds ", h("code", {}, text)];
  return [h("code", {}, command), ` ends with ${code}`];
}

function attempt({ number, idea, actions, conditions, reached, interrupted, outcome }) {
  const [tone, words] = reached ? ["good", "Reached"] : interrupted ? ["skipped", "Interrupted"] : ["bad", "Not reached"];
  const head = [mark(tone, words), h("span", { class: "rung-name" }, `Attempt ${number}`), h("span", { class: "rung-count" }, `${Math.round(idea.confidence * 100)} % sure`)];
  return h(
    "li",
    {},
    h(
      "details",
      { id: `attempt-${number}`, open: reached },
      h("summary", { class: "rung" }, head),
      h("p", { class: "condition" }, "The idea came ", [...new Set(idea.steps.map((one) => IDEA_SOURCES[one.source] ?? one.source))].join(" and "), ".", idea.proposer_note && ` ${idea.proposer_note}`),
      actions.length > 0 && h("ol", { class: "cases", "aria-label": `Actions of attempt ${number}` }, actions.map(action)),
      conditions.length > 0 && h("ul", { class: "cases", "aria-label": `Conditions of attempt ${number}` }, conditions.map(seen)),
    ),
    h("p", { class: "rung-meaning" }, outcome),
  );
}

function action({ command, succeeded, is_check: check, produced, details }) {
  const made = produced.map((one) => `${one.change} ${one.path}`).join(" · ");
  const more = [check && "Your check", made, details].filter(Boolean).join(" · ");
  return h("li", {}, mark(succeeded ? "good" : "bad", succeeded ? "Succeeded" : "Failed"), h("span", {}, h("code", {}, command), more && h("span", { class: "case-details" }, more)));
}

function seen({ condition: wanted, met, details }) {
  return h("li", {}, mark(met ? "good" : "bad", met ? "Seen to hold" : "Does not hold"), h("span", {}, wanted, details && h("span", { class: "case-details" }, details)));
}
