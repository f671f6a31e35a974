/** The titles of proposals, by their id. */

import { get } from "./api.js";

export async function proposalTitles(signal) {
  const { proposals } = await get("learn/proposals?page_size=100", { signal });
  return Object.fromEntries(proposals.map((one) => [one.proposal_id, one.title]));
}
