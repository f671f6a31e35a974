/** Packs: skills that are installed together, all of them or none; a form that makes one, and those that there are. */

import { command, get } from "../api.js";
import { announce, h, Section } from "../dom.js";
import { identity } from "../identity.js";
import { lacking } from "../parts/act.js";
import { onSubmit, reportIn } from "../parts/busy.js";
import { nothing } from "../parts/notices.js";
import { poll } from "../parts/polling.js";

const MOST_TITLE = 120;
const MOST_DESCRIPTION = 400;
const NAMES = /[\s,]+/;

export function packsView(page) {
  const [making, list] = [new Section(), new Section()];
  poll(page);
  return async () => {
    const { packs } = await get("skills/packs", { signal: page.signal });
    making.show({}, packForm);
    list.show(packs, build);
    return list.element.isConnected ? null : [h("p", { class: "back" }, h("a", { href: "#/imports" }, "← Imports")), making.element, list.element];
  };
}

function packForm() {
  const off = !identity.may("learn");
  const trouble = h("div", { class: "trouble" });
  const input = (name, more) => h("input", { id: `pack-${name}`, name, autocomplete: "off", disabled: off, ...more });
  const [id, title, description] = [input("id", { required: true, maxlength: 64, pattern: "[a-z0-9\\-]{2,64}" }), input("title", { required: true, maxlength: MOST_TITLE }), input("description", { maxlength: MOST_DESCRIPTION })];
  const skills = h("textarea", { id: "pack-skills", name: "skills", rows: 3, required: true, disabled: off, spellcheck: "false" });
  const submit = h("button", { type: "submit", class: "primary", disabled: off }, "Make the pack");
  const field = (element, words) => h("div", { class: "field" }, h("label", { for: element.id }, words), element);
  const form = h(
    "form",
    { class: "schema-form", "aria-label": "New pack" },
    field(id, "Name: small letters, digits and hyphens"),
    field(title, "Title"),
    field(description, "What it is for (optional)"),
    field(skills, "Names of its skills: installed ones, and imports that are ready for review"),
    h("div", { class: "buttons" }, submit),
    trouble,
  );
  const put = command("pack");
  const make = async () => {
    const named = [...new Set(skills.value.split(NAMES).filter(Boolean))];
    // The form makes packs: one that is there is changed at the command line, and not lost by a name chosen twice.
    await put("skills/packs", { pack_id: id.value, title: title.value.trim(), description: description.value.trim(), skills: named, expected_version: 0 });
    announce(`The pack ${title.value.trim()} is made`);
    location.hash = `#/packs/${id.value}`;
  };
  onSubmit(form, submit, make, reportIn(trouble));
  const heading = "new-pack";
  const text = "A pack is installed as a whole: where one skill fails, those before it are undone. Making it installs nothing.";
  return h("section", { class: "card", "aria-labelledby": heading }, h("h2", { id: heading }, "New pack"), h("p", {}, text), form, lacking("learn"));
}

function build(packs) {
  if (!packs.length) return nothing("No pack yet", "Make one above of skills that you have imported.");
  return [h("h2", {}, "Your packs"), h("ul", { class: "cards", "aria-label": "Your packs" }, packs.map(card))];
}

function card({ pack_id: id, title, description }) {
  const link = h("a", { href: `#/packs/${encodeURIComponent(id)}` }, title);
  return h("li", { class: "card", "aria-label": title }, h("h3", {}, link), description && h("p", {}, description), h("p", { class: "meta" }, h("code", {}, id)));
}
