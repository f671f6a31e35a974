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

/** A bounded part of the page that is replaced only when what it shows has changed. Focus, typing and unfolding stay. */
export class Section {
  #shown;

  constructor(attributes = {}) {
    this.element = h("div", { class: "section", ...attributes });
  }

  show(data, build) {
    const signature = JSON.stringify(data) ?? "";
    if (signature === this.#shown) return;
    this.#shown = signature;
    const focused = this.element.contains(document.activeElement) ? document.activeElement.id : "";
    const unfolded = [...this.element.querySelectorAll("details[open]")].map((one) => one.id);
    const typed = [...this.element.querySelectorAll("textarea")].map(({ id, value }) => [id, value]);
    this.element.replaceChildren();
    append(this.element, [build(data)]);
    for (const one of this.element.querySelectorAll("details")) {
      if (one.id && unfolded.includes(one.id)) one.open = true;
    }
    for (const [id, value] of typed) {
      const same = id && this.element.querySelector(`#${CSS.escape(id)}`);
      if (same) same.value = value;
    }
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  }
}
