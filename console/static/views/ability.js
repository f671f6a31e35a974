/** One skill: how it stands and what may be done, when it is found, trying it, how it has done, its versions, its SKILL.md. */

import { THE_AGENT } from "../agent.js";
import { get } from "../api.js";
import { facts, h, Section, time } from "../dom.js";
import { ABILITY_STATES, CHECKPOINT_HEALTH } from "../learning_words.js";
import { abilityActions } from "../parts/ability_actions.js";
import { checkpointReceipts, outcomes, versionList } from "../parts/ability_record.js";
import { unprovedList } from "../parts/checks.js";
import { pill } from "../parts/marks.js";
import { membershipList, Memberships } from "../parts/memberships.js";
import { Pages } from "../parts/pages.js";
import { poll } from "../parts/polling.js";
import { ShownTrial, trialForm } from "../parts/trial.js";
import { LANES, SOURCES } from "../wording.js";
import { usable } from "./skills.js";

const LATELY = 20;

/** What an ability goes by in categories, by where it came from. */
const kindsOf = ({ source }) => (source === "learned" ? ["learned_ability", "skill"] : ["skill", "learned_ability"]);

/** The cards below the first, in order: what each shows, and of what. */
const CARDS = [
  { title: "Not proved", of: ({ unproved }) => unproved, when: Boolean, build: unprovedRecord },
  { title: "Found when somebody says", of: ({ ability }) => ability.trigger_phrases, when: (said) => said.length > 0, build: phrases },
  { title: "Left alone when somebody says", of: ({ ability }) => ability.negative_triggers, when: (said) => said.length > 0, build: phrases },
  { title: "Try it on another folder", of: ({ tryable }) => tryable, when: Boolean, build: (shown, { trial }) => [trialForm(shown, trial.begun), trial.section.element] },
  { title: "How it has done", of: ({ done }) => done, when: Boolean, build: outcomes },
  { title: "What agents reported", of: ({ reported }) => reported, when: Boolean, build: (shown, { reports }) => [checkpointReceipts(shown), reports.buttons(shown)] },
  { title: "Versions", of: ({ versions, allowed, ability }) => ({ ...versions, allowed, ability_id: ability.ability_id }), when: Boolean, build: (shown, { refresh, versions }) => [versionList(shown, refresh), versions.buttons(shown)] },
  { title: "Categories", of: ({ categories }) => categories, when: Boolean, build: (shown, { memberships }) => membershipList(shown, memberships) },
  { title: `What ${THE_AGENT} reads`, of: ({ markdown }) => markdown, when: Boolean, build: (markdown) => h("pre", { tabindex: "0", "aria-label": "SKILL.md" }, markdown) },
];

/** `trialId` is the trial that the address names. */
export function abilityView(page, id, trialId = null) {
  const head = new Section();
  const cards = CARDS.map((card) => ({ ...card, section: new Section() }));
  const refresh = () => page.refresh();
  const [versions, reports] = [new Pages(page, "versions", LATELY), new Pages(page, "reports", LATELY)];
  const trial = new ShownTrial(page, id, trialId);
  let memberships = null;
  poll(page);
  return async () => {
    const all = await read(id, page.signal, { versions, reports });
    memberships ??= new Memberships(kindsOf(all.ability), id, page);
    all.categories = await memberships.read();
    if (page.signal.aborted) return null;
    page.heading.textContent = all.ability.title;
    document.title = `${all.ability.title} · Skills`;
    const { done, reported, versions: _, categories, markdown, unproved, tryable, ...standing } = all;
    head.show(standing, (shown) => buildHead(shown, refresh));
    for (const { section, title, of, when, build } of cards) {
      const wanted = of(all);
      section.show(when(wanted) ? wanted : null, (shown) => shown && titled(title, build(shown, { refresh, memberships, versions, reports, trial })));
    }
    await trial.show(all.ability.title);
    return head.element.isConnected ? null : [head.element, ...cards.map(({ section }) => section.element)];
  };
}

async function read(id, signal, { versions: versionPages, reports }) {
  const path = `abilities/${encodeURIComponent(id)}`;
  // First alone: where there is no such ability, one refusal says it all.
  const detail = await get(path, { signal });
  const [versions, done, reported] = await Promise.all([
    versionPages.read(`${path}/versions`),
    get(`${path}/outcomes`, { signal }),
    reports.read(`${path}/checkpoint-receipts`),
  ]);
  const { ability, version, state, skill_path: path_, skill_markdown: markdown, quarantine_reason: quarantined, allowed_actions: allowed, unproved, parameters, folders } = detail;
  // What was imported or handed in has no commands that were shown.
  const tryable = ability.source === "learned" && state !== "archived" ? { abilityId: id, version, parameters, folders } : null;
  return { ability, version, state, unproved, path: path_, markdown, quarantined, allowed, versions, done, reported, tryable };
}

function buildHead({ ability, version, state, path, quarantined, allowed }, refresh) {
  return [
    h("p", { class: "back" }, h("a", { href: "#/skills" }, "← All skills")),
    h(
      "section",
      { class: "card", "aria-label": "Where it stands" },
      h("div", { class: "pills" }, statePill(state), usable(ability), pill(SOURCES[ability.source] ?? ability.source), pill(LANES[ability.install_lane] ?? ability.install_lane)),
      quarantined && h("p", { class: "notice", "data-tone": "bad" }, h("strong", {}, "Quarantined because: "), quarantined),
      ability.reason_unusable && ability.reason_unusable !== quarantined && h("p", {}, ability.reason_unusable),
      abilityActions({ ability_id: ability.ability_id, allowed }, refresh),
      facts([
        ["Ability", h("code", {}, ability.ability_id)],
        ["Version", version],
        ["Checkpoints", ability.checkpoint_health && pill(...(CHECKPOINT_HEALTH[ability.checkpoint_health] ?? [ability.checkpoint_health]))],
        ["In the workspace", path && h("code", {}, path)],
        ["Last proven", time(ability.last_validated_at)],
        ["Archived", time(ability.archived_at)],
      ]),
    ),
  ];
}

function statePill(state) {
  const [word, tone] = ABILITY_STATES[state] ?? [state, "quiet"];
  return pill(word, tone);
}

function unprovedRecord({ steps, accepted_by: by, accepted_at: at }) {
  return [h("p", {}, `Nothing has shown that these work. ${by} accepted that, `, time(at), "."), unprovedList(steps)];
}

function phrases(said) {
  return h("ul", { class: "phrases" }, said.map((one) => h("li", {}, `“${one}”`)));
}

function titled(title, content) {
  const id = `ability-${title.toLowerCase().replaceAll(/[^a-z]+/g, "-")}`;
  return h("section", { class: "card", "aria-labelledby": id }, h("h2", { id }, title), content);
}
