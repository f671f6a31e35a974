/** Pending Abilities: everything that is not accepted into Skills yet. */

import { h, Section, spokenHeading } from "../dom.js";
import { sessionCard } from "../parts/cards.js";
import { pill } from "../parts/marks.js";
import { nothing } from "../parts/notices.js";
import { Pages } from "../parts/pages.js";
import { SearchBox } from "../parts/search.js";
import { vocabulary } from "../vocabulary.js";
import { PENDING, STATES } from "../wording.js";

export function pendingView(page) {
  const list = new Section();
  const pages = new Pages(page, "pending");
  const search = new SearchBox("Search sessions and proposals", () => (pages.restart(), page.refresh()), page.signal);
  const states = Object.keys(vocabulary.pending).map((state) => `state=${state}`).join("&");
  return async () => {
    const found = await pages.read(`learn/history?${states}${search.query}`);
    list.show({ found, words: search.words }, build);
    return list.element.isConnected ? null : [search.element, list.element];
  };

  function build({ found, words }) {
    if (!found.total && words) {
      return nothing("Nothing pending fits", `No session or proposal that is pending is called “${words}”, and none is found by it.`, search.clearing);
    }
    if (!found.total) {
      return nothing(
        "No ability is pending",
        "Drafts, proposals under test and abilities that only you use are kept here until they are accepted into Skills.",
        h("a", { class: "button primary", href: "#/learn" }, "Learn a new ability"),
      );
    }
    return [spokenHeading("Drafts that wait"), h("ul", { class: "cards" }, found.items.map(card)), pages.buttons(found)];
  }
}

function card(session) {
  const shown = vocabulary.pending[session.state];
  return sessionCard(session, { title: session.title, state: pill(PENDING[shown] ?? shown, STATES[session.state]?.tone) });
}
