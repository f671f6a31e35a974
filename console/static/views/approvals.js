/** Approvals: all that waits for a person, tool calls with what they would send, and how calls before them were decided. */

import { get } from "../api.js";
import { announce, h, Rows, Section, spokenHeading, time } from "../dom.js";
import { Countdowns } from "../parts/countdown.js";
import { pill } from "../parts/marks.js";
import { nothing } from "../parts/notices.js";
import { Pages } from "../parts/pages.js";
import { poll } from "../parts/polling.js";
import { waitingItems } from "../parts/waiting_items.js";
import { waitingCall } from "../parts/waiting_call.js";
import { INBOX_KINDS } from "../skill_words.js";
import { APPROVALS, ENDS, IDENTITIES } from "../tool_words.js";
import { plural } from "../wording.js";

/** What waits beside tool calls. */
const OTHERS = Object.keys(INBOX_KINDS).filter((kind) => kind !== "approval").map((kind) => `kind=${kind}`).join("&");

/** All that waits; `wanted` is the call that somebody was sent here about. */
export function approvalsView(page, wanted = null) {
  const asked = new Section();
  const waiting = new Section({ class: "section waiting" });
  const rows = new Rows({ class: "cards single", "aria-label": "Calls that wait" });
  const turning = new Section();
  const beside = new Section({ class: "section waiting" });
  const decided = new Section();
  const refresh = () => page.refresh();
  const countdowns = new Countdowns(page.content, page.signal, refresh);
  const calls = new Map();
  const pages = { waiting: new Pages(page, "calls that wait"), items: new Pages(page, "also waiting"), decided: new Pages(page, "decided", 20) };
  let known = null;
  poll(page);
  return async () => {
    const all = await read(page.signal, calls, pages);
    const over = wanted && !all.waiting.some(({ record }) => record.dispatch_id === wanted) ? await get(`mcp/dispatches/${wanted}`, { signal: page.signal }) : null;
    asked.show(over, (shown) => shown && answered(shown, all.names));
    countdowns.now = all.at;
    waiting.show({ calls: all.waiting.length > 0, items: all.items.total > 0 }, overTheCalls);
    // Each by itself: who reads one is not thrown back when another comes.
    rows.show(all.waiting, ({ record }) => record.dispatch_id, (one) => waitingCall(one, countdowns, refresh));
    turning.show(all.pending, (shown) => pages.waiting.buttons(shown));
    beside.show(all.items, (shown) => shown.total > 0 && [waitingItems(shown.items, countdowns, refresh), pages.items.buttons(shown)]);
    decided.show(all.decided, (shown) => shown.total > 0 && lately(shown, all.names, pages.decided));
    tell(all.pending.total + all.items.total);
    if (waiting.element.isConnected) return null;
    if (wanted) requestAnimationFrame(() => document.getElementById(`call-${wanted}`)?.focus());
    return [asked.element, waiting.element, rows.element, turning.element, beside.element, decided.element];
  };

  function tell(count) {
    document.title = `${count ? `(${count}) ` : ""}Approvals · Tools`;
    if (known !== null && count > known) announce(`${plural(count - known, "thing waits", "things wait")} for your answer`);
    known = count;
  }
}

async function read(signal, calls, pages) {
  const [{ dispatches, ...pending }, { servers, generated_at: at }, decided, items] = await Promise.all([
    pages.waiting.read("mcp/ask-first/pending?status=pending"),
    get("mcp/servers", { signal }),
    pages.decided.read("mcp/dispatches?decided=true"),
    pages.items.read(`inbox?${OTHERS}`),
  ]);
  const names = Object.fromEntries(servers.map(({ registry }) => [registry.server_id, registry.display_name]));
  const tools = await toolsOf(new Set(dispatches.map((one) => one.server_id)), signal);
  const waiting = await Promise.all(
    dispatches.map(async (record) => ({
      record,
      call: await callOf(record, calls, signal),
      server: names[record.server_id],
      tool: tools[record.server_id]?.find((one) => one.definition.tool_name === record.tool_name),
    })),
  );
  return { at, names, waiting, pending, items, decided };
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

function overTheCalls({ calls, items }) {
  if (calls) return spokenHeading("Calls that wait");
  if (items) return null;
  return nothing(
    "Nothing waits for you",
    "A call that policy asks about stops here until you answer, however long that takes. Under Connectors you decide which tools are asked about.",
    h("a", { class: "button primary", href: "#/connectors" }, "Go to Connectors"),
  );
}

/** The call that somebody was sent here about, where it waits no longer. */
function answered(call, names) {
  const title = call.ask_first ? "It has been answered" : "Nobody was asked about it";
  const told = call.ask_first ? call : { ...call, ask_first: { ...call, status: "resumed", expires_at: call.updated_at } };
  return h("section", { class: "card", "aria-labelledby": "answered" }, h("h2", { id: "answered" }, title), h("ul", { class: "decided" }, row(told, names)));
}

function lately(decided, names, pages) {
  return h("section", { class: "card", "aria-labelledby": "decided-lately" }, h("h2", { id: "decided-lately" }, "Decided lately"), h("ul", { class: "decided" }, decided.dispatches.map((one) => row(one, names))), pages.buttons(decided));
}

function row({ ask_first: asked, status, error_message: problem, identity_asserted_kind: kind, identity_asserted_ref: ref }, names) {
  const [label, tone] = APPROVALS[asked.status] ?? [asked.status, "quiet"];
  const by = asked.approved_by ? ["By ", asked.approved_by, " · "] : [];
  return h(
    "li",
    {},
    h("div", { class: "card-head" }, h("p", {}, h("strong", {}, asked.tool_name), ` at ${names[asked.server_id] ?? asked.server_id}`), pill(label, tone)),
    h("p", { class: "meta" }, by, time(asked.decided_at ?? asked.expires_at), asked.edited_from_digest && " · with other arguments than asked for"),
    asked.decision_reason && !problem?.includes(asked.decision_reason) && h("p", {}, `“${asked.decision_reason}”`),
    h("p", { class: "meta" }, problem ?? ENDS[asked.status === "expired" ? "expired" : status]),
    kind && h("p", { class: "meta" }, `With the permission of ${IDENTITIES[kind] ?? kind}`, ref && [" · ", h("code", {}, ref)]),
  );
}
