/** A native dialog with one question: what will happen, a few fields, one button that does it. */

import { h } from "../dom.js";
import { onSubmit, reportIn } from "./busy.js";

/**
 * Asks, and runs `act(values)` when the person says so. An error stays in the dialog.
 * Resolves with what `act` gave, or with null when the person changed their mind.
 */
export function ask({ title, text, details, fields = [], confirm, tone, act }) {
  const titleId = "dialog-title";
  const trouble = h("div", {});
  const inputs = fields.map(field);
  const yes = h("button", { type: "submit", class: tone === "bad" ? "danger" : "primary" }, confirm);
  const no = h("button", { type: "button" }, "Go back");
  const form = h(
    "form",
    {},
    h("h2", { id: titleId }, title),
    h("p", {}, text),
    details,
    inputs.map(({ block }) => block),
    trouble,
    h("div", { class: "dialog-actions" }, no, yes),
  );
  const dialog = h("dialog", { "aria-labelledby": titleId }, form);
  document.body.append(dialog);
  return new Promise((resolve) => {
    let result = null;
    let busy = false;
    no.addEventListener("click", () => busy || dialog.close());
    dialog.addEventListener("cancel", (event) => busy && event.preventDefault());
    dialog.addEventListener("close", () => (dialog.remove(), resolve(result)));
    const perform = async () => {
      busy = true;
      try {
        result = (await act(Object.fromEntries(inputs.map(({ name, input }) => [name, valueOf(input)])))) ?? {};
        dialog.close();
      } finally {
        busy = false;
      }
    };
    onSubmit(form, yes, perform, reportIn(trouble));
    dialog.showModal();
  });
}

const valueOf = (input) => (input.type === "checkbox" ? input.checked : input.value.trim());

/** A text, one of `options` (pairs of a value and its words), or a box to tick. */
function field({ name, label, required = false, limit, rows = 3, value, code = false, options, box = false }) {
  const id = `dialog-${name}`;
  if (box) {
    const tick = h("input", { type: "checkbox", id, name, required });
    return { name, input: tick, block: h("div", { class: "choice" }, tick, h("label", { for: id }, label)) };
  }
  if (options) {
    const choice = h("select", { id, name }, options.map(([key, words]) => h("option", { value: key }, words)));
    return { name, input: choice, block: h("div", { class: "field" }, h("label", { for: id }, label), choice) };
  }
  const input = h("textarea", { id, name, rows, maxlength: limit, required, value, class: code && "code", spellcheck: code ? "false" : null });
  const mark = required ? "" : " (optional)";
  return { name, input, block: h("div", { class: "field" }, h("label", { for: id }, `${label}${mark}`), input) };
}
