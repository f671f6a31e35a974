/** Active Capability Learning: the session that is under way, and what it needs from the person. */

import { get } from "../api.js";
import { h, Section, spokenHeading } from "../dom.js";
import { live } from "../live.js";
import { actions } from "../parts/actions.js";
import { sessionCard } from "../parts/cards.js";
import { phases } from "../parts/marks.js";
import { nothing } from "../parts/notices.js";

/** Decisions belong where the draft can be read. */
const HERE = ["resume", "start", "stop", "pause", "mark-step", "mark-goal", "generate-proposal", "validate"];

export function activeView({ signal }) {
  const list = new Section();
  return async () => {
    if (!live.known) await live.refresh();
    const session = live.active;
    const named = session?.proposal_id ? (await get(`learn/proposals/${session.proposal_id}/detail`, { signal })).proposal : null;
    list.show({ session, title: named?.title }, build);
    return list.element.isConnected ? null : list.element;
  };
}

function build({ session, title }) {
  if (!session) {
    return nothing("Nothing is being learned right now", "A session appears here as soon as it is begun.", h("a", { class: "button primary", href: "#/learn" }, "Learn a new ability"));
  }
  const open = h("a", { class: "button", href: `#/sessions/${session.learn_session_id}` }, "Open the session");
  const footer = [phases(session), h("div", { class: "card-actions" }, open, actions(session, { only: HERE }))];
  return [spokenHeading("The session that goes on"), h("ul", { class: "cards single" }, sessionCard(session, { title, footer }))];
}
