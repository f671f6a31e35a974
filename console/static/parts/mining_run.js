/** A look through the captures: begun here, followed while it goes on, and what came of it. */

import { command } from "../api.js";
import { facts, h, time } from "../dom.js";
import { GATES, MINING_RUNS } from "../learning_words.js";
import { plural } from "../wording.js";
import { actButton, lacking } from "./act.js";
import { pill } from "./marks.js";

/** `begun` is told of the run that was started. */
export function lookNow(run, begun) {
  const post = command("scan");
  const act = async () => begun(await post("learn/mining/scan"));
  const going = run?.state === "running";
  return [
    h("p", {}, "Mining looks through your captures by itself now and then. You need not wait for it."),
    h("div", { class: "buttons" }, actButton({ id: "look-now", label: going ? "Looking…" : "Look now", kind: "primary", scope: "learn", done: "The look has begun", act, after: () => {} })),
    lacking("learn"),
    run && outcome(run),
  ];
}

function outcome({ state, progress, error, started_at: started, finished_at: finished }) {
  const closed = Object.entries(progress.closed_gates);
  return h(
    "section",
    { class: "run", "aria-label": "The newest look" },
    h("div", { class: "where-it-stands" }, pill(...(MINING_RUNS[state] ?? [state])), h("p", { class: "meta" }, "Begun ", time(started), finished && [", ended ", time(finished)])),
    error && h("p", { class: "notice", "data-tone": "bad" }, error, " Look again in a moment."),
    progress.people_off > 0 && h("p", { class: "notice" }, "Mining is off in your settings, so nothing was looked at. Choose below what it may do, then look again."),
    facts([
      ["Captures that counted", `${progress.traces}`],
      ["Left out", progress.excluded > 0 && [plural(progress.excluded, "capture"), h("ul", { class: "plain-list" }, (progress.left_out ?? []).map((one) => h("li", {}, `${one.count}: ${one.why}`)))]],
      ["Tasks seen", `${progress.clusters}`],
      ["Suggested", `${progress.candidates}`],
      ["Built", progress.built > 0 && `${progress.built}`],
      ["Builds that failed", progress.builds_failed > 0 && `${progress.builds_failed}`],
      ["Waits for your open session", progress.deferred > 0 && `${progress.deferred}`],
      ["Not suggested", closed.length > 0 && h("ul", { class: "plain-list" }, closed.map(([gate, count]) => h("li", {}, `${GATES[gate] ?? gate}: ${plural(count, "task")}`)))],
      ["Could not be read", progress.failures.length > 0 && h("ul", { class: "plain-list" }, progress.failures.map((one) => h("li", {}, `${one.item}: ${one.reason}`)))],
    ]),
  );
}
