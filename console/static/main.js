/** Starts the console: asks for a token where there is none, shows the view that the address names, keeps it fresh. */

import { brand } from "./agent.js";
import { access, get } from "./api.js";
import { announce, h } from "./dom.js";
import { identity } from "./identity.js";
import { live } from "./live.js";
import { deploymentNotice } from "./parts/deployment_notice.js";
import { failure, loading } from "./parts/notices.js";
import { miningNotice } from "./parts/mining_notice.js";
import { hideObservation, watchObservation } from "./parts/observing.js";
import { trouble } from "./parts/trouble.js";
import { signIn } from "./sign_in.js";
import { abilityView } from "./views/ability.js";
import { activeView } from "./views/active.js";
import { approvalsView } from "./views/approvals.js";
import { categoriesView } from "./views/categories.js";
import { connectorView } from "./views/connector.js";
import { connectorsView } from "./views/connectors.js";
import { executableView } from "./views/executable.js";
import { executablesView } from "./views/executables.js";
import { historyView } from "./views/history.js";
import { importView } from "./views/import.js";
import { importsView } from "./views/imports.js";
import { learnNewView } from "./views/learn_new.js";
import { miningView } from "./views/mining.js";
import { packView } from "./views/pack.js";
import { packsView } from "./views/packs.js";
import { pendingView } from "./views/pending.js";
import { sessionView } from "./views/session.js";
import { skillsView } from "./views/skills.js";

const PAGE_TITLE = "Ability Learning";
const AGENT = brand(document.querySelector(".brand"));
const TABS = [
  ["learn", "Learn New Ability", learnNewView],
  ["active", "Active Capability Learning", activeView],
  ["pending", "Pending Abilities", pendingView],
  ["mining", "Skill Mining", miningView],
  ["history", "History", historyView],
];
/** What an area beside learning belongs to. */
const AREAS = { skills: "Abilities", categories: "Abilities", imports: "Abilities", run: "Tools", approvals: "Tools", connectors: "Tools" };
const main = document.getElementById("main");
const CONNECTION = { live: ["Live", "good"], lost: ["Reconnecting", "bad"], connecting: ["Connecting", "quiet"] };

let leave = null;

/** The view of an address: where it belongs, its title, and what makes it. */
function routed() {
  const [area, id, inner] = location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  const tab = TABS.find(([name]) => name === area);
  if (tab) return { area: "learn", tab: area, title: tab[1], make: tab[2] };
  if (area === "sessions" && id) return { area: "learn", tab: null, title: "Session", make: (page) => sessionView(page, id) };
  if (area === "skills") return { area: "skills", title: "Skills", make: id ? (page) => abilityView(page, id, inner) : skillsView };
  if (area === "categories") return { area, title: "Categories", make: categoriesView };
  if (area === "imports") return { area, title: "Import", make: id ? (page) => importView(page, id) : importsView };
  if (area === "packs") return { area: "imports", title: "Packs", make: id ? (page) => packView(page, id) : packsView };
  if (area === "run") return { area, title: "Run skills", make: id ? (page) => executableView(page, id, inner) : executablesView };
  // Where notifications lead to.
  if (area === "ask-first" && id) return { area: "approvals", title: "Approvals", make: (page) => approvalsView(page, id) };
  if (area === "approvals") return { area, title: "Approvals", make: approvalsView };
  if (area === "connectors") return { area, title: "Connectors", make: id ? (page) => connectorView(page, id) : connectorsView };
  return { area: "learn", tab: "learn", title: TABS[0][1], make: learnNewView };
}

/** Shows the view of the address. A view gets a page to fill and is told when what goes on has changed. */
function show({ focus = true } = {}) {
  leave?.abort();
  leave = new AbortController();
  const { signal } = leave;
  const { area, tab, title, make } = routed();
  document.title = `${title} · ${AREAS[area] ?? PAGE_TITLE}${AGENT}`;
  for (const link of document.querySelectorAll(".areas a")) {
    if (link.getAttribute("href") === `#/${area}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const heading = h("h1", { tabindex: "-1" }, area === "learn" ? PAGE_TITLE : title);
  const content = h("div", { class: "view" }, loading(title.toLowerCase()));
  main.replaceChildren(h("div", { class: "heading" }, heading, area === "learn" && tabs(tab)), deploymentNotice.element, miningNotice.element, trouble.element, content);
  trouble.clear();
  scrollTo(0, 0);
  if (focus) heading.focus({ preventScroll: true });
  const page = { content, heading, signal, refresh: () => {} };
  page.refresh = keepFresh(make(page), content, signal);
}

function tabs(current) {
  const links = TABS.map(([name, title]) => h("li", {}, h("a", { href: `#/${name}`, "aria-current": name === current ? "page" : null }, title)));
  return h("nav", { class: "tabs", "aria-label": PAGE_TITLE }, h("ul", {}, links));
}

/** Runs `render` now, at every change and when asked, one at a time; a failure shows until the next success. */
function keepFresh(render, content, signal) {
  const problem = h("div", { class: "trouble" });
  let running = false;
  let again = false;
  const refresh = async () => {
    if (signal.aborted) return;
    if (running) return void (again = true);
    running = true;
    try {
      const first = await render();
      if (!signal.aborted) {
        if (first) content.replaceChildren(problem, ...[first].flat());
        problem.replaceChildren();
      }
    } catch (error) {
      if (signal.aborted || error.name === "AbortError") return;
      if (!content.contains(problem)) content.replaceChildren(problem);
      problem.replaceChildren(failure(error, refresh));
    } finally {
      running = false;
      if (again) {
        again = false;
        refresh();
      }
    }
  };
  live.addEventListener("change", refresh, { signal });
  refresh();
  return refresh;
}

function enter() {
  for (const area of document.querySelectorAll(".areas")) area.hidden = false;
  document.getElementById("account").hidden = false;
  document.getElementById("user").textContent = identity.userId;
  live.start();
  miningNotice.refresh({ now: true });
  deploymentNotice.refresh({ now: true });
  show();
}

function out(problem = null) {
  access.token = null;
  live.stop();
  leave?.abort();
  hideObservation();
  miningNotice.tell(null);
  deploymentNotice.tell(null);
  for (const area of document.querySelectorAll(".areas")) area.hidden = true;
  document.getElementById("account").hidden = true;
  document.title = `${PAGE_TITLE}${AGENT}`;
  main.replaceChildren(signIn(enter, problem));
  document.getElementById("token").focus();
}

function showConnection() {
  const [text, tone] = CONNECTION[live.connection];
  document.getElementById("connection").dataset.tone = tone;
  document.getElementById("connection-text").textContent = text;
  if (live.connection === "lost") announce("The connection is lost; trying again");
}

addEventListener("hashchange", () => identity.userId && access.token && show());
live.addEventListener("connection", showConnection);
live.addEventListener("change", () => miningNotice.refresh());
live.addEventListener("change", () => deploymentNotice.refresh());
document.getElementById("sign-out").addEventListener("click", () => out());
document.querySelector(".skip").addEventListener("click", (event) => {
  // The fragment names the view; it must not become the place to jump to.
  event.preventDefault();
  main.focus();
});
access.onRefused = () => access.token && out();
watchObservation();

async function begin() {
  if (!access.token) return out();
  try {
    identity.set(await get("me"));
    enter();
  } catch (error) {
    if (access.token) main.replaceChildren(failure(error, begin));
  }
}

begin();
