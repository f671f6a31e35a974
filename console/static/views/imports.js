/** Import: a form that takes the archive of a skill and has it checked, and what became of earlier ones. */

import { ApiError, command } from "../api.js";
import { announce, h, Section, time } from "../dom.js";
import { identity } from "../identity.js";
import { IMPORT_SOURCES, IMPORT_STATES } from "../import_words.js";
import { lacking } from "../parts/act.js";
import { onSubmit, reportIn } from "../parts/busy.js";
import { copyable } from "../parts/copyable.js";
import { pill } from "../parts/marks.js";
import { nothing } from "../parts/notices.js";
import { Pages } from "../parts/pages.js";
import { poll } from "../parts/polling.js";

const MOST_BYTES = 100 * 1024 * 1024;

export function importsView(page) {
  const [adding, list] = [new Section(), new Section()];
  const pages = new Pages(page, "imports");
  poll(page);
  return async () => {
    const found = await pages.read("skills/import/list");
    adding.show({}, uploading);
    list.show(found, (shown) => build(shown, pages));
    return list.element.isConnected ? null : [adding.element, list.element];
  };
}

function uploading() {
  const off = !identity.may("learn");
  const trouble = h("div", { class: "trouble" });
  const file = h("input", { id: "bundle", name: "bundle", type: "file", accept: ".zip", required: true, disabled: off });
  const source = h("select", { id: "source", name: "source", disabled: off }, Object.entries(IMPORT_SOURCES).map(([key, words]) => h("option", { value: key }, words)));
  const folder = h("input", { id: "folder", name: "folder", maxlength: 240, autocomplete: "off", disabled: off });
  const submit = h("button", { type: "submit", class: "primary", disabled: off }, "Upload and check");
  const form = h(
    "form",
    { class: "schema-form", "aria-label": "Import a skill" },
    h("div", { class: "field" }, h("label", { for: file.id }, "ZIP archive of the skill's folder, at most 100 MiB"), file),
    h("div", { class: "field" }, h("label", { for: source.id }, "Where it comes from"), source),
    h("div", { class: "field" }, h("label", { for: folder.id }, "Folder of the skill, if the archive holds several (optional)"), folder),
    h("div", { class: "buttons" }, submit),
    trouble,
  );
  const [upload, scan] = [command("upload"), command("scan")];
  const bring = async () => {
    const found = await brought(file.files[0], source.value, folder.value.trim());
    announce(`${found.skill_name}: ${IMPORT_STATES[found.stage_state][0]}`);
    location.hash = `#/imports/${found.import_id}`;
  };
  onSubmit(form, submit, bring, reportIn(trouble));
  const id = "bring-a-skill";
  const text = "It is unpacked, read and scanned. Nothing of it is run, and nothing is installed before you decide.";
  return h("section", { class: "card", "aria-labelledby": id }, h("h2", { id }, "Import a skill"), h("p", {}, text), form, lacking("learn"));

  async function brought(archive, from, skillFolder) {
    if (archive.size > MOST_BYTES) throw new ApiError({ code: "SKILL_IMPORT_TOO_LARGE", message: "The archive has more than 100 MiB, the most of an upload.", retryable: false });
    const body = new FormData();
    body.append("bundle", archive);
    body.append("metadata", JSON.stringify({ source: from }));
    const { temp_artifact: kept } = await upload("skills/import/uploads", body);
    const asked = { source: from, temp_artifact_ref: kept.temp_artifact_ref, ...(skillFolder && { skill_folder: skillFolder }) };
    return (await scan("skills/import/scan", asked)).import_record;
  }
}

function build(found, pages) {
  if (!found.total) return nothing("No import yet", "Choose an archive above, or at the command line:", copyable("apprentice import add FILE.zip"));
  return [
    h("h2", {}, "Your imports"),
    h("p", {}, h("a", { href: "#/packs" }, "Packs"), " install several of them together."),
    h("ul", { class: "cards", "aria-label": "Your imports" }, found.items.map(card)),
    pages.buttons(found),
  ];
}

function card(one) {
  const [label, tone] = IMPORT_STATES[one.stage_state];
  return h(
    "li",
    { class: "card", "aria-label": one.skill_name },
    h("div", { class: "card-head" }, h("h3", {}, h("a", { href: `#/imports/${one.import_id}` }, one.skill_name)), pill(label, tone)),
    h("p", { class: "meta" }, one.original_filename ?? IMPORT_SOURCES[one.source], " · ", time(one.created_at)),
  );
}
