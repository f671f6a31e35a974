"""Writing the SKILL.md of a learned skill (DOC3 §0C.9A rule 2, §1.3; the Agent Skills specification).

It says which states to reach and how to see them, never how they were reached in the demonstration: no
command, no gesture, no absolute path of whoever demonstrated. Details beside the specification's own keys
live under ``metadata``, whose values are texts.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from contracts.base import clipped
from contracts.learning.interpretation import Checkpoint
from contracts.learning.session import LearnExecutionMode
from domain.learning.frontmatter import parse_frontmatter, split_frontmatter
from domain.learning.naming import listed, lower_first, plain, sentence, without_stop

__all__ = [
    "SkillDocument",
    "parse_frontmatter",
    "render_skill_markdown",
    "skill_description",
    "split_frontmatter",
]

DESCRIPTION_LIMIT = 1024
"""The most characters of a description (the Agent Skills specification)."""

_COMPATIBILITY_LIMIT = 500
_METADATA_LIMIT = 1500
_RESERVED_SCALARS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_PREPOSITION = re.compile(r"(?i)(?:after|at|before|by|during|each|every|for|in|on|once|while|with)\s")
_ORDER = {
    LearnExecutionMode.STRICT: "Reach these states in this order and verify each before going on.",
    LearnExecutionMode.GUIDED: (
        "Reach these states, normally in this order. How to reach each is yours to choose; "
        "verify it before relying on it."
    ),
    LearnExecutionMode.ADAPTIVE: (
        "These states lead to the goal. Leave out or reorder what the situation makes needless, "
        "but verify each that you rely on."
    ),
}


@dataclass(frozen=True)
class SkillDocument:
    """Everything a SKILL.md says, before it is laid out. ``paths`` are set in code type where they occur."""

    name: str
    title: str
    description: str
    goal: str
    use_conditions: Sequence[str]
    non_use_conditions: Sequence[str]
    checkpoints: Sequence[Checkpoint]
    success_conditions: Sequence[str]
    inputs: Sequence[str]
    safety: Sequence[str]
    programs: Sequence[str]
    triggers: Sequence[str]
    negative_triggers: Sequence[str]
    capability_id: str
    execution_mode: LearnExecutionMode
    parameters: Sequence[str] = ()
    optional_steps: Sequence[str] = ()
    documents: Sequence[str] = ()
    paths: Sequence[str] = ()
    unconfirmed: Sequence[str] = ()


def skill_description(
    goal: str, title: str, use_conditions: Sequence[str], non_use_conditions: Sequence[str]
) -> str:
    """What the skill does and when to use it, in 1 to 1024 characters."""
    what = sentence(goal) or sentence(title) or "A learned skill."
    when = [_clause(c) for c in use_conditions if plain(c)]
    not_when = [_clause(c) for c in non_use_conditions if plain(c)]
    parts = [clipped(what, 500)]
    parts.append(f"Use {'; or '.join(when[:3])}." if when else f"Use when asked for: {plain(title)}.")
    text = " ".join(parts)
    if not_when and len(text) < 700:
        text += f" Do not use {'; or '.join(not_when[:2])}."
    return clipped(text, DESCRIPTION_LIMIT)


def _clause(condition: str) -> str:
    """A condition as it can follow "use"."""
    text = without_stop(condition)
    text = re.sub(
        r"(?i)^(?:(?:use|only|never|not|do not use|don't use)\s+(?:it\s+)?)*(?:when(?:ever)?|if)\s+", "", text
    )
    text = re.sub(
        r"(?i)^(?:never|not|do not use it|do not use|don't use)\s+(?:for|on|with)\s+", "it is about ", text
    )
    text = lower_first(text)
    return text if _PREPOSITION.match(text) else f"when {text}"


def render_skill_markdown(document: SkillDocument) -> str:
    """The SKILL.md: same document, same bytes; ends with one newline."""
    code = _CodeType(document.paths)
    sections = [
        ("When to use", _bullets(document.use_conditions, code)),
        ("When not to use", _bullets(document.non_use_conditions or ("No exception is known",), code)),
        ("Goal", code(sentence(document.goal))),
        *([("Parameters", _bullets(document.parameters, code))] if document.parameters else []),
        ("Checkpoints", _checkpoints(document, code)),
        *([("Optional steps", _optional_steps(document, code))] if document.optional_steps else []),
        ("Done when", _bullets(document.success_conditions, code)),
        ("Inputs to ask for", _bullets(document.inputs, code)),
        *([("Documents", _bullets(document.documents, code))] if document.documents else []),
        ("Safety", _bullets([*document.safety, *_unconfirmed(document)], code)),
    ]
    body = "\n\n".join(f"## {heading}\n\n{content}" for heading, content in sections)
    return f"{_frontmatter(document)}\n# {_markdown(document.title)}\n\n{body}\n"


def _frontmatter(document: SkillDocument) -> str:
    metadata = {
        "title": document.title,
        "capability-id": document.capability_id,
        "source": "learned from a demonstration",
        "triggers": "; ".join(document.triggers),
        "negative-triggers": "; ".join(document.negative_triggers),
        "documents": "; ".join(document.documents),
    }
    lines = [
        "---",
        f"name: {_scalar(document.name, document.name)}",
        f"description: {_scalar(document.description)}",
    ]
    if document.programs:
        needs = clipped(f"Needs these programs: {listed(document.programs)}.", _COMPATIBILITY_LIMIT)
        lines.append(f"compatibility: {_scalar(needs)}")
    lines.append("metadata:")
    lines += [
        f"  {key}: {_scalar(clipped(value, _METADATA_LIMIT))}" for key, value in metadata.items() if value
    ]
    return "\n".join([*lines, "---", ""])


def _scalar(value: str, slug: str = "") -> str:
    """A YAML scalar: a slug as it is where no reader takes it for something else, else in double quotes."""
    if slug and re.fullmatch(r"[a-z][a-z0-9-]*", slug) and slug not in _RESERVED_SCALARS:
        return slug
    return json.dumps(plain(value), ensure_ascii=False)


class _CodeType:
    """Sets the known paths of a text in code type, and keeps the rest from acting as markup."""

    def __init__(self, paths: Sequence[str]) -> None:
        known = sorted({p for p in paths if p and "`" not in p}, key=lambda p: (-len(p), p))
        joined = "|".join(re.escape(p) for p in known)
        self._pattern = re.compile(rf"(?<![\w/.-])(?:{joined})(?![\w/-]|\.\w)") if known else None

    def __call__(self, text: str) -> str:
        line = plain(text)
        if self._pattern is None:
            return _markdown(line)
        parts: list[str] = []
        position = 0
        for match in self._pattern.finditer(line):
            parts += [_markdown(line[position : match.start()]), f"`{match.group(0)}`"]
            position = match.end()
        return "".join([*parts, _markdown(line[position:])])


def _markdown(text: str) -> str:
    """Takes their meaning from the characters that would become a link, raw HTML or code."""
    line = plain(text) if text.strip() else text
    lead = text[: len(text) - len(text.lstrip())] if text.strip() else ""
    tail = text[len(text.rstrip()) :] if text.strip() else ""
    return lead + re.sub(r"([\[\]<>`*\\])", r"\\\1", line) + tail


def _bullets(items: Sequence[str], code: _CodeType) -> str:
    return "\n".join(f"- {code(sentence(item))}" for item in items)


def _checkpoints(document: SkillDocument, code: _CodeType) -> str:
    lines = [_ORDER[document.execution_mode], ""]
    for number, checkpoint in enumerate(document.checkpoints, start=1):
        goal, condition = sentence(checkpoint.goal), sentence(checkpoint.success_condition)
        lines.append(f"{number}. **{code(goal)}** ({checkpoint.checkpoint_id})")
        if condition != goal:
            lines.append(f"   Verify: {code(lower_first(condition))}")
    return "\n".join(lines)


def _optional_steps(document: SkillDocument, code: _CodeType) -> str:
    asked = (
        "Only some demonstrations had these. Do one where the request asks for it; otherwise leave it out."
    )
    return f"{asked}\n\n{_bullets(document.optional_steps, code)}"


def _unconfirmed(document: SkillDocument) -> list[str]:
    if not document.unconfirmed:
        return []
    return [
        f"Nobody has confirmed {listed(list(document.unconfirmed))}: this was read from the demonstration. "
        "When in doubt, ask before you begin"
    ]
