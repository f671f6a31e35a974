/** What a session kept: the observed actions in their redacted form, and the receipts of what happened. */

import { h, time } from "../dom.js";
import { plural, receiptLabel } from "../wording.js";
import { mark } from "./marks.js";
import { nothing, prose } from "./notices.js";

const ENDED = { ok: ["good", "Succeeded"], failed: ["bad", "Failed"], interrupted: ["skipped", "Interrupted"] };

export function captured({ observed, dropped }) {
  const left = dropped > 0 && h("p", { class: "meta" }, `${plural(dropped, "event")} of other applications ${dropped === 1 ? "was" : "were"} left out.`);
  if (!observed.total) {
    return [nothing("No action is kept", "Actions appear here as a recorder reports them, and are deleted some days after the session has ended."), left];
  }
  return [h("ol", { class: "observations", start: (observed.page - 1) * observed.page_size + 1 }, observed.observations.map(action)), left];
}

function action({ terminal, action_label: label }) {
  const [tone, words] = ENDED[terminal?.exit_class] ?? ["waiting", "Observed"];
  const made = terminal?.produced_files ?? [];
  return h(
    "li",
    {},
    mark(tone, words),
    h("div", {}, h("code", {}, terminal?.command ?? label), made.length > 0 && h("p", { class: "case-details" }, made.map((one) => `${one.change} ${one.path}`).join(" · "))),
  );
}

export function receiptList(receipts) {
  return h("ol", { class: "receipts" }, receipts.map(receipt));
}

function receipt(one) {
  return h("li", {}, time(one.created_at), h("span", {}, receiptLabel(one.event_kind), one.reason && h("span", { class: "case-details" }, prose(one.reason))));
}

