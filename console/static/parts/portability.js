/** Where a draft can be used, what it needs that is not here, and asking for an adapter. */

import { command as sender } from "../api.js";
import { facts, h, time } from "../dom.js";
import { live } from "../live.js";
import { actButton, lacking } from "./act.js";

const GRADES = {
  direct: "Can be used as it is",
  adapter_required: "Needs tools or connections that are not here yet",
  local_only: "Made for one computer or one operating system",
  non_portable: "Cannot be used elsewhere",
};

export function portability({ proposalId, portability: { portability_grade: grade, findings, adapter_requests: asked } }) {
  const post = sender("request-adapter");
  const dialog = () => ({
    title: "Request an adapter?",
    text: "It is put on record with what is missing, and handed over to whoever provides adapters. The proposal stays as it is.",
    fields: [{ name: "wanted", label: "What it is to connect or offer", required: true, limit: 240 }],
    confirm: "Request it",
  });
  const act = (values) => post(`learn/proposals/${proposalId}/request-adapter`, values);
  return [
    facts([["Portability", GRADES[grade] ?? grade]]),
    findings.length > 0 && h("ul", {}, findings.map(({ message }) => h("li", {}, message))),
    asked.length > 0 && h("ul", { "aria-label": "Adapters asked for" }, asked.map(({ wanted, created_at: at }) => h("li", {}, `${wanted}, asked for `, time(at)))),
    h("div", { class: "buttons" }, actButton({ id: "request-adapter", label: "Request adapter…", scope: "learn", done: "The adapter is asked for", dialog, act, after: () => live.refresh().catch(() => {}) })),
    lacking("learn"),
  ];
}
