/** What a person allows mining to look at and to do. */

import { THE_AGENT } from "../agent.js";
import { command } from "../api.js";
import { announce, h } from "../dom.js";
import { identity } from "../identity.js";
import { MINING_MODES } from "../learning_words.js";
import { lacking } from "./act.js";
import { onSubmit, reportIn } from "./busy.js";
import { miningNotice } from "./mining_notice.js";

const MOST_TRACES = 100;

const SWITCHES = [
  ["observe_inside_agent", `Count what ${THE_AGENT} does itself`],
  ["observe_outside_agent", `Count what you show outside ${THE_AGENT}, such as in a terminal`],
  ["require_user_feedback_before_build_when_ambiguous", "Ask me first where it is not clear what was meant"],
  ["require_tests_before_proposal", "Show me a proposal only once it has passed its tests"],
];

/** The form; `after` runs with the settings as they were saved. */
export function miningSettings(told, after) {
  const { settings, observation_banner: banner } = told;
  const trouble = h("div", { class: "trouble" });
  const off = !identity.may("learn");
  const save = h("button", { type: "submit", class: "primary", disabled: off }, "Save settings");
  const form = h(
    "form",
    { class: "mining-settings", "aria-label": "Mining settings" },
    h("fieldset", { disabled: off }, h("legend", {}, "What mining does by itself"), Object.entries(MINING_MODES).map(([mode, words]) => choice(mode, words, settings.mode))),
    h("fieldset", { disabled: off }, h("legend", {}, "What it looks at"), SWITCHES.map(([name, words]) => tick(name, words, settings[name]))),
    h("div", { class: "field" }, h("label", { for: "mining-traces" }, "How often a task has to succeed first"), h("input", { id: "mining-traces", name: "min_successful_traces", type: "number", min: 1, max: MOST_TRACES, required: true, value: settings.min_successful_traces, disabled: off, class: "short" })),
    banner && h("p", { class: "meta" }, "While this holds, every page says: ", h("q", {}, banner)),
    trouble,
    h("div", { class: "buttons" }, save),
    lacking("learn"),
  );
  const put = command("mining-settings", "PUT");
  const keep = async () => {
    const saved = await put("learn/mining/settings", { ...settings, ...filled(form) });
    miningNotice.tell(saved.observation_banner);
    announce("The mining settings are saved");
    after(saved);
  };
  onSubmit(form, save, keep, reportIn(trouble));
  return form;
}

function filled({ elements }) {
  const switches = SWITCHES.map(([name]) => [name, elements[name].checked]);
  return { ...Object.fromEntries(switches), mode: elements.mode.value, min_successful_traces: Number(elements.min_successful_traces.value) };
}

function choice(mode, [name, meaning], current) {
  const id = `mining-${mode}`;
  return h("div", { class: "choice" }, h("input", { type: "radio", id, name: "mode", value: mode, checked: mode === current, "aria-describedby": `${id}-meaning` }), h("label", { for: id }, name), h("p", { class: "meta", id: `${id}-meaning` }, meaning));
}

function tick(name, words, checked) {
  const id = `mining-${name}`;
  return h("div", { class: "choice" }, h("input", { type: "checkbox", id, name, checked }), h("label", { for: id }, words));
}
