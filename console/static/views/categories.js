/** Categories: a person's own groups of skills and proposals, and what is in them. */

import { command, get } from "../api.js";
import { announce, h, Section } from "../dom.js";
import { identity } from "../identity.js";
import { ITEM_KINDS } from "../learning_words.js";
import { actButton, lacking } from "../parts/act.js";
import { itemsOf } from "../parts/memberships.js";
import { failure, nothing } from "../parts/notices.js";
import { swatch } from "../parts/swatch.js";
import { plural } from "../wording.js";

const MOST_TITLE = 80;
const FIRST_COLOUR = "#6366f1";

export function categoriesView(page) {
  const [making, list] = [new Section(), new Section()];
  const refresh = () => page.refresh();
  return async () => {
    const options = { signal: page.signal };
    const [{ categories, limit }, names] = await Promise.all([get("categories", options), namesOf(page.signal)]);
    const filled = await Promise.all(categories.map(async (one) => ({ ...one, items: await itemsOf(one.category_id, page.signal) })));
    making.show({ limit, full: categories.length >= limit }, (shown) => creating(shown, refresh));
    list.show({ filled, names, limit }, (shown) => build(shown, refresh));
    return list.element.isConnected ? null : [making.element, list.element];
  };
}

/** What items are called, and where they are shown. */
async function namesOf(signal) {
  const [{ abilities }, { proposals }] = await Promise.all([get("abilities/availability", { signal }), get("learn/proposals?page_size=100", { signal })]);
  return Object.fromEntries([
    ...abilities.map((one) => [one.ability_id, { title: one.title, href: `#/skills/${encodeURIComponent(one.ability_id)}` }]),
    ...proposals.map((one) => [one.proposal_id, { title: one.title, href: one.learn_session_id && `#/sessions/${one.learn_session_id}` }]),
  ]);
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
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    submit.disabled = true;
    trouble.replaceChildren();
    try {
      await send(path, { title: name.value.trim(), color: colour.value });
      announce(done);
      if (place === "new") name.value = "";
      refresh();
    } catch (error) {
      trouble.replaceChildren(failure(error));
    } finally {
      submit.disabled = off;
    }
  });
  return form;
}

function build({ filled, names, limit }, refresh) {
  if (!filled.length) {
    return nothing("No category yet", "Create one above. Then open a skill or a proposal and add it there.");
  }
  return [
    h("p", { class: "meta" }, `${filled.length} of ${plural(limit, "category", "categories")}`),
    h("ul", { class: "cards", "aria-label": "Categories" }, filled.map((one) => card(one, names, refresh))),
  ];
}

function card({ category_id: id, title, color, items }, names, refresh) {
  const drop = command("delete-category", "DELETE");
  const dialog = () => ({ title: `Delete “${title}”?`, text: "What is in it stays; only the grouping is gone.", confirm: "Delete", tone: "bad" });
  const change = { place: id, title, color, say: "Save", done: "The category is changed", send: command("change-category", "PUT"), path: `categories/${id}` };
  return h(
    "li",
    { class: "card" },
    h("div", { class: "card-head" }, h("h3", { class: "with-swatch" }, swatch(color), title), h("span", { class: "meta" }, plural(items.length, "item"))),
    items.length ? h("ul", { class: "memberships", "aria-label": `In ${title}` }, items.map((one) => item(one, names, refresh))) : h("p", { class: "meta" }, "Empty. Open a ", h("a", { href: "#/skills" }, "skill"), " or a ", h("a", { href: "#/pending" }, "proposal"), " and add it there."),
    h("details", { id: `change-${id}` }, h("summary", {}, "Change"), categoryForm(change, refresh)),
    h("div", { class: "card-actions" }, actButton({ id: `delete-${id}`, label: "Delete…", kind: "small danger quiet", scope: "learn", done: `${title} is deleted`, dialog, act: () => drop(`categories/${id}`), after: refresh })),
  );
}

function item({ category_id: category, item_kind: kind, item_id: id }, names, refresh) {
  const drop = command("unassign", "DELETE");
  const { title = id, href } = names[id] ?? {};
  return h(
    "li",
    {},
    h("span", {}, href ? h("a", { href }, title) : title, h("span", { class: "case-details" }, ITEM_KINDS[kind] ?? kind)),
    actButton({ id: `leave-${category}-${kind}-${id}`, label: "Remove", kind: "small danger quiet", scope: "learn", done: `${title} is removed`, act: () => drop(`categories/${category}/items/${kind}/${encodeURIComponent(id)}`), after: refresh }),
  );
}
