/** Skills: the abilities that are accepted, and those taken out of use where they are asked for. */

import { h, Section, spokenHeading } from "../dom.js";
import { Filters } from "../parts/filters.js";
import { freshness } from "../parts/freshness.js";
import { pill } from "../parts/marks.js";
import { nothing } from "../parts/notices.js";
import { Pages } from "../parts/pages.js";
import { SearchBox } from "../parts/search.js";
import { LANES, SOURCES } from "../wording.js";

/** What is not yet accepted belongs under Pending Abilities. */
const ACCEPTED = "install_lane=approved_workspace&install_lane=shared_promoted";

/** What each filter asks for. */
const FILTERS = {
  All: ACCEPTED,
  Learned: `${ACCEPTED}&source=learned`,
  Imported: `${ACCEPTED}&source=imported`,
  Native: `${ACCEPTED}&source=native`,
  Disabled: `${ACCEPTED}&enabled=false`,
  Quarantined: "install_lane=quarantined",
};

export function skillsView(page) {
  const list = new Section();
  const pages = new Pages(page, "skills");
  const again = () => (pages.restart(), page.refresh());
  const chooser = new Filters(Object.keys(FILTERS), again);
  const search = new SearchBox("Search skills", again, page.signal);
  return async () => {
    const found = await pages.read(`abilities/catalog?${FILTERS[chooser.chosen]}${search.query}`);
    list.show({ found, chosen: chooser.chosen, words: search.words }, build);
    return list.element.isConnected ? null : [search.element, list.element];
  };

  function build({ found, chosen, words }) {
    return [freshness(found.freshness), chooser.buttons(), found.total ? [spokenHeading("Skills that are listed"), h("ul", { class: "cards" }, found.items.map(card)), pages.buttons(found)] : none(chosen, words)];
  }

  function none(chosen, words) {
    if (words) return nothing("No skill fits", `None of these is called “${words}”.`, search.clearing);
    if (chosen !== "All") return nothing("No skill of this kind", "Choose another filter.");
    return nothing("No skill yet", "An ability is listed here once it has been approved.", h("a", { class: "button primary", href: "#/learn" }, "Learn a new ability"));
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
