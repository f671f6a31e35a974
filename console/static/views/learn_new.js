/** Learn New Ability: the five ways to create one, which of them are built here, and how to begin. */

import { THE_AGENT } from "../agent.js";
import { get } from "../api.js";
import { h, Section } from "../dom.js";
import { live } from "../live.js";
import { copyable } from "../parts/copyable.js";
import { missingParts } from "../parts/deployment_notice.js";
import { pill } from "../parts/marks.js";
import { prose } from "../parts/notices.js";
import { MODES, STATES } from "../wording.js";

/** Each way: what it is, how it begins (below, or by a command), and the part of the service it needs. */
const CARDS = [
  { mode: "demonstrating_skill", text: "Do the task once in a terminal. What you did becomes a draft, questions and proof." },
  { mode: "coaching_agent", text: `Say what ${THE_AGENT} is to reach, with hints on the way. What it reports of each step fills in the rest.`, command: 'apprentice learn create --goal "WHAT TO REACH" --hint "AN OUTCOME ON THE WAY"' },
  { mode: "autonomous_agent_practice", text: `Let ${THE_AGENT} find its own way to a goal within safe bounds.`, command: 'apprentice learn practice "GOAL" --allow PROGRAM --makes FILE', needs: "autonomous practice" },
  { mode: "improving_existing_skill", text: "Change a skill that is already installed, and prove the change.", command: "apprentice learn create --mode improving_existing_skill --skill ABILITY" },
  { mode: "import_skill", text: "Bring a skill folder from elsewhere, and have it checked before it is used.", command: "apprentice import add FILE.zip", needs: "skill import" },
];

const STEPS = [
  ["Begin a session that may watch the terminal and nothing else.", "apprentice learn create --only terminal --ask"],
  ["Show the task in the recorded shell; leave it with `exit`.", "apprentice record terminal"],
  ["Say what it was for.", 'apprentice learn mark-goal "WHAT IT IS FOR"'],
];

export function learnNewView({ signal }) {
  const [running, ways, lacks] = [new Section(), new Section(), new Section()];
  const built = [
    running.element,
    h("h2", { id: "create-by" }, "Create new ability by:"),
    ways.element,
    h(
      "section",
      { class: "card", "aria-labelledby": "how-to-start" },
      h("h2", { id: "how-to-start" }, "Demonstrating Skill, step by step"),
      h("ol", { class: "how" }, STEPS.map(([text, command]) => h("li", {}, h("p", {}, prose(text)), copyable(command)))),
      h("p", { class: "meta" }, "Then go on here: end the capture, have a proposal drafted, answer, validate, and decide. Nothing is installed before you approve it."),
    ),
    lacks.element,
  ];
  let parts = null;
  return async () => {
    parts ??= (await get("learn/deployment", { signal })).components;
    ways.show(parts, (shown) => h("ul", { class: "mode-cards", "aria-labelledby": "create-by" }, CARDS.map((one) => card(one, shown))));
    lacks.show(parts, missingParts);
    const session = live.active;
    running.show(session && { id: session.learn_session_id, state: session.state }, (shown) => shown && underWay(shown));
    return running.element.isConnected ? null : built;
  };
}

function underWay({ id, state }) {
  return h(
    "p",
    { class: "notice", "data-tone": "active" },
    h("strong", {}, "A session is under way. "),
    STATES[state]?.waits,
    " ",
    h("a", { href: `#/sessions/${id}` }, "Go to the session"),
  );
}

function card({ mode, text, command, needs }, parts) {
  const missing = parts.find((one) => one.component === needs && !one.deployed);
  const begin = !missing && command && h("div", { class: "or-type" }, h("span", { class: "label" }, "In a terminal"), copyable(command));
  const said = missing ? ["Not built yet", "quiet"] : [command ? "Ready" : "Ready: start below", "good"];
  return h("li", { class: "card mode-card", "data-ready": String(!missing) }, h("h3", {}, MODES[mode]), h("p", {}, text), missing && h("p", {}, missing.without_it), begin, pill(...said));
}
