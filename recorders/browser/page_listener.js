/**
 * Runs in an isolated world of every document: reports what a person does by role and accessible name, and what
 * the page then shows. What is typed never leaves this function: only its kind, its length, and a keyed digest
 * (see typed_echoes.py) by which the recorder knows the value when a page repeats it.
 */
(binding, key) => {
  "use strict";
  if (globalThis.apprenticeRecorder) return;

  const QUIET_MS = 350;
  const WATCH_MS = 5000;
  const NAME_LIMIT = 160;
  const PROSE_ROLES = { H1: "heading", H2: "heading", H3: "heading", FORM: "form", NAV: "navigation", MAIN: "main", ASIDE: "complementary", DIALOG: "dialog" };
  const TAG_ROLES = { BUTTON: "button", SUMMARY: "button", SELECT: "combobox", TEXTAREA: "textbox", OPTION: "option", ...PROSE_ROLES };
  const INPUT_ROLES = { checkbox: "checkbox", radio: "radio", range: "slider", number: "spinbutton", search: "searchbox", button: "button", submit: "button", reset: "button", image: "button", file: "button", color: "button" };
  const ACTIONABLE = new Set(["button", "link", "menuitem", "menuitemcheckbox", "menuitemradio", "tab", "option", "checkbox", "radio", "switch", "treeitem", "gridcell", "slider"]);
  const NAMED_BY_CONTENT = new Set([...ACTIONABLE, "heading", "cell", "columnheader", "rowheader", "tooltip", "status", "alert"]);
  const VALUE_TAGS = new Set(["INPUT", "TEXTAREA", "SELECT", "SCRIPT", "STYLE", "TEMPLATE", "NOSCRIPT", "OPTION", "DATALIST"]);
  const SECRET_HINT = /password|one-time-code|^cc-/;

  const dirty = new Set();
  const secret = new WeakSet();
  let lastSummary = "";
  let watch = null;
  let active = true;

  const squeeze = (text) => (text || "").replace(/\s+/g, " ").trim().slice(0, NAME_LIMIT);
  const send = (report) => active && globalThis[binding](JSON.stringify({ title: squeeze(document.title), url: location.href, top: window === window.top, ...report }));
  const isVisible = (element) => !element.checkVisibility || element.checkVisibility({ visibilityProperty: true });

  function textOf(node, room = NAME_LIMIT) {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    if (node.nodeType !== Node.ELEMENT_NODE || VALUE_TAGS.has(node.tagName) || node.isContentEditable) return "";
    if (node.getAttribute("aria-hidden") === "true" || node.hidden) return "";
    if (node.tagName === "IMG") return ` ${node.alt} `;
    if (node.hasAttribute("aria-label")) return ` ${node.getAttribute("aria-label")} `;
    let text = "";
    for (const child of (node.shadowRoot || node).childNodes) {
      if (text.length > 2 * room) break;
      text += ` ${textOf(child, room)}`;
    }
    return text;
  }

  function roleOf(element) {
    const stated = (element.getAttribute("role") || "").trim().split(/\s+/)[0];
    if (stated) return stated;
    if (element.tagName === "A" || element.tagName === "AREA") return element.hasAttribute("href") ? "link" : "";
    if (element.tagName === "INPUT") return INPUT_ROLES[element.type] || "textbox";
    if (element.isContentEditable) return "textbox";
    return TAG_ROLES[element.tagName] || "";
  }

  function nameOf(element) {
    const root = element.getRootNode();
    const ids = (element.getAttribute("aria-labelledby") || "").split(/\s+/).filter(Boolean);
    const labelled = squeeze(ids.map((id) => root.getElementById?.(id)).filter(Boolean).map((one) => textOf(one)).join(" "));
    if (labelled) return labelled;
    if (squeeze(element.getAttribute("aria-label"))) return squeeze(element.getAttribute("aria-label"));
    if (element.labels?.length) {
      const words = squeeze([...element.labels].map((label) => textOf(label)).join(" "));
      if (words) return words;
    }
    if (element.tagName === "INPUT" && ["submit", "reset", "button"].includes(element.type)) {
      return squeeze(element.value) || { submit: "Submit", reset: "Reset", button: "" }[element.type];
    }
    if (element.tagName === "INPUT" && element.type === "image") return squeeze(element.alt) || "Submit";
    if (element.tagName === "FIELDSET") return squeeze(element.querySelector("legend")?.textContent);
    if (NAMED_BY_CONTENT.has(roleOf(element)) || getComputedStyle(element).cursor === "pointer") {
      const words = squeeze(textOf(element));
      if (words && !element.isContentEditable) return words;
    }
    const said = squeeze(element.getAttribute("title") || element.getAttribute("placeholder") || element.alt);
    if (said || !["INPUT", "SELECT", "TEXTAREA"].includes(element.tagName)) return said;
    return squeeze((element.getAttribute("name") || "").replace(/[\[\]_.-]+/g, " "));
  }

  function groupOf(element) {
    const group = element.closest?.("form, dialog, [role=dialog], [role=alertdialog], [role=form]");
    if (!group) return "";
    const heading = group.querySelector("legend, h1, h2, h3, h4, [role=heading]");
    return nameOf(group) || (heading ? squeeze(textOf(heading)) : "");
  }

  const facts = (element) => ({ role: roleOf(element), name: nameOf(element), form: groupOf(element) });

  /** The nearest control at or above what was hit; the outermost thing with a pointer where no role tells. */
  function actionable(event) {
    let pointed = null;
    for (const element of event.composedPath()) {
      if (!(element instanceof Element)) continue;
      if (element.tagName === "LABEL" && element.control) return null;
      const role = roleOf(element);
      if (ACTIONABLE.has(role) || element.tagName === "SUMMARY") return element.closest("select, option") ? null : element;
      if (["textbox", "searchbox", "combobox", "spinbutton"].includes(role)) return null;
      const small = element.childElementCount < 12 && element !== document.body && element !== document.documentElement;
      if (small && getComputedStyle(element).cursor === "pointer" && squeeze(textOf(element))) pointed = element;
    }
    return pointed;
  }

  const isSecret = (element) => {
    if (element.type === "password" || SECRET_HINT.test(element.autocomplete || "")) secret.add(element);
    return secret.has(element);
  };

  /** Two polynomial digests of a value as typed_echoes.py computes them. */
  function digest(value) {
    const text = value.replace(/\s+/g, " ").trim().toLowerCase();
    const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
    const one = ([base, modulus]) => units.reduce((sum, unit) => (sum * base + unit + 1) % modulus, 0);
    return [units.length, one(key[0]), one(key[1])];
  }

  const typedIn = (element) => (element.isContentEditable ? element.innerText : element.value) || "";

  function flush(element) {
    if (!dirty.has(element)) return;
    watch?.settle();
    dirty.delete(element);
    const typed = typedIn(element);
    const hidden = isSecret(element);
    const kind = hidden ? "password" : element.isContentEditable ? "text" : element.type || "text";
    send({ kind: "input", ...facts(element), value: { kind, length: hidden ? 0 : typed.length }, typed: digest(typed) });
  }

  const flushAll = () => [...dirty].forEach(flush);

  function summary() {
    const found = (selector, most, limit, read) => {
      const texts = [];
      for (const element of document.querySelectorAll(selector)) {
        if (texts.length >= most) break;
        if (!isVisible(element)) continue;
        const text = squeeze(read(element)).slice(0, limit);
        if (text && !texts.includes(text)) texts.push(text);
      }
      return texts;
    };
    const named = (element) => [nameOf(element), roleOf(element)].filter(Boolean).join(" ");
    const fields = "input:not([type=hidden],[type=submit],[type=button],[type=reset],[type=image]), select, textarea, [role=textbox], [contenteditable=true]";
    return {
      headings: found("h1, h2, h3, [role=heading]", 12, 120, (e) => textOf(e)),
      landmarks: found("nav, main, aside, form[aria-label], form[aria-labelledby], [role=navigation], [role=main], [role=search], [role=region][aria-label]", 12, 120, named),
      fields: found(fields, 30, 120, nameOf),
      messages: found("[role=status], output, [role=log], [aria-live=polite]", 6, 160, (e) => textOf(e)),
      alerts: found("[role=alert], [aria-live=assertive]", 6, 160, (e) => textOf(e)),
      dialogs: found("dialog[open], [role=dialog], [role=alertdialog]", 4, 120, (e) => nameOf(e) || textOf(e.querySelector("h1, h2, h3, legend") || e)),
      invalid_fields: found("[aria-invalid=true], input:user-invalid, select:user-invalid, textarea:user-invalid", 30, 120, nameOf),
    };
  }

  function look() {
    // First what is being typed, so that the recorder knows it where the page repeats it.
    for (const element of dirty) send({ kind: "typed", typed: digest(typedIn(element)) });
    const seen = summary();
    const text = JSON.stringify([document.title, location.pathname, seen]);
    if (text === lastSummary) return;
    lastSummary = text;
    send({ kind: "snapshot", summary: seen });
  }

  /** Watches what follows an action: reports each time the page has come to rest and shows something else. */
  function follow(always) {
    const since = Date.now();
    watch?.stop();
    let timer = 0;
    const quiet = () => {
      look();
      if (Date.now() - since > WATCH_MS) watch?.stop();
    };
    const changed = () => {
      clearTimeout(timer);
      timer = setTimeout(quiet, QUIET_MS);
    };
    const observer = new MutationObserver(changed);
    observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ["class", "hidden", "open", "style", "aria-invalid", "aria-hidden", "role"] });
    const end = setTimeout(() => watch?.stop(), WATCH_MS);
    watch = {
      stop() {
        observer.disconnect();
        clearTimeout(timer);
        clearTimeout(end);
        watch = null;
      },
      /** Before the next action: what the person has seen by now. */
      settle() {
        look();
        this.stop();
      },
    };
    if (always) changed();
  }

  function acted(report, then) {
    flushAll();
    watch?.settle();
    send(report);
    if (then !== undefined) follow(then);
  }

  const listen = (name, handle) => window.addEventListener(name, (event) => event.isTrusted && handle(event), { capture: true, passive: true });

  listen("click", (event) => {
    const element = actionable(event);
    if (!element || ["checkbox", "radio"].includes(element.type)) return;
    acted({ kind: "click", ...facts(element), role: roleOf(element) || "button" }, false);
  });

  listen("input", (event) => {
    const element = event.composedPath()[0];
    if (!(element instanceof Element) || ["checkbox", "radio", "file"].includes(element.type) || element.tagName === "SELECT") return;
    isSecret(element);
    dirty.add(element.isContentEditable ? element.closest("[contenteditable]") || element : element);
  });

  listen("change", (event) => {
    const element = event.composedPath()[0];
    if (!(element instanceof Element)) return;
    if (element.tagName === "SELECT") {
      acted({ kind: "select", ...facts(element), value: { kind: "choice", length: element.selectedOptions.length } }, false);
    } else if (["checkbox", "radio"].includes(element.type)) {
      acted({ kind: "select", ...facts(element), value: { kind: element.checked ? "checked" : "unchecked", length: 1 } }, false);
    } else if (element.type === "file") {
      acted({ kind: "input", ...facts(element), value: { kind: "file", length: element.files.length } }, false);
    } else {
      flush(element);
    }
  });

  listen("focusout", (event) => {
    const element = event.composedPath()[0];
    if (element?.isContentEditable) flush(element.closest("[contenteditable]") || element);
  });

  listen("submit", (event) => {
    const form = event.target;
    const submitter = event.submitter;
    acted({ kind: "submit", role: "form", name: submitter ? nameOf(submitter) : "", form: groupOf(form) });
    // A submission that the page's own script takes over shows its outcome here; any other loads a new page.
    setTimeout(() => {
      if (!event.defaultPrevented) return;
      lastSummary = "";
      follow(true);
    }, 0);
  });

  listen("pagehide", flushAll);
  window.addEventListener("pageshow", (event) => event.persisted && arrived("loaded"));
  window.navigation?.addEventListener("currententrychange", (event) => {
    if (event.navigationType && document.readyState !== "loading") arrived("moved");
  });

  function arrived(kind) {
    const where = location.href;
    const tell = () => location.href === where && send({ kind });
    // A page that moves by itself sets its title a little later.
    if (kind === "moved") setTimeout(tell, QUIET_MS - 100);
    else tell();
    lastSummary = "";
    // A frame that merely loads says nothing of the work; what an action brings about in it does.
    if (window === window.top) follow(true);
  }

  let badge = null;
  function show(text) {
    if (!active || window !== window.top || !document.documentElement) return;
    if (!badge) {
      badge = document.createElement("div");
      badge.setAttribute("aria-hidden", "true");
      badge.style.cssText = "all:initial;position:fixed;right:8px;bottom:8px;z-index:2147483647;pointer-events:none";
      const shown = document.createElement("span");
      shown.style.cssText = "font:12px sans-serif;color:#fff;background:#b3261e;border-radius:10px;padding:3px 9px;opacity:.9";
      badge.attachShadow({ mode: "closed" }).append(shown);
      badge.shown = shown;
    }
    badge.shown.textContent = text;
    if (!badge.isConnected) document.documentElement.append(badge);
  }

  /** The recorder is leaving a page that stays open. */
  function leave() {
    active = false;
    watch?.stop();
    badge?.remove();
  }

  globalThis.apprenticeRecorder = { show, leave };
  const begin = () => {
    show("● Recording");
    arrived("loaded");
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin, { once: true });
  else begin();
}
