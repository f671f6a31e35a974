/** Run skills: the catalog of executable skills, and for each folder that cannot be run the reason. */

import { command } from "../api.js";
import { announce, h, Section, spokenHeading } from "../dom.js";
import { identity } from "../identity.js";
import { actButton, lacking } from "../parts/act.js";
import { copyable } from "../parts/copyable.js";
import { ask } from "../parts/dialogs.js";
import { Filters } from "../parts/filters.js";
import { pill } from "../parts/marks.js";
import { nothing } from "../parts/notices.js";
import { Pages } from "../parts/pages.js";
import { trouble } from "../parts/trouble.js";
import { permissionsOf, SKILL_STATES } from "../skill_words.js";

const SKILLS_SHOWN = 50;

/** The states of what each filter shows. */
const FILTERS = {
  All: [],
  Ready: ["ready"],
  "To approve": ["awaiting_approval"],
  "Not usable": ["malformed", "quarantined", "retired"],
};

export function executablesView(page) {
  const list = new Section();
  const tools = h("div", { class: "actions" }, h("div", { class: "buttons" }, reloadButton(() => page.refresh())), lacking("admin"));
  const pages = new Pages(page, "skills", SKILLS_SHOWN);
  const chooser = new Filters(Object.keys(FILTERS), () => (pages.restart(), page.refresh()));
  return async () => {
    const found = await pages.read(`skills?${FILTERS[chooser.chosen].map((state) => `state=${state}`).join("&")}`);
    list.show({ found, chosen: chooser.chosen }, build);
    return list.element.isConnected ? null : [h("p", {}, "Programs that you, your agents and your applications may run, each in a sandbox of its own. Abilities that were taught are under Skills."), tools, list.element];
  };

  function build({ found, chosen }) {
    if (!found.total && chosen === "All") {
      return nothing("No skill yet", "Make one in the workspace; it is run once you have approved it.", copyable("apprentice skills new greet"));
    }
    const cards = found.total ? [spokenHeading("Skills that are listed"), h("ul", { class: "cards" }, found.skills.map((one) => card(one, () => page.refresh())))] : nothing("No skill of this kind", "Choose another filter.");
    return [chooser.buttons(), cards, pages.buttons(found)];
  }
}

function card(one, after) {
  const ready = one.state === "ready";
  const title = ready ? h("a", { href: `#/run/${encodeURIComponent(one.name)}` }, one.name) : one.name;
  return h(
    "li",
    { class: "card", "aria-label": one.name },
    h("div", { class: "card-head" }, h("h3", {}, title), pill(...(SKILL_STATES[one.state] ?? [one.state]))),
    one.description && h("p", {}, one.description),
    one.reason && h("p", { class: "notice", "data-tone": one.state === "malformed" ? "bad" : null }, one.reason),
    !ready && one.next_action && h("p", { class: "meta" }, one.next_action),
    one.state === "awaiting_approval" && h("div", { class: "card-actions" }, approveButton(one, after)),
    h("p", { class: "meta" }, [one.version, one.safety_level && `safety ${one.safety_level}`, one.confirmation_required && "asks first", `in the ${one.root} root`].filter(Boolean).join(" · ")),
  );
}

function reloadButton(after) {
  const post = command("reload");
  return actButton({ id: "reload", label: "Read the folders again", scope: "admin", done: "The folders were read again", after, act: () => post("skills/reload", {}) });
}

/** What is approved is what was shown: the second request carries the digest that the first one gave. */
function approveButton(one, after) {
  const path = `skills/${encodeURIComponent(one.name)}/approve`;
  const [look, post] = [command("look"), command("approve")];
  const button = h("button", { type: "button", id: `approve-${one.root}-${one.name}`, disabled: !identity.may("approve") }, "Look and approve…");
  button.addEventListener("click", async () => {
    trouble.clear();
    try {
      const { skill } = await look(path, { root: one.root });
      const approved = await ask({
        title: `Approve ${skill.name} as it is?`,
        text: skill.description || "It says nothing of itself.",
        details: h("ul", { class: "listed" }, permissionsOf(skill.permissions).map((text) => h("li", {}, `May touch ${text}.`)), h("li", {}, "Digest ", h("code", {}, skill.digest))),
        confirm: "Approve",
        act: () => post(path, { root: skill.root, digest: skill.digest }),
      });
      if (approved) announce(`${skill.name} is approved`);
    } catch (error) {
      trouble.report(error);
    } finally {
      after();
    }
  });
  return button;
}
