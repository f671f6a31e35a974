/** One connector: how it stands and what to do, what it may do, its tools, and what passes without asking. */

import { ApiError, command, get } from "../api.js";
import { facts, h, Section, time } from "../dom.js";
import { actButton, lacking } from "../parts/act.js";
import { copyable } from "../parts/copyable.js";
import { grantList } from "../parts/grants.js";
import { pill } from "../parts/marks.js";
import { prose } from "../parts/notices.js";
import { policyChoice, policyPill } from "../parts/policy_choice.js";
import { Pages } from "../parts/pages.js";
import { poll } from "../parts/polling.js";
import { toolList } from "../parts/tool_list.js";
import { trouble } from "../parts/trouble.js";
import { HEALTH, PROVIDERS, TRANSPORTS } from "../tool_words.js";
import { badges, linkedSkills } from "./connectors.js";

const TOOLS_SHOWN = 50;

/** The actions with a button here, in the order they are offered. */
const ACTIONS = {
  connect_auth: { label: "Sign in", verb: "auth/start", primary: true, done: "The sign-in page is open", scope: "install", body: askedFor, dialog: widening, after: openSignIn },
  refresh_auth: { label: "Renew the sign-in", verb: "auth/refresh", done: "The sign-in is renewed", scope: "install", body: { force: true } },
  smoke_test: { label: "Test it", verb: "smoke-test", done: "The test has ended", scope: "install" },
  revoke_auth: { label: "Revoke the sign-in…", verb: "auth/revoke", done: "The sign-in is revoked", scope: "install", tone: "bad", body: { revoke_remote: true }, dialog: revocation, after: whatIsLeft },
};

export function connectorView(page, id) {
  const [head, policy, tools, grants] = [new Section(), new Section(), new Section(), new Section()];
  const refresh = () => page.refresh();
  const [toolPages, grantPages] = [new Pages(page, "tools", TOOLS_SHOWN), new Pages(page, "standing approvals")];
  poll(page);
  return async () => {
    const options = { signal: page.signal };
    const { servers } = await get("mcp/servers", options);
    const server = servers.find((one) => one.registry.server_id === id);
    if (!server) throw new ApiError({ code: "MCP_SERVER_NOT_FOUND", message: "There is no connector of yours with this id." }, 404);
    const [listed, given] = server.deferred_design_only ? [null, null] : await Promise.all([toolPages.read(`mcp/servers/${encodeURIComponent(id)}/tools`), grantPages.read(`mcp/grants?server_id=${encodeURIComponent(id)}`)]);
    page.heading.textContent = server.registry.display_name;
    document.title = `${server.registry.display_name} · Connectors`;
    head.show(server, (shown) => buildHead(shown, refresh));
    policy.show(listed && server.effective_policy, (shown) => shown && card("Policy", policyOf(server, shown, refresh)));
    tools.show(listed, (shown) => shown && card("Tools", [toolList(shown, id, refresh), toolPages.buttons(shown)]));
    grants.show(given, (shown) => shown?.total > 0 && card("Standing approvals", [grantList({ ...shown, names: { [id]: server.registry.display_name } }, refresh), grantPages.buttons(shown)]));
    return head.element.isConnected ? null : [head.element, policy.element, tools.element, grants.element];
  };
}

function buildHead(server, refresh) {
  const { registry, health, auth, linked_abilities: linked } = server;
  const [word, tone] = HEALTH[health.health_status] ?? [health.health_status, "quiet"];
  return [
    h("p", { class: "back" }, h("a", { href: "#/connectors" }, "← All connectors")),
    h(
      "section",
      { class: "card", "aria-label": "Where it stands" },
      badges(server),
      health.next_action && h("p", { class: "notice", "data-tone": tone === "bad" ? "bad" : null }, prose(health.next_action)),
      auth?.next_action && auth.next_action !== health.next_action && h("p", { class: "notice", "data-tone": "bad" }, prose(auth.next_action)),
      offered(server, refresh),
      facts([
        ["Health", [pill(word, tone), health.last_checked_at && [" looked at ", time(health.last_checked_at)]].flat()],
        ["Reason", health.health_reason_code && h("code", {}, health.health_reason_code)],
        ["Waits until", time(health.backoff_until)],
        ["Sign-in", auth && [auth.auth_state.replaceAll("_", " "), auth.expires_at && [", until ", time(auth.expires_at)]].flat(2)],
        ["Provider", `${PROVIDERS[registry.provider] ?? registry.provider}, ${TRANSPORTS[registry.transport] ?? registry.transport}`],
        ["Address", registry.endpoint_url && h("code", {}, registry.endpoint_url)],
        ["Program", registry.command && h("code", {}, [registry.command.program, ...registry.command.arguments].join(" "))],
        ["Runs in", registry.command && (registry.command.working_folder ? h("code", {}, registry.command.working_folder) : "a folder of its own")],
        ["May read", registry.command && folders(registry.command.readable_folders)],
        ["May write", registry.command && folders(registry.command.writable_folders)],
        ["Kept from other files", registry.command && [pill(server.confined ? "Confined" : "Not confined", server.confined ? "good" : "bad"), ` ${server.confinement}`]],
        ["Kinds of data", registry.data_classes.join(", ")],
        ["Linked skills", linked.length > 0 && linkedSkills(linked)],
        ["Server", copyable(registry.server_id, "server id")],
      ]),
    ),
  ];
}

function folders(granted) {
  return granted.length ? granted.flatMap((folder) => [h("code", {}, folder), " "]) : "no further folder";
}

/** Buttons for what the service says may be done now, and for nothing else. */
function offered({ registry, auth, available_actions: allowed }, refresh) {
  const names = Object.keys(ACTIONS).filter((name) => allowed.includes(name));
  if (!names.length) return null;
  const buttons = names.map((name) => {
    const { label, verb, primary, done, scope, body, tone, dialog, after } = ACTIONS[name];
    const more = typeof body === "function" ? body(auth) : body;
    const question = dialog?.(auth);
    const post = command(name);
    const act = async () => {
      const answer = await post(`mcp/servers/${encodeURIComponent(registry.server_id)}/${verb}`, { server_id: registry.server_id, ...more });
      after?.(answer);
      return answer;
    };
    return actButton({ id: `do-${name}`, label, kind: tone === "bad" ? "danger quiet" : primary ? "primary" : "", scope, done, dialog: question && (() => question), act, after: refresh });
  });
  return h("div", { class: "actions" }, h("div", { class: "buttons" }, buttons), lacking(...names.map((name) => ACTIONS[name].scope)));
}

function policyOf(server, effective, refresh) {
  const { server_id: id, display_name: name } = server.registry;
  return [
    h("p", {}, "What happens to calls of this server’s tools, unless a tool says otherwise."),
    policyPill(effective),
    server.available_actions.includes("policy_update") && policyChoice(name, { target_kind: "server", server_id: id }, effective, refresh),
    lacking("approve"),
  ];
}

/** A sign-in that lacks scopes asks for these too, once a person has said so. */
function askedFor({ scopes_granted: granted, scopes_missing: missing }) {
  return missing.length ? { requested_scopes_override: [...new Set([...granted, ...missing])] } : {};
}

function widening({ scopes_missing: missing }) {
  return missing.length
    ? { title: "Ask for more?", text: `The sign-in lacks what a tool needs: ${missing.join(", ")}. The page that opens asks for that too.`, confirm: "Sign in" }
    : null;
}

function openSignIn({ auth_url: address }) {
  if (/^https?:\/\//i.test(address)) open(address, "_blank", "noopener,noreferrer");
}

function whatIsLeft({ next_action: next }) {
  if (next) trouble.remind("The sign-in is ended here, and one thing is left", next);
}

function revocation() {
  return {
    title: "Revoke the sign-in?",
    text: "Its tokens are taken back where they were given and deleted here. Calls of this server stop until somebody signs in again.",
    confirm: "Revoke",
    tone: "bad",
  };
}

function card(title, content) {
  const id = `connector-${title.toLowerCase().replaceAll(" ", "-")}`;
  return h("section", { class: "card", "aria-labelledby": id }, h("h2", { id }, title), content);
}
