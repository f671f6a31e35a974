/** Approvals: all that waits for a person, tool calls with what they would send, and how calls before them were decided. */

import { get } from "../api.js";
import { announce, h, Section, time } from "../dom.js";
import { Countdowns } from "../parts/countdown.js";
import { pill } from "../parts/marks.js";
import { nothing } from "../parts/notices.js";
import { poll } from "../parts/polling.js";
import { waitingItems } from "../parts/waiting_items.js";
import { waitingCall } from "../parts/waiting_call.js";
import { APPROVALS, ENDS, IDENTITIES } from "../tool_words.js";
import { plural } from "../wording.js";

const MOST_SHOWN = 50;
const LATELY = 20;
const MOST_ITEMS = 100;

/** All that waits; `wanted` is the call that somebody was sent here about. */
export function approvalsView(page, wanted = null) {
  const asked = new Section();
  const waiting = new Section({ class: "section waiting" });
  const beside = new Section({ class: "section waiting" });
  const decided = new Section();
  const refresh = () => page.refresh();
  const countdowns = new Countdowns(page.content, page.signal, refresh);
  const calls = new Map();
  let known = null;
  poll(page);
  return async () => {
    const all = await read(page.signal, calls);
    const over = wanted && !all.waiting.some(({ record }) => record.dispatch_id === wanted) ? await get(`mcp/dispatches/${wanted}`, { signal: page.signal }) : null;
    asked.show(over, (shown) => shown && answered(shown, all.names));
    countdowns.now = all.at;
    waiting.show({ waiting: all.waiting, more: all.more, alone: !all.items.length }, (shown) => build(shown, countdowns, refresh));
    beside.show(all.items, (shown) => shown.length > 0 && waitingItems(shown, countdowns, refresh));
    decided.show(all.decided, (shown) => shown.length > 0 && lately(shown, all.names));
    tell([...all.waiting.map(({ record }) => record.dispatch_id), ...all.items.map((one) => one.item_id)]);
    if (waiting.element.isConnected) return null;
    if (wanted) requestAnimationFrame(() => document.getElementById(`call-${wanted}`)?.focus());
    return [asked.element, waiting.element, beside.element, decided.element];
  };

  function tell(ids) {
    document.title = `${ids.length ? `(${ids.length}) ` : ""}Approvals · Tools`;
    const fresh = known && ids.filter((id) => !known.has(id)).length;
    if (fresh) announce(`${plural(fresh, "thing waits", "things wait")} for your answer`);
    known = new Set(ids);
  }
}

async function read(signal, calls) {
  const [{ dispatches }, { servers, generated_at: at }, recent, { items }] = await Promise.all([
    get("mcp/ask-first/pending", { signal }),
    get("mcp/servers", { signal }),
    get(`mcp/dispatches?page_size=${LATELY}`, { signal }),
    get(`inbox?page_size=${MOST_ITEMS}`, { signal }),
  ]);
  const names = Object.fromEntries(servers.map(({ registry }) => [registry.server_id, registry.display_name]));
  const pending = dispatches.filter((one) => one.status === "pending");
  const shown = pending.slice(0, MOST_SHOWN);
  const tools = await toolsOf(new Set(shown.map((one) => one.server_id)), signal);
  const waiting = await Promise.all(
    shown.map(async (record) => ({
      record,
      call: await callOf(record, calls, signal),
      server: names[record.server_id],
      tool: tools[record.server_id]?.find((one) => one.definition.tool_name === record.tool_name),
    })),
  );
  const decided = recent.dispatches.filter((one) => one.ask_first && one.ask_first.status !== "pending");
  const told = new Set(decided.map((one) => one.dispatch_id));
  const expired = dispatches.filter((one) => one.status === "expired" && !told.has(one.dispatch_id));
  return { at, names, waiting, items: items.filter((one) => one.kind !== "approval"), more: pending.length - shown.length, decided: [...decided, ...expired.map((one) => ({ ...one, ask_first: one, status: "expired" }))] };
}

/** What a call would send does not change while it waits, so it is asked for once. */
async function callOf(record, calls, signal) {
  const key = `${record.dispatch_id} ${record.arguments_digest}`;
  if (!calls.has(key)) calls.set(key, await get(`mcp/dispatches/${record.dispatch_id}`, { signal }));
  return calls.get(key);
}

async function toolsOf(serverIds, signal) {
  const lists = [...serverIds].map(async (id) => {
    try {
      return [id, (await get(`mcp/servers/${encodeURIComponent(id)}/tools`, { signal })).tools];
    } catch (error) {
      // The server may have gone meanwhile; its calls are decided on all the same.
      if (error.status === 404) return [id, []];
      throw error;
    }
  });
  return Object.fromEntries(await Promise.all(lists));
}

function build({ waiting, more, alone }, countdowns, refresh) {
  if (!waiting.length && !alone) return null;
  if (!waiting.length) {
    return nothing(
      "Nothing waits for you",
      "A call that policy asks about stops here until you answer, however long that takes. Under Connectors you decide which tools are asked about.",
      h("a", { class: "button primary", href: "#/connectors" }, "Go to Connectors"),
    );
  }
  return [
    h("ul", { class: "cards single", "aria-label": "Calls that wait" }, waiting.map((one) => waitingCall(one, countdowns, refresh))),
    more > 0 && h("p", { class: "meta" }, `${plural(more, "call")} more wait behind these.`),
  ];
}

/** The call that somebody was sent here about, where it waits no longer. */
function answered(call, names) {
  const title = call.ask_first ? "It has been answered" : "Nobody was asked about it";
  const told = call.ask_first ? call : { ...call, ask_first: { ...call, status: "resumed", expires_at: call.updated_at } };
  return h("section", { class: "card", "aria-labelledby": "answered" }, h("h2", { id: "answered" }, title), h("ul", { class: "decided" }, row(told, names)));
}

function lately(decided, names) {
  return h("section", { class: "card", "aria-labelledby": "decided-lately" }, h("h2", { id: "decided-lately" }, "Decided lately"), h("ul", { class: "decided" }, decided.map((one) => row(one, names))));
}

function row({ ask_first: asked, status, error_message: problem, identity_asserted_kind: kind, identity_asserted_ref: ref }, names) {
  const [label, tone] = APPROVALS[asked.status] ?? [asked.status, "quiet"];
  const by = asked.approved_by ? ["By ", asked.approved_by, " · "] : [];
  return h(
    "li",
    {},
    h("div", { class: "card-head" }, h("p", {}, h("strong", {}, asked.tool_name), ` at ${names[asked.server_id] ?? asked.server_id}`), pill(label, tone)),
    h("p", { class: "meta" }, by, time(asked.decided_at ?? asked.expires_at), asked.edited_from_digest && " · with other arguments than asked for"),
    asked.decision_reason && h("p", {}, `“${asked.decision_reason}”`),
    h("p", { class: "meta" }, problem ?? ENDS[status]),
    kind && h("p", { class: "meta" }, `With the permission of ${IDENTITIES[kind] ?? kind}`, ref && [" · ", h("code", {}, ref)]),
  );
}
