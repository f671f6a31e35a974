/** History: every session and how it ended. */

import { h, Section, time } from "../dom.js";
import { pill } from "../parts/marks.js";
import { nothing } from "../parts/notices.js";
import { Pages } from "../parts/pages.js";
import { SearchBox } from "../parts/search.js";
import { LIFTED, MODES, OUTCOMES } from "../wording.js";

export function historyView(page) {
  const list = new Section();
  const pages = new Pages(page, "sessions");
  const search = new SearchBox("Search the history", () => (pages.restart(), page.refresh()), page.signal);
  return async () => {
    const found = await pages.read(`learn/history?${search.query}`);
    list.show({ found, words: search.words }, build);
    return list.element.isConnected ? null : [search.element, list.element];
  };
  function build({ found, words }) {
    if (!found.total && words) return nothing("No session fits", `Nothing in the history is called “${words}”. It is searched by name, application, project and ability.`, search.clearing);
    if (!found.total) {
      return nothing("Nothing has been taught yet", "Every session is kept here with how it ended.", h("a", { class: "button primary", href: "#/learn" }, "Learn a new ability"));
    }
    return [h("div", { class: "table-frame" }, table(found.items)), pages.buttons(found)];
  }
}

function table(items) {
  const head = h("thead", {}, h("tr", {}, ["Ability", "Outcome", "How", "Begun", "Ended"].map((name) => h("th", { scope: "col" }, name))));
  return h("table", {}, h("caption", { class: "visually-hidden" }, "Sessions, newest first"), head, h("tbody", {}, items.map(row)));
}

function row(item) {
  const [outcome, tone] = item.quarantine_lifted ? LIFTED : (OUTCOMES[item.outcome] ?? ["Unknown", "quiet"]);
  const name = item.title || "Not named";
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, h("a", { href: `#/sessions/${item.learn_session_id}` }, name)),
    h("td", { "data-label": "Outcome" }, pill(outcome, tone)),
    h("td", { "data-label": "How" }, MODES[item.entry_mode] ?? item.entry_mode),
    h("td", { "data-label": "Begun" }, time(item.created_at)),
    h("td", { "data-label": "Ended" }, time(item.completed_at) ?? "–"),
  );
}
