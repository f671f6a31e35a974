/** A session as a card in a list. */

import { h, time } from "../dom.js";
import { MODES, waitsFor } from "../wording.js";
import { statePill } from "./marks.js";

/** What a session is called: its proposal's title, or how and when it began. */
export const titleOf = (session, title) => title || `${MODES[session.entry_mode] ?? session.entry_mode}, not named yet`;

export function sessionCard(session, { title, state = statePill(session.state), footer = null } = {}) {
  return h(
    "li",
    { class: "card session-card" },
    h("div", { class: "card-head" }, h("h3", {}, h("a", { href: `#/sessions/${session.learn_session_id}` }, titleOf(session, title))), state),
    h("p", {}, waitsFor(session)),
    h("p", { class: "meta" }, MODES[session.entry_mode], " · begun ", time(session.created_at)),
    footer,
  );
}

