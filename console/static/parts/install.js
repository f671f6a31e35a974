/** An install's steps, and their undoing. */

import { h } from "../dom.js";
import { vocabulary } from "../vocabulary.js";
import { LANES, plural, SAGA_STATES, SAGA_STEPS } from "../wording.js";
import { mark, pill } from "./marks.js";

const STEP = {
  pending: ["waiting", "Not reached"],
  done: ["good", "Done"],
  failed: ["bad", "Failed"],
  compensated: ["undone", "Undone"],
  compensation_failed: ["bad", "Undo failed"],
};

export const underWay = (saga) => saga?.state === "running" || saga?.state === "compensating";

export function installSteps(saga) {
  const [label, tone] = SAGA_STATES[saga.state] ?? [saga.state, "quiet"];
  const steps = vocabulary.saga_steps.map((name) => saga.steps.find((step) => step.name === name)).filter(Boolean);
  return [
    h("ol", { class: "rungs" }, steps.map(step)),
    h("div", { class: "run-facts" }, pill(label, tone), pill(LANES[saga.install_lane], "quiet"), saga.version && pill(`Version ${saga.version}`, "quiet")),
    saga.error && h("p", { class: "case-details" }, saga.error),
  ];
}

function step({ name, state, attempts, error }) {
  const [tone, words] = STEP[state];
  const tries = attempts > 1 ? `${words}, ${plural(attempts, "attempt")}` : words;
  const head = [mark(tone, words), h("span", { class: "rung-name" }, SAGA_STEPS[name] ?? name), h("span", { class: "rung-count" }, tries)];
  return h("li", {}, h("div", { class: "rung" }, head), error && h("p", { class: "case-details" }, error));
}
