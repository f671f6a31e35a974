/** Where the access token is pasted, once for this tab. */

import { access, ApiError, get } from "./api.js";
import { h } from "./dom.js";
import { identity } from "./identity.js";
import { onSubmit, reportIn } from "./parts/busy.js";
import { copyable } from "./parts/copyable.js";
import { failure, prose } from "./parts/notices.js";

export function signIn(onDone, problem = null) {
  const trouble = h("div", {}, problem && failure(problem));
  const input = h("input", {
    id: "token",
    type: "password",
    autocomplete: "off",
    spellcheck: "false",
    required: true,
    "aria-describedby": "token-where",
    placeholder: "apr_…",
  });
  const submit = h("button", { type: "submit", class: "primary" }, "Open the console");
  const form = h("form", { class: "sign-in card" }, h("h1", { tabindex: "-1" }, "Paste your access token"), [
    h("p", { class: "lead" }, "It is kept in this browser tab only, and forgotten when the tab is closed."),
    h("div", { class: "field" }, h("label", { for: "token" }, "Access token"), input),
    trouble,
    h("div", { class: "buttons" }, submit),
    h(
      "section",
      { id: "token-where", class: "where" },
      h("h2", {}, "Where to find it"),
      h("p", {}, prose("If you started the service, it is in the file `admin_token` of its data directory, which `apprentice up` prints at its start:")),
      copyable("cat ~/.apprentice/admin_token"),
      h("p", {}, prose("If that one holds no longer, start `apprentice up` anew: it puts a new one into the file.")),
      h("p", {}, "Or make one with fewer rights; it is shown once:"),
      copyable("apprentice tokens create console --scope read --scope learn --scope approve"),
    ),
  ]);
  const enter = async () => {
    const token = input.value.trim();
    identity.set(await get("me", { token }));
    access.token = token;
    onDone();
  };
  const report = reportIn(trouble);
  onSubmit(form, submit, enter, (error) => {
    report(error?.status === 401 ? unknown(error) : error);
    if (error) input.focus();
  });
  return form;
}

function unknown({ code, correlationId }) {
  return new ApiError({ code, message: "The service does not know this token.", retryable: false, correlation_id: correlationId }, 401);
}
