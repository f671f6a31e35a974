/** Checkpoint progress: which states were verified on the way, by the agent's own receipts (DOC3 §0C.9B). */

import { h } from "../dom.js";
import { mark } from "./marks.js";

const STATUS = {
  reached: ["good", "Reached"],
  skipped: ["skipped", "Skipped"],
  failed: ["bad", "Failed"],
};

/** `receipts` are newest first: the newest word on a checkpoint holds. */
export function checkpointProgress(checkpoints, receipts) {
  const ordered = [...checkpoints].sort((one, other) => one.order_hint - other.order_hint);
  return h("ol", { class: "checkpoints" }, ordered.map((one) => checkpoint(one, receipts.find((receipt) => receipt.checkpoint_id === one.checkpoint_id))));
}

function checkpoint({ checkpoint_id: id, goal, success_condition: condition }, receipt) {
  const [tone, words] = STATUS[receipt?.status] ?? ["waiting", "Not reached yet"];
  const head = [mark(tone, words), h("span", {}, goal)];
  const seen = h("p", { class: "condition" }, h("span", { class: "label" }, "Seen by"), condition);
  if (!receipt) return h("li", {}, h("div", { class: "rung" }, head), seen);
  return h(
    "li",
    {},
    h(
      "details",
      { id: `checkpoint-${id}` },
      h("summary", { class: "rung" }, head),
      h("p", { class: "condition" }, h("span", { class: "label" }, "Evidence"), receipt.evidence),
      receipt.reason && h("p", { class: "condition" }, h("span", { class: "label" }, "Reason"), receipt.reason),
    ),
    seen,
  );
}
