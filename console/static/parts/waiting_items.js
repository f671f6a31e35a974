/** What waits for a person beside tool calls: skills that ask, questions, drafts, and what was sent to them. */

import { command } from "../api.js";
import { h, time } from "../dom.js";
import { INBOX_KINDS } from "../skill_words.js";
import { visible } from "../visible.js";
import { plural } from "../wording.js";
import { actButton, lacking } from "./act.js";
import { pill } from "./marks.js";

/** A question is about a proposal, or a skill asks it. */
const PROPOSAL = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;
const MOST_ANSWER = 4000;

export function waitingItems(items, countdowns, after) {
  return h(
    "section",
    { class: "section", "aria-labelledby": "beside-calls" },
    h("h2", { id: "beside-calls" }, "Also waiting"),
    h("ul", { class: "cards single", "aria-label": "Also waiting" }, items.map((one) => item(one, countdowns, after))),
  );
}

function item(one, countdowns, after) {
  const heading = `item-${one.item_id}`;
  return h(
    "li",
    {},
    h(
      "section",
      { class: "card", "aria-labelledby": heading },
      h("div", { class: "card-head" }, h("h3", { id: heading }, visible(one.title)), one.expires_at && countdowns.element(one.expires_at)),
      h("div", { class: "pills" }, pill(INBOX_KINDS[one.kind] ?? one.kind, "you"), one.unproved > 0 && pill(plural(one.unproved, "step is not proved", "steps are not proved"), "bad")),
      one.text && h("p", { class: "as-written" }, visible(one.text)),
      one.kind === "confirmation" && one.arguments && h("div", { class: "arguments" }, h("h4", { id: `given-${one.item_id}` }, "What it would get"), h("pre", { id: `text-${one.item_id}`, tabindex: "0", "aria-labelledby": `given-${one.item_id}` }, visible(JSON.stringify(one.arguments, null, 2)))),
      h("p", { class: "meta" }, time(one.created_at)),
      actions(one, after),
    ),
  );
}

function actions(one, after) {
  if (one.kind === "confirmation") {
    const answer = (id, label, kind, approve, done) => {
      const post = command("confirm");
      return actButton({ id: `${id}-${one.item_id}`, label, kind, scope: "approve", done, after, act: () => post(`skills/invocations/${one.item_id}/confirm`, { approve }) });
    };
    const run = h("a", { class: "button", href: `#/run/${encodeURIComponent(one.about)}/${one.item_id}` }, "Look at the run");
    const buttons = [answer("confirm", "Confirm", "primary", true, "Confirmed"), answer("refuse", "Refuse", "danger quiet", false, "Refused; nothing was run"), run];
    return h("div", { class: "actions" }, h("div", { class: "buttons" }, buttons), lacking("approve"));
  }
  if (one.kind === "question" && !PROPOSAL.test(one.about)) return answering(one, after);
  if (one.kind === "review" || one.kind === "question") {
    return h("div", { class: "buttons" }, h("a", { class: "button", href: "#/pending" }, "Go to Pending Abilities"));
  }
  return null;
}

function answering(one, after) {
  const post = command("answer");
  const options = one.arguments?.options ?? [];
  const fields = options.length ? [{ name: "answer", label: "Answer", options: options.map((text) => [text, visible(text)]) }] : [{ name: "answer", label: "Answer", required: true, limit: MOST_ANSWER }];
  const button = actButton({
    id: `answer-${one.item_id}`,
    label: "Answer…",
    kind: "primary",
    scope: "approve",
    done: "Answered",
    after,
    dialog: () => ({ title: visible(one.title), text: visible(one.text), fields, confirm: "Answer" }),
    act: ({ answer }) => post(`inbox/${one.item_id}/answer`, { answer }),
  });
  return h("div", { class: "actions" }, h("div", { class: "buttons" }, button), lacking("approve"));
}
