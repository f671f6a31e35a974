/** A request is typed, and the matcher of agents says whether it would lead to an import. */

import { command } from "../api.js";
import { h } from "../dom.js";
import { onSubmit, reportIn } from "./busy.js";
import { pill } from "./marks.js";

const MOST_TEXT = 500;

export function triggerTest(importId) {
  const asked = h("input", { id: "trigger-text", name: "trigger_text", required: true, maxlength: MOST_TEXT, autocomplete: "off" });
  const submit = h("button", { type: "submit" }, "Try it");
  const answer = h("div", { "aria-live": "polite" });
  const form = h(
    "form",
    { class: "schema-form", "aria-label": "Try a request" },
    h("div", { class: "field" }, h("label", { for: asked.id }, "What somebody could ask an agent"), asked),
    h("div", { class: "buttons" }, submit),
    answer,
  );
  const send = command("trigger-test");
  const test = async () => answer.replaceChildren(...found(await send("skills/trigger-test", { import_id: importId, trigger_text: asked.value.trim() })));
  onSubmit(form, submit, test, reportIn(answer));
  return form;
}

function found({ matched, reasons, rejection_reasons: against }) {
  const said = [...reasons, ...against];
  return [
    h("div", { class: "pills" }, pill(matched ? "It would be picked" : "It would not be picked", matched ? "good" : "bad")),
    said.length > 0 && h("ul", { class: "listed" }, said.map((one) => h("li", {}, one))),
  ].filter(Boolean);
}
