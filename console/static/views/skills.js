/** Skills: the abilities that are accepted, and those taken out of use where they are asked for. */

import { get } from "../api.js";
import { h, Section } from "../dom.js";
import { pill } from "../parts/marks.js";
import { freshness } from "../parts/freshness.js";
import { nothing } from "../parts/notices.js";
import { LANES, SOURCES } from "../wording.js";

/** What is not yet accepted belongs under Pending Abilities. */
const NOT_ACCEPTED = ["pending", "experimental_private"];

const FILTERS = [
  ["All", (one) => one.install_lane !== "quarantined"],
  ["Learned", (one) => one.source === "learned" && one.install_lane !== "quarantined"],
  ["Imported", (one) => one.source === "imported" && one.install_lane !== "quarantined"],
  ["Native", (one) => one.source === "native" && one.install_lane !== "quarantined"],
  ["Disabled", (one) => !one.enabled && one.install_lane !== "quarantined"],
  ["Quarantined", (one) => one.install_lane === "quarantined"],
];

export function skillsView({ signal }) {
  const list = new Section();
  let chosen = "All";
  let skills = [];
  let behind = null;
  const draw = () => list.show({ skills, chosen, behind }, () => [freshness(behind), build()].flat());
  return async () => {
    const { abilities, freshness: found } = await get("abilities/availability", { signal });
    skills = abilities.filter((one) => !NOT_ACCEPTED.includes(one.install_lane));
    behind = found;
    draw();
    return list.element.isConnected ? null : list.element;
  };

  function build() {
    if (!skills.length) {
      return nothing("No skill yet", "An ability is listed here once it has been approved.", h("a", { class: "button primary", href: "#/learn" }, "Learn a new ability"));
    }
    const offered = FILTERS.filter(([name, fits]) => name === "All" || name === chosen || skills.some(fits));
    const shown = skills.filter(FILTERS.find(([name]) => name === chosen)[1]);
    const cards = shown.length ? h("ul", { class: "cards" }, shown.map(card)) : nothing("No skill of this kind", "Choose another filter.");
    return [offered.length > 1 && h("div", { class: "filters", role: "group", "aria-label": "Filter" }, offered.map(filter)), cards];
  }

  function filter([name]) {
    const choose = () => ((chosen = name), draw());
    return h("button", { type: "button", id: `filter-${name}`, "aria-pressed": String(name === chosen), click: choose }, name);
  }
}

function card(one) {
  return h(
    "li",
    { class: "card" },
    h("div", { class: "card-head" }, h("h3", {}, h("a", { href: `#/skills/${encodeURIComponent(one.ability_id)}` }, one.title)), usable(one)),
    one.reason_unusable && h("p", {}, one.reason_unusable),
    h("p", { class: "meta" }, SOURCES[one.source] ?? one.source, " · ", LANES[one.install_lane] ?? one.install_lane, " · ", h("code", {}, one.ability_id)),
  );
}

export const usable = (one) => (one.usable_now ? pill("Usable now", "good") : pill("Not usable", "bad"));
