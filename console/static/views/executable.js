/** One executable skill: what it does and may touch, a form for its input, the run that goes on, and earlier runs. */

import { command, get } from "../api.js";
import { announce, facts, h, Section, time } from "../dom.js";
import { identity } from "../identity.js";
import { onSubmit } from "../parts/busy.js";
import { Pages } from "../parts/pages.js";
import { lookAgain, poll } from "../parts/polling.js";
import { pill } from "../parts/marks.js";
import { nothing } from "../parts/notices.js";
import { schemaForm } from "../parts/schema_form.js";
import { runPill, skillRun } from "../parts/skill_run.js";
import { trouble } from "../parts/trouble.js";
import { OPEN_RUNS, permissionsOf, RUN_STATES, SKILL_STATES } from "../skill_words.js";

const RUNS_SHOWN = 10;

/** `run` is the id of the run that the address names. */
export function executableView(page, name, run = null) {
  const [head, form, current, runs] = [new Section(), new Section(), new Section(), new Section()];
  const refresh = () => page.refresh();
  const pages = new Pages(page, "runs", RUNS_SHOWN);
  let shown = run;
  let known = null;
  poll(page);
  return async () => {
    const options = { signal: page.signal };
    const [skill, found, recent] = await Promise.all([
      get(`skills/${encodeURIComponent(name)}`, options),
      shown ? get(`skills/invocations/${encodeURIComponent(shown)}`, options) : null,
      pages.read(`skills/invocations?skill=${encodeURIComponent(name)}`),
    ]);
    page.heading.textContent = skill.name;
    document.title = `${skill.name} · Run skills`;
    head.show(skill, buildHead);
    form.show({ digest: skill.digest, state: skill.state }, () => (skill.state === "ready" ? inputForm(skill, begun) : unusable(skill)));
    current.show(found, (one) => one && skillRun(one, refresh));
    runs.show(recent, (listed) => earlier(listed, skill.name, pages));
    if (found) tell(found);
    if (found && OPEN_RUNS.includes(found.status)) lookAgain(page);
    return head.element.isConnected ? null : [head.element, form.element, current.element, runs.element];
  };

  function begun(view) {
    shown = view.invocation_id;
    // The address names the run, and the form keeps what was typed.
    history.replaceState(null, "", `#/run/${encodeURIComponent(name)}/${shown}`);
    refresh();
  }

  function tell({ status, invocation_id: id }) {
    if (known === `${id} ${status}`) return;
    known = `${id} ${status}`;
    announce(`The run: ${(RUN_STATES[status] ?? [status])[0]}`);
  }
}

function buildHead(skill) {
  return [
    h("p", { class: "back" }, h("a", { href: "#/run" }, "← All skills that run")),
    h(
      "section",
      { class: "card", "aria-label": "What it is" },
      h("div", { class: "pills" }, pill(...(SKILL_STATES[skill.state] ?? [skill.state])), skill.confirmation_required && pill("Asks first", "you")),
      skill.description && h("p", { class: "lead" }, skill.description),
      skill.warnings.map((one) => h("p", { class: "notice" }, one)),
      facts([
        ["Version", skill.version],
        ["Can", skill.capabilities.join(", ")],
        ["Safety level", skill.safety_level],
        ["Side effects", skill.side_effect_tags.join(", ").replaceAll("_", " ")],
        ["May touch", permissionsOf(skill.permissions).join(", ")],
        ["At most", skill.total_timeout_ms && `${skill.total_timeout_ms / 1000} s in all`],
        ["Digest", skill.digest && h("code", {}, skill.digest)],
      ]),
      skill.documentation && h("details", { id: "documentation" }, h("summary", {}, "Documentation"), h("pre", { tabindex: "0" }, skill.documentation)),
    ),
  ];
}

function unusable(skill) {
  return nothing("It cannot be run now", skill.reason ?? "Its folder is not ready.", skill.next_action && h("p", { class: "meta" }, skill.next_action));
}

function inputForm(skill, begun) {
  const fields = schemaForm(skill.input_schema, "input");
  const post = command("invoke");
  const dry = h("input", { type: "checkbox", id: "dry-run" });
  const go = h("button", { type: "submit", class: "primary", id: "run", disabled: !identity.may("read") }, "Run it");
  const form = h(
    "form",
    { class: "card", "aria-labelledby": "run-it", novalidate: true },
    h("h2", { id: "run-it" }, "Run it"),
    fields.element,
    h("div", { class: "choice" }, dry, h("label", { for: "dry-run" }, "Only ask whether it would be let in; run nothing")),
    h("div", { class: "buttons" }, go),
  );
  const run = async () => begun(await post(`skills/${encodeURIComponent(skill.name)}/invocations`, { input: fields.read(), dry_run: dry.checked }));
  onSubmit(form, go, run, (error) => {
    trouble.report(error);
    fields.refuse(error?.extra?.fields);
  });
  return form;
}

function earlier(listed, name, pages) {
  const title = h("h2", { id: "runs" }, "Runs");
  const rows = listed.invocations.map((one) =>
    h("li", {}, h("div", { class: "card-head" }, h("a", { href: `#/run/${encodeURIComponent(name)}/${one.invocation_id}` }, time(one.created_at)), runPill(one.status)), (one.message || one.error) && h("p", { class: "meta" }, one.message ?? one.error.message)),
  );
  const empty = h("p", { class: "meta" }, "It was not run yet. Fill in the form and run it, or type ", h("code", {}, `apprentice skills run ${name}`), ".");
  return h("section", { class: "card", "aria-labelledby": "runs" }, title, rows.length ? [h("ul", { class: "decided" }, rows), pages.buttons(listed)] : empty);
}
