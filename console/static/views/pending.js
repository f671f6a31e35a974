/** Pending Abilities: everything that is not accepted into Skills yet. */

import { get } from "../api.js";
import { h, Section } from "../dom.js";
import { sessionCard } from "../parts/cards.js";
import { pill } from "../parts/marks.js";
import { nothing } from "../parts/notices.js";
import { SearchBox } from "../parts/search.js";
import { proposalTitles } from "../titles.js";
import { vocabulary } from "../vocabulary.js";
import { PENDING, STATES } from "../wording.js";

const PAGE_SIZE = 100;

export function pendingView(page) {
  const { signal } = page;
  const list = new Section();
  const search = new SearchBox("Search sessions and proposals", () => page.refresh(), signal);
  return async () => {
    const [{ sessions, total }, titles, fits] = await Promise.all([
      get(`learn/sessions?page_size=${PAGE_SIZE}`, { signal }),
      proposalTitles(signal),
      found(search, signal),
    ]);
    const pending = sessions.filter((one) => one.state in vocabulary.pending && fits(one));
    list.show({ pending, titles, cut: total > sessions.length, words: search.words }, (shown) => build(shown, search));
    return list.element.isConnected ? null : [search.element, list.element];
  };
}

/** Whether a session is among those that the service finds by the words, itself or by its proposal. */
async function found(search, signal) {
  if (!search.words) return () => true;
  const [{ sessions }, { proposals }] = await Promise.all([
    get(`learn/sessions?page_size=${PAGE_SIZE}${search.query}`, { signal }),
    get(`learn/proposals?page_size=${PAGE_SIZE}${search.query}`, { signal }),
  ]);
  const ids = new Set([...sessions, ...proposals].map((one) => one.learn_session_id));
  return (one) => ids.has(one.learn_session_id);
}

function build({ pending, titles, cut, words }, search) {
  if (!pending.length && words) {
    return nothing("Nothing pending fits", `No session or proposal that is pending is called “${words}”, and none is found by it.`, search.clearing);
  }
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
