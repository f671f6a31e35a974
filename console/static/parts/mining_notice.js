/** What stays in sight on every page while what is shown outside the agent is mined (DOC3 §0.4). */

import { get } from "../api.js";
import { h, Section } from "../dom.js";

const EVERY_MS = 60_000;

const shown = new Section({ class: "section mining-notice" });
let asked = 0;

export const miningNotice = {
  element: shown.element,
  /** Shows what the service asks to be shown, or nothing. */
  tell(banner) {
    asked = Date.now();
    shown.show(banner ?? null, (text) => text && h("p", { class: "notice", role: "note", "aria-label": "Skill mining" }, text, " ", h("a", { href: "#/mining" }, "Mining settings")));
  },
  /** Asks the service, unless it was asked a moment ago. */
  async refresh({ now = false } = {}) {
    if (!now && Date.now() - asked < EVERY_MS) return;
    asked = Date.now();
    try {
      miningNotice.tell((await get("learn/mining/settings")).observation_banner);
    } catch {
      // Asked again soon; what was shown stays.
    }
  },
};
