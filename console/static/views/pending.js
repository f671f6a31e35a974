/** Pending Abilities: everything that is not accepted into Skills yet. */

import { get } from "../api.js";
import { h, Section } from "../dom.js";
import { sessionCard } from "../parts/cards.js";
import { pill } from "../parts/marks.js";
import { nothing } from "../parts/notices.js";
import { proposalTitles } from "../titles.js";
import { vocabulary } from "../vocabulary.js";
import { PENDING, STATES } from "../wording.js";

const PAGE_SIZE = 100;

export function pendingView({ signal }) {
  const list = new Section();
  return async () => {
    const [{ sessions, total }, titles] = await Promise.all([
      get(`learn/sessions?page_size=${PAGE_SIZE}`, { signal }),
      proposalTitles(signal),
    ]);
    const pending = sessions.filter((one) => one.state in vocabulary.pending);
    list.show({ pending, titles, cut: total > sessions.length }, build);
    return list.element.isConnected ? null : list.element;
  };
}

function build({ pending, titles, cut }) {
  if (!pending.length) {
    return nothing(
      "No ability is pending",
      "Drafts, proposals under test and abilities that only you use are kept here until they are accepted into Skills.",
      h("a", { class: "button primary", href: "#/learn" }, "Learn a new ability"),
    );
  }
  return [h("ul", { class: "cards" }, pending.map((one) => card(one, titles[one.proposal_id]))), cut && h("p", { class: "meta" }, `Of the newest ${PAGE_SIZE} sessions; older ones are under History.`)];
}

function card(session, title) {
  const shown = vocabulary.pending[session.state];
  return sessionCard(session, { title, state: pill(PENDING[shown] ?? shown, STATES[session.state]?.tone) });
}
