"""Write and parse SKILL.md: front matter (a small, strict subset of YAML) and sections (DOC3 §0C.9A rule 2, §1.3).

The text names which states to reach and how to see them, never how they were reached in the demonstration: no
command, no gesture, no absolute path of the demonstrator. Details beside the keys of the Agent Skills specification
live under ``metadata``, whose values are texts. Parsing loses no byte.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.learning.interpretation import Checkpoint, UnseenInput
from contracts.learning.proposal import (
    GOAL_SECTION,
    METHOD_SECTION,
    PARAMETER_SECTION,
    TECHNIQUES,
    UNSEEN_SECTION,
)
from contracts.learning.session import LearnExecutionMode
from domain.learning.conditions.stated_conditions import NOT_TESTED, marked
from domain.learning.interpretation.naming import listed, lower_first, plain, sentence, without_stop
from domain.platform.frontmatter import FrontmatterLimits, FrontmatterProblem, read_frontmatter

DESCRIPTION_LIMIT = 1024
"""The most characters of a description (the Agent Skills specification)."""

MAX_BYTES = 16 * 1024
"""The most UTF-8 bytes of a front matter."""

MAX_DEPTH = 8
"""The deepest nesting of lists and mappings."""

_COMPATIBILITY_LIMIT = 500

_METADATA_LIMIT = 1500

_ALSO_LIMIT = 600

_RESERVED_SCALARS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})

NOT_REPLAYED = (
    "The lesson was not replayed: this was read from the commands as they were typed, and nothing has shown which of"
    " them the result needs."
)
"""Said of facts and of an example that no replay stands behind."""

_PREPOSITION = re.compile(r"(?i)(?:after|at|before|by|during|each|every|for|in|on|once|while|with)\s")

_KEY = re.compile(r"([A-Za-z][\w-]*):")

_INNER_KEY = re.compile(r"  ([A-Za-z][\w-]*):")

_HEADING = re.compile(r"(#{1,2}) +(.*?)\s*$")

_CODE_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")

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
class MethodFact:
    """What one command of the method fixes: in words, values in single quotes, and as typed where it is short."""

    words: str
    typed: str = ""


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
    also_tested: Sequence[str] = ()
    untested_checkpoints: Collection[str] = ()
    """The ids of those whose condition nothing tests."""
    parameters: Sequence[str] = ()
    method: Sequence[MethodFact] = ()
    is_replayed: bool = True
    """Whether a replay stands behind the method."""
    techniques: Sequence[str] = ()
    scripts: Sequence[str] = ()
    unseen: Sequence[UnseenInput] = ()
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
        (GOAL_SECTION, code(sentence(document.goal))),
        *([(PARAMETER_SECTION, _bullets(document.parameters, code))] if document.parameters else []),
        ("Checkpoints", _checkpoints(document, code)),
        *([("Optional steps", _optional_steps(document, code))] if document.optional_steps else []),
        ("Done when", _done_when(document, code)),
        *([(METHOD_SECTION, _method(document))] if document.method else []),
        *([(UNSEEN_SECTION, _unseen(document))] if document.unseen else []),
        ("Inputs to ask for", _bullets(document.inputs, code)),
        *([("Documents", _bullets(document.documents, code))] if document.documents else []),
        ("Safety", _bullets([*document.safety, *_unconfirmed(document)], code)),
    ]
    body = "\n\n".join(f"## {heading}\n\n{content}" for heading, content in sections)
    return f"{_frontmatter(document)}\n# {_markdown(document.title)}\n\n{body}\n"


_QUOTED = re.compile(r"'([^'`\n]+)'")


def _fact(fact: MethodFact) -> str:
    """The words with their values in code type, then the command itself."""
    parts: list[str] = []
    position = 0
    for match in _QUOTED.finditer(fact.words):
        parts += [_markdown(fact.words[position : match.start()]), f"`{match.group(1)}`"]
        position = match.end()
    words = "".join([*parts, _markdown(fact.words[position:])])
    if not fact.typed:
        return words
    if "\n" not in fact.typed:
        return f"{words} (`{fact.typed}`)"
    block = "\n".join(f"  {line}" for line in ("```sh", *fact.typed.splitlines(), "```"))
    return f"{words}:\n\n{block}\n"


def _method(document: SkillDocument) -> str:
    found = "\n".join(f"- {_fact(one)}" for one in document.method)
    if not document.is_replayed:
        found = f"{NOT_REPLAYED}\n\n{found}"
    if document.scripts:
        names = listed([f"`{name}`" for name in document.scripts])
        found += f"\n\nThe demonstration wrote its own programs; they are kept in {names}."
    return f"{found}\n\nHow it was done once is in `references/demonstration.md`: an example, not a recipe."


def _unseen(document: SkillDocument) -> str:
    """Work whose input was not seen, with what a person says of it, or that nobody has said anything."""
    done = "\n".join(map(_work, document.unseen))
    return f"Nothing recorded what was done in these programs, and no trial repeats it.\n\n{done}"


def _work(one: UnseenInput) -> str:
    program = _markdown(one.program)
    known = (
        f"What was done in {program} is not known: ask before you go on."
        if one.said is None
        else f"Done in {program}, as a person says:{_verbatim(one.said)}"
    )
    return f"-{_verbatim(one.command)} {_markdown(one.change)}. {known}"


def _verbatim(text: str) -> str:
    """Word for word in code type: on the line, or as a block within the list."""
    ticks = max(map(len, re.findall("`+", text)), default=0)
    if "\n" not in text:
        return f" {'`' * (ticks + 1)} {text} {'`' * (ticks + 1)}" if ticks else f" `{text}`"
    fence = "`" * max(3, ticks + 1)
    return "\n".join(["\n", *(f"  {line}" for line in (fence, *text.splitlines(), fence)), ""])


def _frontmatter(document: SkillDocument) -> str:
    metadata = {
        "title": document.title,
        "capability-id": document.capability_id,
        "source": "learned from a demonstration",
        "triggers": "; ".join(document.triggers),
        "negative-triggers": "; ".join(document.negative_triggers),
        TECHNIQUES: "; ".join(document.techniques),
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
        untested = checkpoint.checkpoint_id in document.untested_checkpoints
        goal, condition = sentence(checkpoint.goal), sentence(checkpoint.success_condition)
        lines.append(f"{number}. **{code(goal)}** ({checkpoint.checkpoint_id})")
        if condition != goal:
            stated = (checkpoint.success_condition,)
            (verified,) = marked(stated, stated if untested else ())
            lines.append(f"   Verify: {code(lower_first(sentence(verified)))}")
        elif untested:
            lines.append(f"   Verify: {NOT_TESTED}.")
    return "\n".join(lines)


def _done_when(document: SkillDocument, code: _CodeType) -> str:
    stated = _bullets(document.success_conditions, code)
    if not document.also_tested:
        return stated
    more = "; ".join(code(without_stop(one)) for one in document.also_tested)
    return f"{stated}\n\nA trial also tests: {clipped(more, _ALSO_LIMIT)}."


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


def parse_frontmatter(text: str) -> dict[str, object]:
    """The front matter of a SKILL.md as plain values: at most 16 KiB and 8 levels, as strict as `read_frontmatter` is.

    Raises:
        Refusal: ``VALIDATION_FAILED``, with the line where there is one.
    """
    try:
        return read_frontmatter(text, FrontmatterLimits(MAX_BYTES, MAX_DEPTH))
    except FrontmatterProblem as problem:
        raise Refusal(
            ErrorCode.VALIDATION_FAILED, f"SKILL.md{problem}"[:240], fields=["SKILL.md"]
        ) from problem


@dataclass(frozen=True)
class Part:
    """One part: its name within the document, and its text with the line ends."""

    name: str
    text: str


def parts_of(document: str) -> tuple[Part, ...]:
    """The parts in order; together they are the document. A name that occurs again is numbered."""
    found: list[Part] = []
    met: dict[str, int] = {}
    for name, text in _cut(document.splitlines(keepends=True)):
        met[name] = met.get(name, 0) + 1
        found.append(Part(name if met[name] == 1 else f"{name} ({met[name]})", text))
    return tuple(found)


def texts_of(document: str) -> Mapping[str, str]:
    """The parts by name."""
    return {part.name: part.text for part in parts_of(document)}


def _cut(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    name, text = "opening", ""
    in_front = bool(lines) and lines[0].rstrip() == "---"
    fenced = False
    for number, line in enumerate(lines):
        begun = None
        if in_front and number:
            begun = _front_part(line, name)
            in_front = begun != "body"
        elif not in_front:
            fenced ^= bool(_CODE_FENCE.match(line))
            heading = None if fenced else _HEADING.match(line)
            if heading:
                begun = "title" if len(heading.group(1)) == 1 else f"section {heading.group(2)}"
        if begun is None:
            text += line
            continue
        if text:
            yield name, text
        name, text = begun, line
    if text:
        yield name, text


def _front_part(line: str, present: str) -> str | None:
    if line.rstrip() == "---":
        return "body"
    if key := _KEY.match(line):
        return key.group(1)
    inner = _INNER_KEY.match(line)
    return f"metadata.{inner.group(1)}" if inner and present.startswith("metadata") else None
