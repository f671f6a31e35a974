/** One skill: when it is found, whether it can be used, its versions, and its SKILL.md. */

import { get } from "../api.js";
import { facts, h, Section, time } from "../dom.js";
import { pill } from "../parts/marks.js";
import { LANES, SOURCES } from "../wording.js";
import { usable } from "./skills.js";

export function abilityView({ signal, heading }, id) {
  const body = new Section();
  return async () => {
    const path = `abilities/${encodeURIComponent(id)}`;
    const [detail, { versions }] = await Promise.all([get(path, { signal }), get(`${path}/versions`, { signal })]);
    heading.textContent = detail.ability.title;
    document.title = `${detail.ability.title} · Skills`;
    body.show({ detail, versions }, build);
    return body.element.isConnected ? null : body.element;
  };
}

function build({ detail, versions }) {
  const { ability } = detail;
  return [
    h("p", { class: "back" }, h("a", { href: "#/skills" }, "← All skills")),
    h(
      "section",
      { class: "card" },
      h("div", { class: "pills" }, usable(ability), pill(SOURCES[ability.source] ?? ability.source), pill(LANES[ability.install_lane] ?? ability.install_lane)),
      ability.reason_unusable && h("p", {}, ability.reason_unusable),
      facts([
        ["Ability", h("code", {}, ability.ability_id)],
        ["Version", detail.version],
        ["In the workspace", detail.skill_path && h("code", {}, detail.skill_path)],
        ["Last proven", time(ability.last_validated_at)],
      ]),
    ),
    phrases("Found when somebody says", ability.trigger_phrases),
    phrases("Left alone when somebody says", ability.negative_triggers),
    detail.skill_markdown && h("section", { class: "card" }, h("h2", {}, "SKILL.md"), h("pre", { tabindex: "0", "aria-label": "SKILL.md" }, detail.skill_markdown)),
    h("section", { class: "card" }, h("h2", {}, "Versions"), h("ul", { class: "plain-list" }, versions.map(version))),
  ];
}

function phrases(title, said) {
  return said.length > 0 && h("section", { class: "card" }, h("h2", {}, title), h("ul", { class: "phrases" }, said.map((one) => h("li", {}, `“${one}”`))));
}

function version(one) {
  return h("li", {}, `Version ${one.version}`, one.current && [" ", pill("Current", "good")], h("span", { class: "meta" }, " · ", time(one.installed_at), " · ", h("code", {}, one.content_hash.slice(0, 12))));
}
