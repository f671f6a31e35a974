/** A learned method tried on a copy of another folder: the form that asks for one, and the trial as it stands. */

import { command, get, send } from "../api.js";
import { announce, facts, h, Section, time } from "../dom.js";
import { packed } from "../folder_archive.js";
import { identity } from "../identity.js";
import { TRIAL_COMMANDS, TRIAL_CONDITIONS, TRIAL_STATES } from "../learning_words.js";
import { actButton, lacking } from "./act.js";
import { onSubmit } from "./busy.js";
import { copyable } from "./copyable.js";
import { mark, pill } from "./marks.js";
import { nothing, prose } from "./notices.js";
import { lookAgain } from "./polling.js";
import { describedField, schemaForm } from "./schema_form.js";
import { trouble } from "./trouble.js";

const SCOPE = "install";

/** `begun(run)` is told of the trial that was started. */
export function trialForm({ abilityId, parameters, folders }, begun) {
  const wanted = folders.length ? folders : [{ name: "folder", path: ".", shown: "" }];
  const choices = wanted.map((one, at) => ({ ...one, ...chooser(one, at, folders.length > 1) }));
  const values = schemaForm(schemaOf(parameters), "value");
  const start = command("trial");
  const go = h("button", { type: "submit", class: "primary", id: "try", disabled: !identity.may(SCOPE) }, "Try it");
  const form = h(
    "form",
    { class: "schema-form", novalidate: true },
    choices.map(({ block }) => block),
    parameters.length > 0 && values.element,
    h("div", { class: "buttons" }, go),
    lacking(SCOPE),
  );
  const attempt = async () => {
    const archive = await packed(choices.map(({ path, files }) => [path, files()]));
    const given = values.read();
    const kept = await (await send("POST", "abilities/trials/folders", { body: archive })).json();
    begun(await start(`abilities/${encodeURIComponent(abilityId)}/trials`, { folder_ref: kept.folder_ref, values: given }));
  };
  onSubmit(form, go, attempt, (error) => {
    trouble.report(error);
    values.refuse(error?.extra?.fields?.map((one) => ({ ...one, path: one.path.replace(/^values\./, "") })));
  });
  return [
    h("p", {}, "Its method runs on a copy, in a sandbox without a network. The folder itself stays as it is, and the result can be looked at afterwards. What is handed in is kept for a day."),
    h("p", { class: "hint" }, "A browser hands in files alone: empty folders and links are left out. For those, use ", h("code", {}, "apprentice abilities try"), "."),
    form,
  ];
}

/** A field that takes a folder; `files()` are those of the chosen one, or throws where none was chosen. */
function chooser({ name, shown }, at, several) {
  const id = `trial-folder-${at}`;
  const input = h("input", { id, type: "file", webkitdirectory: true, disabled: !identity.may(SCOPE) });
  const label = several ? `Folder ${name}` : "Folder";
  const { block, refuse } = describedField(h("label", { for: id }, label), input, several && `In the demonstration: ${shown}`);
  return {
    block,
    files() {
      const missing = input.files.length ? null : "Choose one that has files in it.";
      refuse(missing, true);
      if (missing) throw new Error(`${label}: ${missing}`);
      return input.files;
    },
  };
}

/** The parameters as a schema of texts, with the value that was shown as an example: it stands where none is given. */
function schemaOf(parameters) {
  const properties = parameters.map(({ name, shown, description }) => [name, { type: "string", examples: [shown], description }]);
  return { required: parameters.filter(({ required }) => required).map(({ name }) => name), properties: Object.fromEntries(properties) };
}

/** The trial that the page shows: the one its address names, until another is started. */
export class ShownTrial {
  #known = null;

  constructor(page, abilityId, trialId) {
    Object.assign(this, { page, abilityId, trialId, section: new Section() });
    this.begun = (run) => this.#name(run.trial_id);
  }

  async show(title) {
    const { trialId, page } = this;
    let run = null;
    try {
      run = trialId && (await get(`abilities/trials/${encodeURIComponent(trialId)}`, { signal: page.signal }));
    } catch (error) {
      if (error.status !== 404) throw error;
    }
    // Another was started, or this one was deleted, while it was read.
    if (this.trialId !== trialId) return;
    const shown = () => (run ? trialRun(run, { title, after: page.refresh, deleted: () => this.#name(null) }) : trialId && gone());
    this.section.show(run ?? trialId, shown);
    if (!run) return;
    if (run.state === "running") lookAgain(page);
    this.#tell(run.state);
  }

  /** The address names it, so that a page that is loaded again shows it; the form keeps what was chosen. */
  #name(trialId) {
    this.trialId = trialId;
    this.#known = null;
    history.replaceState(null, "", ["#/skills", encodeURIComponent(this.abilityId), trialId].filter(Boolean).join("/"));
    this.page.refresh();
  }

  #tell(state) {
    if (this.#known !== state) announce(`The trial: ${TRIAL_STATES[state][0]}`);
    this.#known = state;
  }
}

/** One trial: progress while it runs; at its end what was run, which conditions hold, and the result. */
function trialRun(run, { title, after, deleted }) {
  const running = run.state === "running";
  const path = `abilities/trials/${run.trial_id}`;
  const remove = command("trial-remove", "DELETE");
  const deleting = () => ({ title: "Delete this trial?", text: "The folder that was handed in and the resulting one are deleted with it.", confirm: "Delete", tone: "bad" });
  return h(
    "div",
    { class: "trial" },
    h("div", { class: "card-head" }, h("h3", { id: "this-trial", tabindex: "-1" }, "This trial"), pill(...TRIAL_STATES[run.state])),
    running ? [h("progress", { "aria-label": "It runs" }), h("p", { class: "meta" }, run.progress)] : h("p", { class: "lead" }, prose(run.note)),
    results("What was run", run.commands, ({ command: text, working_folder: place, result, details }) =>
      line(TRIAL_COMMANDS[result], h("code", {}, text), [place !== "." && `in ${place}`, details]),
    ),
    results("Conditions", run.conditions, ({ statement, result, details }) => line(TRIAL_CONDITIONS[result], statement, [details])),
    run.state === "passed" && !run.conditions.length && h("p", { class: "notice" }, "It was taught without conditions: look at the result yourself."),
    h(
      "div",
      { class: "buttons" },
      run.result_digest && actButton({ id: "trial-result", label: "Save the resulting folder", kind: "primary", scope: SCOPE, done: "The result is saved", act: () => saved(`${path}/result`, title), after }),
      actButton({ id: "trial-remove", label: running ? "Cancel it" : "Delete it…", kind: "quiet", scope: SCOPE, done: running ? "The trial is cancelled" : "The trial is deleted", dialog: running ? undefined : deleting, act: async () => deleted(await remove(path)), after }),
    ),
    h("details", { id: "trial-record" }, h("summary", {}, "Record"), recordOf(run)),
  );
}

const gone = () => nothing("This trial is gone", "A trial and its folders are deleted a day after it began. Choose a folder above to try it again.");

function results(title, found, build) {
  return found.length > 0 && [h("h3", {}, title), h("ul", { class: "cases", "aria-label": title }, found.map(build))];
}

function line([tone, words], text, details) {
  return h("li", {}, mark(tone, words), h("span", {}, text, details.filter(Boolean).map((one) => h("span", { class: "case-details" }, one))));
}

/** Has the browser save the archive under the ability's name. */
async function saved(path, title) {
  const address = URL.createObjectURL(await (await send("GET", path)).blob());
  const name = title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-|-$/g, "").slice(0, 60) || "ability";
  h("a", { href: address, download: `${name}-result.tar.gz` }).click();
  // Not at once: the browser begins to read it after the click.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

function recordOf(run) {
  const values = Object.entries(run.values);
  return facts([
    ["Trial", copyable(run.trial_id, "trial id")],
    ["Version", run.ability_version],
    ["Values", values.length > 0 && values.map(([name, value]) => h("p", {}, h("code", {}, name), ` ${value}`))],
    ["Started", time(run.started_at)],
    ["Ended", time(run.finished_at)],
    ["Kept until", time(run.expires_at)],
    ["Workflow", copyable(run.workflow_id, "workflow id")],
  ]);
}
