"""Reads what a skill says of itself under ``metadata``: triggers, needs, namespace (DOC3 §0.2C, lines 4375-4398).

A list is written there as JSON, or as a text with semicolons or line ends between its items, since the specification
allows texts alone. What does not fit its bounds is left out here; it stays in SKILL.md.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import TypeVar, cast

from contracts.abilities.control_surface import ControlSurface
from contracts.base import clipped
from contracts.imports.portable_frontmatter import (
    CostClass,
    PortabilityGrade,
    PortableSkillFrontmatter,
)
from domain.imports.allowed_tools import split_tools
from domain.imports.described_uses import described_uses
from domain.imports.skill_reading import ReadSkill

_MOST_ITEMS = 100
_NAMESPACE = re.compile(r"[a-z0-9][a-z0-9_-]{1,31}")
_HOSTS = ("openclaw", "clawdbot", "moltbot")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_Choice = TypeVar("_Choice", bound=StrEnum)


def portable_frontmatter(skill: ReadSkill) -> PortableSkillFrontmatter:
    """The skill's front matter as this runtime uses it.

    A skill without triggers has the uses that its description names for them, or else its sentences.
    """
    said = skill.metadata
    described = described_uses(skill.description)
    grade = _choice(PortabilityGrade, _field(said, "portability_grade"))
    cost = _choice(CostClass, _field(said, "estimated_cost_class"))
    surfaces = (_choice(ControlSurface, item) for item in listed(said, "preferred_control_surfaces", 80))
    namespace = _field(said, "assigned_namespace")
    return PortableSkillFrontmatter(
        name=skill.name,
        title=clipped(_field(said, "title") or skill.name.replace("-", " ").capitalize(), 120),
        description=clipped(skill.description, 500),
        version=_field(said, "version")[:32] or "1.0.0",
        triggers=listed(said, "triggers", 200) or described.uses or _sentences(skill.description),
        negative_triggers=listed(said, "negative_triggers", 200) or described.not_for,
        # Clipped and not left out: without any name the skill would be bound to none.
        allowed_tools=tuple(dict.fromkeys(clipped(tool, 80) for tool in allowed_tools(skill) or ())),
        support_packs=listed(said, "support_packs", 120),
        connector_hints=listed(said, "connector_hints", 120),
        depends_on=listed(said, "depends_on", 80),
        preferred_control_surfaces=tuple(surface for surface in surfaces if surface is not None),
        estimated_cost_class=cost or CostClass.UNKNOWN,
        assigned_namespace=namespace if _NAMESPACE.fullmatch(namespace) else None,
        portability_grade=grade or PortabilityGrade.DIRECT,
    )


def allowed_tools(skill: ReadSkill) -> tuple[str, ...] | None:
    """The tools that the skill may use; None where it does not say, which is not the same as none."""
    said = skill.front.get("allowed-tools")
    return split_tools(said) if isinstance(said, str) else None


def listed(metadata: Mapping[str, str], field: str, most: int) -> tuple[str, ...]:
    """The items of a field, each of at most ``most`` characters, under its name with underscores or hyphens."""
    text = _field(metadata, field)
    found = _json_of(text)
    items: Iterable[object] = (
        cast("list[object]", found) if isinstance(found, list) else re.split(r"[;\n]", text)
    )
    texts = (item.strip() for item in items if isinstance(item, str))
    return tuple(dict.fromkeys(item for item in texts if item and len(item) <= most))[:_MOST_ITEMS]


def host_needs(skill: ReadSkill, need: str) -> tuple[str, ...]:
    """What the skill's metadata for OpenClaw asks of the computer: ``bins``, ``env``, or ``os``."""
    return tuple(dict.fromkeys(_host_needs(skill.metadata, need)))[:_MOST_ITEMS]


def _host_needs(metadata: Mapping[str, str], need: str) -> Iterator[str]:
    for host in _HOSTS:
        found = _json_of(metadata.get(host, ""))
        if isinstance(found, dict):
            fields = cast("dict[str, object]", found)
            requires = fields.get("requires")
            places = [fields, cast("dict[str, object]", requires)] if isinstance(requires, dict) else [fields]
            for place in places:
                items = place.get(need)
                if isinstance(items, list):
                    yield from (item[:120] for item in cast("list[object]", items) if isinstance(item, str))


def _field(metadata: Mapping[str, str], field: str) -> str:
    return metadata.get(field, metadata.get(field.replace("_", "-"), "")).strip()


def _json_of(text: str) -> object:
    if text[:1] not in ("[", "{"):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _choice(kind: type[_Choice], text: str) -> _Choice | None:
    return next((member for member in kind if member.value == text), None)


def _sentences(description: str) -> tuple[str, ...]:
    sentences = [clipped(sentence.strip(), 200) for sentence in _SENTENCE.split(description)]
    return tuple(sentence for sentence in sentences if sentence)[:10]
