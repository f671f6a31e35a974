"""Cutting a SKILL.md into its parts, front-matter keys and sections, without losing a byte."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_KEY = re.compile(r"([A-Za-z][\w-]*):")
_INNER_KEY = re.compile(r"  ([A-Za-z][\w-]*):")
_HEADING = re.compile(r"(#{1,2}) +(.*?)\s*$")
_CODE_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")


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
