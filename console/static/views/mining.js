/** Skill Mining: what may be looked at, looking now, and what was found. */

import { get } from "../api.js";
import { h, Section } from "../dom.js";
import { identity } from "../identity.js";
import { candidateList } from "../parts/candidates.js";
import { miningNotice } from "../parts/mining_notice.js";
import { lookNow } from "../parts/mining_run.js";
import { miningSettings } from "../parts/mining_settings.js";
import { Pages } from "../parts/pages.js";
import { poll } from "../parts/polling.js";

/** The look that was begun in this tab; the service lists none. */
let newest = null;

export function miningView(page) {
  const [settings, run, found] = [new Section(), new Section(), new Section()];
  const refresh = () => page.refresh();
  const pages = new Pages(page, "suggestions");
  const begun = (started) => ((newest = started), refresh());
  poll(page);
  return async () => {
    const options = { signal: page.signal };
    const [told, suggested] = await Promise.all([get("learn/mining/settings", options), pages.read("learn/mining/candidates")]);
    if (newest?.owner_user_id !== identity.userId) newest = null;
    if (newest?.state === "running") newest = await get(`learn/mining/runs/${newest.run_id}`, options);
    const limits = { variation: told.max_variation, coverage: told.min_verification_coverage };
    miningNotice.tell(told.observation_banner);
    settings.show(told, (shown) => card("Mining settings", miningSettings(shown, refresh)));
    run.show(newest, (shown) => card("Look now", lookNow(shown, begun)));
    found.show({ ...suggested, limits }, (shown) => [h("h2", {}, "Suggestions"), candidateList(shown, refresh), pages.buttons(shown)]);
    return settings.element.isConnected ? null : [found.element, run.element, settings.element];
  };
}

function card(title, content) {
  const id = `mining-${title.toLowerCase().replaceAll(" ", "-")}`;
  return h("section", { class: "card", "aria-labelledby": id }, h("h2", { id }, title), content);
}
