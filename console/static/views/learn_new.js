/** Learn New Ability: the five ways to create one, and how to begin with the one that is built. */

import { h, Section } from "../dom.js";
import { live } from "../live.js";
import { copyable } from "../parts/copyable.js";
import { pill } from "../parts/marks.js";
import { prose } from "../parts/notices.js";
import { MODES, STATES } from "../wording.js";

const CARDS = [
  ["demonstrating_skill", "Do the task once in a terminal. What you did becomes a draft, questions and proof.", true],
  ["coaching_agent", "Guide the agent while it works, and correct it where it goes wrong.", false],
  ["autonomous_agent_practice", "Let the agent find its own way to a goal within safe bounds.", false],
  ["improving_existing_skill", "Change a skill that is already installed, and prove the change.", false],
  ["import_skill", "Bring a skill folder from elsewhere, and have it checked before it is used.", false],
];

const STEPS = [
  ["Begin a session that may watch the terminal and nothing else.", "apprentice learn create --only terminal --ask"],
  ["Show the task in the recorded shell; leave it with `exit`.", "apprentice record terminal"],
  ["Say what it was for.", 'apprentice learn mark-goal "WHAT IT IS FOR"'],
];

export function learnNewView() {
  const running = new Section();
  const built = [
    running.element,
    h("h2", { id: "create-by" }, "Create new ability by:"),
    h("ul", { class: "mode-cards", "aria-labelledby": "create-by" }, CARDS.map(card)),
    h(
      "section",
      { class: "card", "aria-labelledby": "how-to-start" },
      h("h2", { id: "how-to-start" }, "Demonstrating Skill, step by step"),
      h("ol", { class: "how" }, STEPS.map(([text, command]) => h("li", {}, h("p", {}, prose(text)), copyable(command)))),
      h("p", { class: "meta" }, "Then go on here: end the capture, have a proposal drafted, answer, validate, and decide. Nothing is installed before you approve it."),
    ),
  ];
  return async () => {
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

function card([mode, text, ready]) {
  const attributes = { class: "card mode-card", "data-ready": String(ready) };
  return h("li", attributes, h("h3", {}, MODES[mode]), h("p", {}, text), pill(ready ? "Ready: start below" : "Not built yet", ready ? "good" : "quiet"));
}
