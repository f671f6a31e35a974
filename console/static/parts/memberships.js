/** The categories that one ability or proposal is in, with adding and removing. */

import { command, get } from "../api.js";
import { h } from "../dom.js";
import { identity } from "../identity.js";
import { actButton, lacking } from "./act.js";
import { nothing } from "./notices.js";
import { swatch } from "./swatch.js";

const PAGE_SIZE = 100;

/** Every item of a category. */
async function itemsOf(categoryId, signal) {
  const found = [];
  for (let page = 1; ; page += 1) {
    const { items, total } = await get(`categories/${categoryId}/items?page=${page}&page_size=${PAGE_SIZE}`, { signal });
    found.push(...items);
    if (!items.length || found.length >= total) return found;
  }
}

/** Which categories an item is in. It is read once, and anew when something was changed from here. */
export class Memberships {
  #known = null;

  /** `kinds`: the names the item may go by; the first is the one it is assigned as. */
  constructor(kinds, id, page) {
    Object.assign(this, { kinds, id, page });
  }

  async read() {
    if (!this.#known) {
      const { categories } = await get("categories", { signal: this.page.signal });
      const rows = await Promise.all(categories.map(async (one) => ({ ...one, as: await this.#as(one.category_id) })));
      this.#known = rows;
    }
    return this.#known;
  }

  async #as(categoryId) {
    const items = await itemsOf(categoryId, this.page.signal);
    return items.filter((one) => one.item_id === this.id && this.kinds.includes(one.item_kind)).map((one) => one.item_kind);
  }

  changed = () => {
    this.#known = null;
    this.page.refresh();
  };
}

export function membershipList(categories, memberships) {
  if (!categories.length) {
    return nothing("No category yet", "Categories group skills and proposals in your own way.", h("a", { class: "button", href: "#/categories" }, "Create a category"));
  }
  const within = categories.filter((one) => one.as.length);
  const others = categories.filter((one) => !one.as.length);
  return [
    within.length > 0 && h("ul", { class: "memberships", "aria-label": "In these categories" }, within.map((one) => row(one, memberships))),
    others.length > 0 && adding(others, memberships),
    lacking("learn"),
  ];
}

function row({ category_id: id, title, color, as }, memberships) {
  const drop = command("unassign", "DELETE");
  const act = async () => {
    for (const kind of as) await drop(`categories/${id}/items/${kind}/${encodeURIComponent(memberships.id)}`);
  };
  return h(
    "li",
    {},
    swatch(color),
    h("span", {}, title),
    actButton({ id: `leave-${id}`, label: "Remove", kind: "small danger quiet", scope: "learn", done: `Removed from ${title}`, act, after: memberships.changed }),
  );
}

function adding(categories, memberships) {
  const choice = h("select", { id: "add-to-category", disabled: !identity.may("learn") }, categories.map((one) => h("option", { value: one.category_id }, one.title)));
  const post = command("assign");
  const act = () => post(`categories/${choice.value}/assign`, { item_kind: memberships.kinds[0], item_id: memberships.id });
  return h(
    "div",
    { class: "field" },
    h("label", { for: "add-to-category" }, "Add to a category"),
    h("div", { class: "inline-field" }, choice, actButton({ id: "assign", label: "Add", scope: "learn", done: "Added to the category", act, after: memberships.changed })),
  );
}
