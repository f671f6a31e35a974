/** Builds elements. Text only ever becomes text: nothing here, or anywhere else, parses markup. */

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
}

/** Text for screen readers alone. */
export const spoken = (text) => h("span", { class: "visually-hidden" }, text);

/** A heading of what follows for screen readers alone, where the page says it otherwise. */
export const spokenHeading = (text) => h("h2", { class: "visually-hidden" }, text);

/** A link to another site, only if the address is one of the web. */
export function outside(address, text) {
  const safe = /^https?:\/\//i.test(address ?? "");
  if (!safe) return null;
  return h("a", { href: address, target: "_blank", rel: "noopener noreferrer", class: "outside" }, text, spoken(" (opens in a new tab)"));
}

/** A list of names and values; those without a value are left out. */
export function facts(rows) {
  const shown = rows.filter(([, value]) => value !== null && value !== undefined && value !== false && value !== "");
  return h("dl", { class: "facts" }, shown.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

const PRECISE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** A time in the reader's own zone. */
export function time(text) {
  if (!text) return null;
  return h("time", { datetime: text }, PRECISE.format(new Date(text)));
}

export function announce(text) {
  document.getElementById("announcer").textContent = text;
}

/**
 * A bounded part of the page that is replaced only when what it shows has changed. What has an id keeps its focus, what was typed
 * into it, how far it was scrolled and unfolded.
 */
export class Section {
  #shown;
  #typedInto = new Set();

  constructor(attributes = {}, tag = "div") {
    this.element = h(tag, { class: "section", ...attributes });
    this.element.addEventListener("input", ({ target }) => target.id && KEPT_TYPES.has(target.type) && this.#typedInto.add(target.id));
  }

  show(data, build) {
    const signature = JSON.stringify(data) ?? "";
    if (signature === this.#shown) return;
    this.#shown = signature;
    const focused = this.element.contains(document.activeElement) ? document.activeElement : null;
    const before = [...this.element.querySelectorAll("[id]")];
    const scrolled = before.map((one) => one.scrollTop);
    this.element.replaceChildren();
    append(this.element, [build(data)]);
    before.forEach((old, index) => {
      const same = this.element.querySelector(`#${CSS.escape(old.id)}`);
      if (!same) return;
      if (old.open && same.matches("details")) same.open = true;
      if (this.#typedInto.has(old.id)) retype(old, same);
      if (scrolled[index]) same.scrollTop = scrolled[index];
    });
    if (focused) this.#focusAgain(focused.id);
  }

  /** On the same element; where it has gone, on the heading that it stood under. */
  #focusAgain(id) {
    const same = id && document.getElementById(id);
    same?.focus({ preventScroll: true });
    if (same && document.activeElement === same) return;
    focusHeading(this.element, this.element.closest("section"), document);
  }
}

/** Moves the focus to the first heading that can be seen of the first place that has one. */
function focusHeading(...places) {
  const heading = places.map((one) => one?.querySelector("h1, h2:not(.visually-hidden), h3")).find(Boolean);
  if (!heading) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

/** A list whose items are sections of their own: one that stays is not touched when others come and go. */
export class Rows {
  #known = new Map();

  constructor(attributes = {}) {
    this.element = h("ul", attributes);
  }

  /** `key(item)` tells items apart; new ones are put behind those that were before them. */
  show(items, key, build) {
    const wanted = new Map(items.map((one) => [key(one), one]));
    this.element.hidden = !wanted.size;
    for (const [name, row] of this.#known) {
      if (wanted.has(name)) continue;
      const focused = row.element.contains(document.activeElement);
      row.element.remove();
      this.#known.delete(name);
      if (focused) focusHeading(this.element, document);
    }
    let before = null;
    for (const [name, item] of wanted) {
      const row = this.#known.get(name) ?? new Section({ class: "row" }, "li");
      row.show(item, build);
      if (!this.#known.has(name)) before ? before.after(row.element) : this.element.prepend(row.element);
      this.#known.set(name, row);
      before = row.element;
    }
  }
}

/** Fields that keep what was typed; a file or a password is not taken over by a script. */
const KEPT_TYPES = new Set(["text", "search", "number", "color", "textarea", "select-one", "checkbox", "radio"]);

function retype(old, same) {
  if (old.type === "checkbox" || old.type === "radio") same.checked = old.checked;
  else if (old.type !== "select-one" || [...same.options].some(({ value }) => value === old.value)) same.value = old.value;
}
