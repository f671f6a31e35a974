/** The drafts that a proposal had before: each opens to its files, read when somebody wants to see them. */

import { get } from "../api.js";
import { h, time } from "../dom.js";
import { RESULTS } from "./checks.js";
import { file } from "./draft.js";
import { pill } from "./marks.js";

export function earlierDrafts({ proposalId, rounds }) {
  return h("ul", { class: "rungs", "aria-label": "Earlier drafts" }, rounds.map((one) => earlier(proposalId, one)));
}

function earlier(proposalId, { revision, title, drafted_at: at, drafted_by: by, tested }) {
  const [word, tone] = RESULTS[tested] ?? ["Not tested", "quiet"];
  const files = h("div", { role: "status" });
  const head = [h("span", { class: "rung-name" }, `Revision ${revision}: ${title}`), pill(word, tone)];
  const details = h("details", { id: `round-${revision}` }, h("summary", { class: "rung" }, head), h("p", { class: "meta" }, time(at), by.startsWith("model:") && ` · worded by ${by.slice(6)}`), files);
  details.addEventListener("toggle", () => details.open && !files.firstChild && read(proposalId, revision, files));
  return h("li", {}, details);
}

async function read(proposalId, revision, place) {
  place.replaceChildren("Reading …");
  try {
    const { files } = await get(`learn/proposals/${proposalId}/files?revision=${revision}`);
    place.replaceChildren(...files.map((one, index) => file(one, index, `round-${revision}-`)));
  } catch (error) {
    place.replaceChildren(h("p", { class: "notice" }, error.message));
  }
}
