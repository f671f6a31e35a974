/** What stays in sight on every page while nothing may be installed, and what this installation lacks (DOC3 §17). */

import { get } from "../api.js";
import { h, Section } from "../dom.js";

const EVERY_MS = 20_000;
/** Every change leaves the files behind for a moment: what is pending is looked at twice before it is told. */
const SURE_AFTER_MS = 2500;

const REASONS = {
  snapshot_not_projected: "the list of abilities on disk is behind what was decided",
  bridge_not_projected: "what agents are told of abilities is behind what was decided",
  temporal_unavailable: "Temporal does not answer",
  no_worker: "no worker is running",
};

/** Operations in a person's words; those that no button here begins are told by their names. */
const OPERATIONS = {
  learn_proposal_install: "installing a proposal",
  learn_proposal_approve: "approving a proposal",
  ability_promote_shared: "sharing an ability",
  skill_import_install_private: "installing an imported skill",
  skill_pack_install: "installing a skill pack",
  learn_session_practice: "practising by itself",
  mining_candidate_accept: "building what mining found",
  mcp_dispatch_create: "calling tools",
};

const shown = new Section({ class: "section deployment-notice" });
let asked = 0;

export const deploymentNotice = {
  element: shown.element,
  /** Shows what keeps learning from being whole, or nothing. */
  tell(deployment) {
    asked = Date.now();
    const state = deployment?.partial_deployment;
    shown.show(state?.blocking ? { reason: state.reason_code, off: deployment.disabled } : null, notice);
  },
  /** Asks the service, unless it was asked a moment ago. */
  async refresh({ now = false } = {}) {
    if (!now && Date.now() - asked < EVERY_MS) return;
    asked = Date.now();
    try {
      let found = await get("learn/deployment");
      if (found.partial_deployment.blocking && found.partial_deployment.state !== "degraded") {
        await new Promise((resolve) => setTimeout(resolve, SURE_AFTER_MS));
        found = await get("learn/deployment");
      }
      deploymentNotice.tell(found);
    } catch {
      // Asked again soon; what was shown stays.
    }
  },
};

/** The parts that are not here: what that means, and what is off without them. */
export function missingParts(components) {
  const missing = components.filter((one) => !one.deployed);
  if (!missing.length) return null;
  const row = ({ component, without_it: means, disables }) =>
    h("li", {}, h("strong", {}, component), `: ${means}`, disables.length > 0 && h("span", { class: "meta" }, ` Off: ${inWords(disables)}.`));
  return h("section", { class: "card", "aria-labelledby": "not-deployed" }, h("h2", { id: "not-deployed" }, "Not part of this installation"), h("ul", {}, missing.map(row)));
}

function notice(found) {
  if (!found) return null;
  return h(
    "div",
    { class: "notice", "data-tone": "bad", role: "note", "aria-label": "Deployment" },
    h("p", { class: "notice-title" }, "Nothing can be installed or shared right now"),
    h("p", {}, `Reason: ${REASONS[found.reason] ?? found.reason}. Off until then: ${inWords(found.off)}. Review, and taking back, go on.`),
  );
}

const inWords = (operations) => operations.map((one) => OPERATIONS[one] ?? one.replaceAll("_", " ")).join(", ");
