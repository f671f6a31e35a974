/** Starts the console: asks for a token where there is none, shows the view that the address names, keeps it fresh. */

import { access, get } from "./api.js";
import { announce, h } from "./dom.js";
import { identity } from "./identity.js";
import { live } from "./live.js";
import { failure, loading } from "./parts/notices.js";
import { hideObservation, watchObservation } from "./parts/observing.js";
import { trouble } from "./parts/trouble.js";
import { signIn } from "./sign_in.js";
import { abilityView } from "./views/ability.js";
import { activeView } from "./views/active.js";
import { historyView } from "./views/history.js";
import { learnNewView } from "./views/learn_new.js";
import { pendingView } from "./views/pending.js";
import { sessionView } from "./views/session.js";
import { skillsView } from "./views/skills.js";

const PAGE_TITLE = "Ability Learning";
const TABS = [
  ["learn", "Learn New Ability", learnNewView],
  ["active", "Active Capability Learning", activeView],
  ["pending", "Pending Abilities", pendingView],
  ["history", "History", historyView],
];
const main = document.getElementById("main");
const CONNECTION = { live: ["Live", "good"], lost: ["Reconnecting", "bad"], connecting: ["Connecting", "quiet"] };

let leave = null;

/** The view of an address: where it belongs, its title, and what makes it. */
function routed() {
  const [area, id] = location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  const tab = TABS.find(([name]) => name === area);
  if (tab) return { area: "learn", tab: area, title: tab[1], make: tab[2] };
  if (area === "sessions" && id) return { area: "learn", tab: null, title: "Session", make: (page) => sessionView(page, id) };
  if (area === "skills") return { area: "skills", title: "Skills", make: id ? (page) => abilityView(page, id) : skillsView };
  return { area: "learn", tab: "learn", title: TABS[0][1], make: learnNewView };
}

/** Shows the view of the address. A view gets a page to fill and is told when what goes on has changed. */
function show({ focus = true } = {}) {
  leave?.abort();
  leave = new AbortController();
  const { signal } = leave;
  const { area, tab, title, make } = routed();
  document.title = area === "learn" ? `${title} · ${PAGE_TITLE}` : `${title} · Abilities`;
  for (const link of document.querySelectorAll("#areas a")) {
    if (link.getAttribute("href") === `#/${area}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const heading = h("h1", { tabindex: "-1" }, area === "learn" ? PAGE_TITLE : "Skills");
  const content = h("div", { class: "view" }, loading(title.toLowerCase()));
  main.replaceChildren(h("div", { class: "heading" }, heading, area === "learn" && tabs(tab)), trouble.element, content);
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
  document.getElementById("areas").hidden = false;
  document.getElementById("account").hidden = false;
  document.getElementById("user").textContent = identity.userId;
  live.start();
  show();
}

function out(problem = null) {
  access.token = null;
  live.stop();
  leave?.abort();
  hideObservation();
  document.getElementById("areas").hidden = true;
  document.getElementById("account").hidden = true;
  document.title = PAGE_TITLE;
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
