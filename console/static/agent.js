/** The name that the operator gave the agent (`agent_display_name`); labels are generic without one (DOC3 §0B.4). */

import { vocabulary } from "./vocabulary.js";

const NAME = vocabulary.agent_display_name;

/** A label or sentence about the agent: `generic`, or what `branded` makes of the name. */
export const ofAgent = (generic, branded) => (NAME ? branded(NAME) : generic);

/** "the agent" in a sentence, or the agent's name. */
export const THE_AGENT = NAME ?? "the agent";

/** Shows the name beside the product's in the header, and returns what ends the titles of pages. */
export function brand(header) {
  if (!NAME) return "";
  const shown = document.createElement("span");
  shown.className = "agent-name";
  shown.textContent = NAME;
  header.append(shown);
  return ` · ${NAME}`;
}
