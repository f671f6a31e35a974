/** History: every session and how it ended. */

import { get } from "../api.js";
import { h, Section, time } from "../dom.js";
import { pill } from "../parts/marks.js";
import { nothing } from "../parts/notices.js";
import { SearchBox } from "../parts/search.js";
import { MODES, OUTCOMES, plural } from "../wording.js";

const PAGE_SIZE = 25;

export function historyView(page) {
  const list = new Section();
  let pages = 1;
  const search = new SearchBox("Search the history", () => ((pages = 1), page.refresh()), page.signal);
  return async () => {
    const wanted = Array.from({ length: pages }, (_, index) => get(`learn/history?page=${index + 1}&page_size=${PAGE_SIZE}${search.query}`, { signal: page.signal }));
    const found = await Promise.all(wanted);
    const items = found.flatMap((one) => one.items);
    list.show({ items, total: found[0].total, words: search.words }, build);
    return list.element.isConnected ? null : [search.element, list.element];
  };
  function build({ items, total, words }) {
    if (!items.length && words) return nothing("No session fits", `Nothing in the history is called “${words}”. It is searched by name, application, project and ability.`, search.clearing);
    if (!items.length) {
      return nothing("Nothing has been taught yet", "Every session is kept here with how it ended.", h("a", { class: "button primary", href: "#/learn" }, "Learn a new ability"));
    }
    const older = h("button", { type: "button", id: "older", click: () => ((pages += 1), page.refresh()) }, "Show older");
    return [
      h("div", { class: "table-frame" }, table(items)),
      h("p", { class: "meta" }, `${items.length} of ${plural(total, "session")}`),
      items.length < total && older,
    ];
  }
}

function table(items) {
  const head = h("thead", {}, h("tr", {}, ["Ability", "Outcome", "How", "Begun", "Ended"].map((name) => h("th", { scope: "col" }, name))));
  return h("table", {}, h("caption", { class: "visually-hidden" }, "Sessions, newest first"), head, h("tbody", {}, items.map(row)));
}

function row(item) {
  const [outcome, tone] = OUTCOMES[item.outcome] ?? ["Unknown", "quiet"];
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
