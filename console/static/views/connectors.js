/** Connectors: every tool server as a card. What a card shows and offers, the service has computed. */

import { get } from "../api.js";
import { h, Section, spokenHeading } from "../dom.js";
import { documents } from "../parts/documents.js";
import { grantList } from "../parts/grants.js";
import { pill } from "../parts/marks.js";
import { nothing, prose } from "../parts/notices.js";
import { Pages } from "../parts/pages.js";
import { policyPill } from "../parts/policy_choice.js";
import { poll } from "../parts/polling.js";
import { BADGES, PROVIDERS, TRANSPORTS } from "../tool_words.js";

export function connectorsView(page) {
  const [cards, files, grants, deferred] = [new Section(), new Section(), new Section(), new Section()];
  const refresh = () => page.refresh();
  const pages = new Pages(page, "standing approvals");
  poll(page);
  return async () => {
    const options = { signal: page.signal };
    const [{ servers }, given, pdf] = await Promise.all([get("mcp/servers", options), pages.read("mcp/grants"), get("adapters/acrobat/health", options).catch(() => null)]);
    const names = Object.fromEntries(servers.map(({ registry }) => [registry.server_id, registry.display_name]));
    cards.show(servers.filter((one) => !one.deferred_design_only), build);
    files.show(pdf && { ...pdf, last_checked_at: null }, (shown) => shown && documents(shown));
    grants.show({ ...given, names }, (shown) => h("section", { class: "card", "aria-labelledby": "grants" }, h("h2", { id: "grants" }, "Standing approvals"), grantList(shown, refresh), pages.buttons(shown)));
    deferred.show(servers.filter((one) => one.deferred_design_only), (shown) => shown.length > 0 && later(shown));
    return cards.element.isConnected ? null : [cards.element, files.element, grants.element, deferred.element];
  };
}

function build(servers) {
  if (!servers.length) {
    return nothing("No connector yet", "A tool server is registered from the command line, and shown here with its health, its tools and its policy.", h("code", {}, "apprentice mcp servers register --help"));
  }
  return [spokenHeading("Connectors that are registered"), h("ul", { class: "cards", "aria-label": "Connectors" }, servers.map(card))];
}

function card(one) {
  const { registry, health, linked_abilities: linked, changed_tools: changed } = one;
  return h(
    "li",
    { class: "card" },
    h("div", { class: "card-head" }, h("h3", {}, h("a", { href: connectorAddress(registry.server_id) }, registry.display_name)), badges(one)),
    health.next_action && h("p", { class: "next" }, prose(health.next_action)),
    changed > 0 && h("p", { class: "next" }, `${changed} ${changed === 1 ? "tool has" : "tools have"} changed and will ask first until somebody has looked.`),
    policyPill(one.effective_policy),
    linked.length > 0 && h("div", { class: "linked" }, h("span", { class: "label" }, "Linked skills"), linkedSkills(linked)),
    h("p", { class: "meta" }, PROVIDERS[registry.provider] ?? registry.provider, " · ", TRANSPORTS[registry.transport] ?? registry.transport),
  );
}

function later(servers) {
  return h(
    "section",
    { class: "card apart", "aria-labelledby": "deferred" },
    h("h2", { id: "deferred" }, "Deferred connectors"),
    h("p", { class: "meta" }, "They are planned and not built: they can be neither registered nor called, and nothing here uses them."),
    h("ul", { class: "plain-list" }, servers.map(({ registry, health, badge_states: states }) => h("li", {}, h("p", { class: "deferred-name" }, registry.display_name, " ", states.map((state) => pill(...BADGES[state]))), h("p", { class: "meta" }, health.next_action)))),
  );
}

export const connectorAddress = (serverId) => `#/connectors/${encodeURIComponent(serverId)}`;

export const badges = ({ badge_states: states }) => h("div", { class: "pills" }, states.map((state) => pill(...(BADGES[state] ?? [state]))));

export function linkedSkills(linked) {
  return h("ul", { class: "phrases" }, linked.map((one) => h("li", {}, h("a", { href: `#/skills/${encodeURIComponent(one.ability_id)}` }, one.label ?? one.ability_id))));
}
