/** Categories: a person's own groups of skills and proposals, and what is in them. */

import { command } from "../api.js";
import { announce, h, Section } from "../dom.js";
import { identity } from "../identity.js";
import { ITEM_KINDS } from "../learning_words.js";
import { actButton, lacking } from "../parts/act.js";
import { onSubmit, reportIn } from "../parts/busy.js";
import { nothing } from "../parts/notices.js";
import { Pages } from "../parts/pages.js";
import { swatch } from "../parts/swatch.js";
import { plural } from "../wording.js";

const MOST_TITLE = 80;
const ITEMS_SHOWN = 10;
const FIRST_COLOUR = "#6366f1";

export function categoriesView(page) {
  const [making, list] = [new Section(), new Section()];
  const refresh = () => page.refresh();
  const pages = new Pages(page, "categories");
  const inside = new Map();
  const pagesOf = (id) => {
    if (!inside.has(id)) inside.set(id, new Pages(page, "items", ITEMS_SHOWN, `items-${id}`));
    return inside.get(id);
  };
  return async () => {
    const { categories, limit, ...counts } = await pages.read("categories");
    const filled = await Promise.all(categories.map(async (one) => ({ ...one, held: await pagesOf(one.category_id).read(`categories/${one.category_id}/items`) })));
    making.show({ limit, full: counts.total >= limit }, (shown) => creating(shown, refresh));
    list.show({ filled, counts, limit }, (shown) => [build(shown, refresh, pagesOf), pages.buttons(shown.counts)]);
    return list.element.isConnected ? null : [making.element, list.element];
  };
}

/** Where an item is shown. */
function addressOf({ item_kind: kind, item_id: id, title, learn_session_id: session }) {
  if (title && (kind === "skill" || kind === "learned_ability")) return `#/skills/${encodeURIComponent(id)}`;
  return session && `#/sessions/${session}`;
}

function creating({ limit, full }, refresh) {
  const id = "new-category";
  const content = full
    ? h("p", { class: "notice" }, `You have ${plural(limit, "category", "categories")}, the most there may be. Delete one below to make room.`)
    : categoryForm({ place: "new", title: "", color: FIRST_COLOUR, say: "Create", done: "The category is created", send: command("category"), path: "categories" }, refresh);
  return h("section", { class: "card", "aria-labelledby": id }, h("h2", { id }, "New category"), content, lacking("learn"));
}

function categoryForm({ place, title, color, say, done, send, path }, refresh) {
  const off = !identity.may("learn");
  const trouble = h("div", { class: "trouble" });
  const name = h("input", { id: `title-${place}`, name: "title", maxlength: MOST_TITLE, required: true, autocomplete: "off", disabled: off, value: title });
  const colour = h("input", { id: `colour-${place}`, name: "color", type: "color", disabled: off, value: color.toLowerCase() });
  const submit = h("button", { type: "submit", disabled: off, class: place === "new" ? "primary" : "" }, say);
  const form = h(
    "form",
    { class: "category-form", "aria-label": say === "Create" ? "New category" : `Change ${title}` },
    h("div", { class: "field" }, h("label", { for: name.id }, "Title"), name),
    h("div", { class: "field" }, h("label", { for: colour.id }, "Colour"), colour),
    h("div", { class: "buttons" }, submit),
    trouble,
  );
  const save = async () => {
    await send(path, { title: name.value.trim(), color: colour.value });
    announce(done);
    if (place === "new") name.value = "";
    refresh();
  };
  onSubmit(form, submit, save, reportIn(trouble));
  return form;
}

function build({ filled, counts, limit }, refresh, pagesOf) {
  if (!filled.length) {
    return nothing("No category yet", "Create one above. Then open a skill or a proposal and add it there.");
  }
  return [
    h("p", { class: "meta" }, `${counts.total} of ${plural(limit, "category", "categories")}`),
    h("ul", { class: "cards", "aria-label": "Categories" }, filled.map((one) => card(one, refresh, pagesOf(one.category_id)))),
  ];
}

function card({ category_id: id, title, color, held }, refresh, pages) {
  const drop = command("delete-category", "DELETE");
  const dialog = () => ({ title: `Delete “${title}”?`, text: "What is in it stays; only the grouping is gone.", confirm: "Delete", tone: "bad" });
  const change = { place: id, title, color, say: "Save", done: "The category is changed", send: command("change-category", "PUT"), path: `categories/${id}` };
  return h(
    "li",
    { class: "card" },
    h("div", { class: "card-head" }, h("h3", { class: "with-swatch" }, swatch(color), title), h("span", { class: "meta" }, plural(held.total, "item"))),
    held.total ? [h("ul", { class: "memberships", "aria-label": `In ${title}` }, held.items.map((one) => item(one, refresh))), pages.buttons(held)] : h("p", { class: "meta" }, "Empty. Open a ", h("a", { href: "#/skills" }, "skill"), " or a ", h("a", { href: "#/pending" }, "proposal"), " and add it there."),
    h("details", { id: `change-${id}` }, h("summary", {}, "Change"), categoryForm(change, refresh)),
    h("div", { class: "card-actions" }, actButton({ id: `delete-${id}`, label: "Delete…", kind: "small danger quiet", scope: "learn", done: `${title} is deleted`, dialog, act: () => drop(`categories/${id}`), after: refresh })),
  );
}

function item(one, refresh) {
  const drop = command("unassign", "DELETE");
  const { category_id: category, item_kind: kind, item_id: id } = one;
  const [title, href] = [one.title ?? id, addressOf(one)];
  return h(
    "li",
    {},
    h("span", {}, href ? h("a", { href }, title) : title, h("span", { class: "case-details" }, ITEM_KINDS[kind] ?? kind)),
    actButton({ id: `leave-${category}-${kind}-${id}`, label: "Remove", kind: "small danger quiet", scope: "learn", done: `${title} is removed`, act: () => drop(`categories/${category}/items/${kind}/${encodeURIComponent(id)}`), after: refresh }),
  );
}
