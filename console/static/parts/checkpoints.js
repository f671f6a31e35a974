/** Checkpoint progress: which states were verified on the way, by the agent's own receipts (DOC3 §0C.9B). */

import { h } from "../dom.js";
import { mark } from "./marks.js";

const STATUS = {
  not_reached: ["waiting", "Not reached yet"],
  reached: ["good", "Reached"],
  skipped: ["skipped", "Skipped"],
  failed: ["bad", "Failed"],
};

/** In their order, each with the newest word on it. */
export function checkpointProgress(checkpoints) {
  return h("ol", { class: "checkpoints" }, checkpoints.map(checkpoint));
}

function checkpoint({ checkpoint_id: id, goal, success_condition: condition, status, evidence, reason }) {
  const [tone, words] = STATUS[status];
  const head = [mark(tone, words), h("span", {}, goal)];
  const seen = condition && h("p", { class: "condition" }, h("span", { class: "label" }, "Seen by"), condition);
  if (status === "not_reached") return h("li", {}, h("div", { class: "rung" }, head), seen);
  return h(
    "li",
    {},
    h(
      "details",
      { id: `checkpoint-${id}` },
      h("summary", { class: "rung" }, head),
      h("p", { class: "condition" }, h("span", { class: "label" }, "Evidence"), evidence),
      reason && h("p", { class: "condition" }, h("span", { class: "label" }, "Reason"), reason),
    ),
    seen,
  );
}
