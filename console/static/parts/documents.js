/** What can be done with PDF documents now; an operation that is not offered is shown as such, with what to do. */

import { h } from "../dom.js";
import { ADAPTER_STATES, DOCUMENT_OPERATIONS } from "../tool_words.js";
import { pill } from "./marks.js";
import { prose } from "./notices.js";

export function documents(health) {
  const { adapter_state: state, supported_capabilities: supported, reason_code: reason, next_action: next } = health;
  const [word, tone] = ADAPTER_STATES[state] ?? [state, "quiet"];
  return h(
    "section",
    { class: "card", "aria-labelledby": "documents" },
    h("h2", { id: "documents" }, "PDF documents ", pill(word, tone)),
    next && h("p", { class: "notice", "data-tone": state === "missing" ? "bad" : null }, prose(next), reason && [" (", h("code", {}, reason), ")"]),
    h("ul", { class: "pills", "aria-label": "What can be done" }, Object.entries(DOCUMENT_OPERATIONS).map(([name, label]) => h("li", {}, supported.includes(name) ? pill(label, "good") : pill(`${label}: not available`)))),
  );
}
