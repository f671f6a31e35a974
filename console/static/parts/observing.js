/** The banner that stays in sight for as long as anything is observed, whatever page is open (DOC3 §0C.22). */

import { get } from "../api.js";
import { h, Section } from "../dom.js";
import { live } from "../live.js";
import { actions } from "./actions.js";

const SURFACES = { terminal_command: "terminal commands" };

const banner = new Section({ class: "observing-inner" });

/** Keeps the banner true. */
export function watchObservation() {
  const element = document.getElementById("observing");
  element.append(banner.element);
  live.addEventListener("change", () => refresh(element));
}

export function hideObservation() {
  document.getElementById("observing").hidden = true;
}

async function refresh(element) {
  const session = live.active;
  const observing = session?.state === "capturing";
  element.hidden = !observing;
  if (!observing) return;
  let scope = null;
  try {
    scope = await get(`learn/sessions/${session.learn_session_id}/observation-scope`);
  } catch {
    // That something is being observed must show, even when what cannot be told.
  }
  banner.show({ id: session.learn_session_id, state: session.state, what: describe(session, scope) }, ({ what }) => [
    h("span", { class: "observing-dot", "aria-hidden": "true" }),
    h(
      "p",
      {},
      h("strong", {}, "Your actions are being observed."),
      " ",
      what,
      " ",
      h("a", { href: `#/sessions/${session.learn_session_id}` }, "See what is kept"),
    ),
    actions(session, { only: ["pause", "stop"], place: "banner" }),
  ]);
}

function describe(session, scope) {
  const surfaces = (scope?.adapters_active ?? []).map((one) => SURFACES[one] ?? one.replaceAll("_", " "));
  const only = session.target_app_whitelist;
  const what = surfaces.length ? `Recording ${surfaces.join(", ")}` : "A recorder may report";
  return `${what}${only.length ? `, in ${only.join(", ")} only` : ""}; secrets are masked.`;
}
