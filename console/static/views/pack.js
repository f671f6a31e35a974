/** One pack: its skills, what an install would do with each, the install while it runs, and its deletion. */

import { command, get } from "../api.js";
import { facts, h, Section, time } from "../dom.js";
import { PACK_MEMBER_STATES, PACK_STEPS } from "../import_words.js";
import { actButton, lacking } from "../parts/act.js";
import { unprovedList } from "../parts/checks.js";
import { TARGETS } from "../parts/import_commands.js";
import { underWay } from "../parts/install.js";
import { mark, pill } from "../parts/marks.js";
import { poll } from "../parts/polling.js";
import { SAGA_STATES } from "../wording.js";

const MOST_REASON = 240;
const MOST_OVERRIDE = 1000;

export function packView(page, id) {
  const [head, running, members] = [new Section(), new Section(), new Section()];
  const path = `skills/packs/${encodeURIComponent(id)}`;
  poll(page);
  return async () => {
    const detail = await get(path, { signal: page.signal });
    const last = detail.last_install_id && (await get(`skills/packs/installs/${detail.last_install_id}`, { signal: page.signal })).install;
    const refresh = () => page.refresh();
    page.heading.textContent = detail.pack.title;
    document.title = `${detail.pack.title} · Pack`;
    head.show({ detail, busy: underWay(last) }, () => standing(detail, underWay(last), path, refresh));
    running.show(last, () => last && progress(last, refresh));
    members.show({ members: detail.members, problems: detail.problems, missing: detail.missing_connectors }, plan);
    return head.element.isConnected ? null : [head.element, running.element, members.element];
  };
}

function standing(detail, busy, path, refresh) {
  const { pack, version, updated_at: updated } = detail;
  return [
    h("p", { class: "back" }, h("a", { href: "#/packs" }, "← All packs")),
    h(
      "section",
      { class: "card", "aria-label": "The pack" },
      pack.description && h("p", { class: "lead" }, pack.description),
      facts([["Name", h("code", {}, pack.pack_id)], ["Version", String(version)], ["Last change", time(updated)]]),
      h("div", { class: "buttons" }, !busy && mayBeInstalled(detail) && actButton(installing(detail, path, refresh)), !busy && actButton(deleting(pack, path))),
      lacking("learn", "install", ...(heldOf(detail).length ? ["approve"] : [])),
    ),
  ];
}

const readyOf = ({ members }) => members.filter((one) => one.state === "ready");
const heldOf = (detail) => readyOf(detail).filter((one) => one.held_up_by);
const mayBeInstalled = (detail) => !detail.problems.length && readyOf(detail).length > 0;

function installing(detail, path, refresh) {
  const { pack, version, unproved_digest: digest } = detail;
  const [ready, held] = [readyOf(detail), heldOf(detail)];
  const unproved = ready.flatMap(({ skill, unproved: steps }) => steps.map(({ step, reason }) => ({ step: `${skill}: ${step}`, reason })));
  const codes = [...new Set(held.flatMap((one) => one.held_up_by.codes))].join(", ");
  const overriding = held.length ? [{ name: "override_reason", label: `Why you go on in spite of ${codes}`, required: true, limit: MOST_OVERRIDE }] : [];
  const accepted = digest ? [{ name: "accept_unproved", label: "I have read what is not proved, and accept it as it is.", box: true, required: true }] : [];
  const post = command("pack-install");
  const given = { expected_version: version, ...(digest && { unproved_digest: digest }) };
  return {
    id: "install-pack",
    label: "Install…",
    kind: "primary",
    scope: "install",
    done: `The install of ${pack.title} has begun`,
    act: (values) => post(`${path}/install`, { ...given, ...values }),
    after: refresh,
    dialog: () => ({
      title: `Install “${pack.title}”?`,
      text: `To be installed, in this order: ${ready.map((one) => one.skill).join(", ")}. If one fails, those before it are undone.`,
      details: unproved.length > 0 && unprovedList(unproved),
      fields: [{ name: "target_scope", label: "For whom", options: TARGETS }, ...overriding, ...accepted],
      confirm: "Install",
    }),
  };
}

function deleting({ title }, path) {
  const remove = command("pack-delete", "DELETE");
  const act = async () => {
    await remove(path);
    location.hash = "#/packs";
    return {};
  };
  const dialog = () => ({ title: `Delete the pack “${title}”?`, text: "What it has installed stays, and so do imports.", confirm: "Delete it", tone: "bad" });
  return { id: "delete-pack", label: "Delete…", kind: "danger quiet", scope: "learn", done: `The pack ${title} is deleted`, act, after: () => {}, dialog };
}

function progress(install, refresh) {
  const { state, members, cancel_asked: asked, error, started_at: started, pack_install_id: id } = install;
  const [label, tone] = SAGA_STATES[state];
  const heading = "last-install";
  const post = command("pack-cancel");
  const dialog = () => ({ title: "Give the install up?", text: "What it has installed so far is undone.", fields: [{ name: "reason", label: "Why", limit: MOST_REASON }], confirm: "Give it up", tone: "bad" });
  const cancel = { id: "cancel-pack", label: "Give it up…", kind: "danger quiet", scope: "install", done: "It is noted, and will be undone", after: refresh, dialog };
  const act = ({ reason }) => post(`skills/packs/installs/${id}/cancel`, reason ? { reason } : {});
  return h(
    "section",
    { class: "card", "aria-labelledby": heading },
    h("h2", { id: heading }, underWay(install) ? "Install under way" : "Last install"),
    h("div", { class: "pills" }, pill(label, tone), asked && pill("Given up", "quiet")),
    error && h("p", { class: "notice", "data-tone": "bad" }, error),
    h("ol", { class: "rungs", "aria-label": "Skills of the install" }, members.map(step)),
    facts([["Begun", time(started)]]),
    state === "running" && !asked && h("div", { class: "buttons" }, actButton({ ...cancel, act })),
  );
}

function step({ skill, state, error }) {
  const [tone, words] = PACK_STEPS[state];
  return h("li", {}, h("div", { class: "rung" }, mark(tone, words), h("span", { class: "rung-name" }, skill), h("span", { class: "rung-count" }, words)), error && h("p", { class: "case-details" }, error));
}

function plan({ members, problems, missing }) {
  const id = "plan";
  return h(
    "section",
    { class: "card", "aria-labelledby": id },
    h("h2", { id }, "What an install would do"),
    problems.map(({ message }) => h("p", { class: "notice", "data-tone": "bad" }, message)),
    missing.length > 0 && h("p", { class: "notice" }, `Recommended and not connected: ${missing.join(", ")}. It installs without them.`),
    h("ul", { class: "cards", "aria-label": "Skills of the pack" }, members.map(member)),
  );
}

function member({ skill, state, import_id: id, depends_on: needs, held_up_by: held }) {
  const [label, tone] = PACK_MEMBER_STATES[state];
  const name = id ? h("a", { href: `#/imports/${id}` }, skill) : skill;
  return h(
    "li",
    { class: "card", "aria-label": skill },
    h("div", { class: "card-head" }, h("h3", {}, name), pill(label, tone)),
    needs.length > 0 && h("p", { class: "meta" }, `Needs ${needs.join(", ")}`),
    held && h("p", { class: "notice", "data-tone": "bad" }, `Held up by ${held.codes.join(", ")}. Going on takes a reason and the right ${held.needs}.`),
  );
}
