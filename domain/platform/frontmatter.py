"""Reads the front matter of a SKILL.md: a small, strict subset of YAML, since skills come from strangers.

No anchors, aliases, tags, directives or merge keys, no name twice, text names only, bounded in bytes and depth. A plain
scalar is a boolean, null, an integer of at most 15 digits, or a text: ``1.10`` and ``2026-01-31`` stay what they look
like.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import cast

import yaml
from yaml.reader import ReaderError

from domain.platform.strict_json import NotStrictJson, read_json

_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,14})")

_JSON_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?(?:[eE][+-]?\d{1,2})?")

_FENCE = re.compile(r"^---[ \t]*$", re.MULTILINE)

# The stubs of PyYAML leave these two half typed.
_parse = cast("Callable[..., Iterable[yaml.Event]]", yaml.parse)  # pyright: ignore[reportUnknownMemberType]

_compose = cast("Callable[..., yaml.Node | None]", yaml.compose)  # pyright: ignore[reportUnknownMemberType]


@dataclass(frozen=True)
class InlineJson:
    """The bounds of one name's value that is JSON inside the front matter; they count for themselves."""

    most_bytes: int
    most_depth: int


@dataclass(frozen=True)
class FrontmatterLimits:
    """The most bytes and levels of a front matter, and the names whose value is JSON with bounds of its own."""

    most_bytes: int
    most_depth: int
    inline_json: Mapping[str, InlineJson] | None = None

    @property
    def deepest(self) -> int:
        """The most levels that any part may have."""
        inner = [1 + bound.most_depth for bound in (self.inline_json or {}).values()]
        return max([self.most_depth, *inner])


class FrontmatterCode(StrEnum):
    """What is wrong with a front matter."""

    MISSING = "FRONTMATTER_MISSING"
    NOT_CLOSED = "FRONTMATTER_NOT_CLOSED"
    TOO_LARGE = "FRONTMATTER_TOO_LARGE"
    TOO_DEEP = "FRONTMATTER_TOO_DEEP"
    CONTROL_CHARACTER = "FRONTMATTER_CONTROL_CHARACTER"
    NOT_YAML = "FRONTMATTER_NOT_YAML"
    NOT_A_MAPPING = "FRONTMATTER_NOT_A_MAPPING"
    ALIAS = "FRONTMATTER_ALIAS"
    TAG = "FRONTMATTER_TAG"
    SEVERAL_DOCUMENTS = "FRONTMATTER_SEVERAL_DOCUMENTS"
    MERGE_KEY = "FRONTMATTER_MERGE_KEY"
    DUPLICATE_KEY = "FRONTMATTER_DUPLICATE_KEY"
    KEY_NOT_TEXT = "FRONTMATTER_KEY_NOT_TEXT"
    INLINE_JSON = "FRONTMATTER_INLINE_JSON"


class FrontmatterProblem(Exception):
    """The front matter cannot be read; the message says where and why. ``line`` counts in the file, from 1."""

    def __init__(self, code: FrontmatterCode, what: str, line: int | None = None) -> None:
        self.code = code
        self.what = what
        self.line = line + 2 if line is not None else None
        super().__init__(f"{f' (line {self.line})' if self.line is not None else ''}: {what}")


def split_frontmatter(text: str) -> tuple[str, str]:
    """The front matter without its fences, and the body after it. A byte order mark and CRLF are accepted.

    Raises:
        FrontmatterProblem: the text does not start with a front matter that ends.
    """
    normalised = text.removeprefix("\ufeff").replace("\r\n", "\n")
    opening = _FENCE.match(normalised)
    closing = _FENCE.search(normalised, opening.end() + 1) if opening else None
    if opening is None or closing is None:
        code = FrontmatterCode.MISSING if opening is None else FrontmatterCode.NOT_CLOSED
        raise FrontmatterProblem(code, "a skill starts with a front matter between two lines of ---")
    return normalised[opening.end() + 1 : closing.start()], normalised[closing.end() :].lstrip("\n")


def read_frontmatter(text: str, limits: FrontmatterLimits) -> dict[str, object]:
    """The front matter of a SKILL.md as plain values.

    A name of ``limits.inline_json`` holds JSON: as a text, as a mapping that is JSON as it stands, or as a mapping of
    YAML, whose numbers may then have fractions.

    Raises:
        FrontmatterProblem: with the line where there is one.
    """
    front, _ = split_frontmatter(text)
    bounds = limits.inline_json or {}
    most = limits.most_bytes + sum(bound.most_bytes for bound in bounds.values())
    if _size(front) > most:
        raise _too_large(limits)
    try:
        _check_events(front, limits.deepest)
        node = _compose(front, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = cast("yaml.Mark | None", getattr(error, "problem_mark", None))
        problem = str(getattr(error, "problem", None) or "it holds a control character")
        broken = isinstance(error, ReaderError)
        code = FrontmatterCode.CONTROL_CHARACTER if broken else FrontmatterCode.NOT_YAML
        raise FrontmatterProblem(code, problem, mark.line if mark else None) from error
    if not isinstance(node, yaml.MappingNode):
        raise FrontmatterProblem(
            FrontmatterCode.NOT_A_MAPPING, "the front matter must be a mapping of names to values"
        )
    return _Reading(front, limits).whole(node)


def _check_events(front: str, most_depth: int) -> None:
    """Refuses what may not occur before anything recursive looks at the text."""
    depth = 0
    for event in _parse(front, Loader=yaml.SafeLoader):
        line = _line(event)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise FrontmatterProblem(
                FrontmatterCode.ALIAS, "anchors and aliases are not allowed; write the value out", line
            )
        if getattr(event, "tag", None) is not None:
            raise FrontmatterProblem(FrontmatterCode.TAG, "tags are not allowed; write the plain value", line)
        if isinstance(event, yaml.DocumentStartEvent) and event.explicit:
            raise FrontmatterProblem(
                FrontmatterCode.SEVERAL_DOCUMENTS, "directives and further documents are not allowed", line
            )
        if isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            depth += 1
            if depth > most_depth:
                raise _too_deep(most_depth, line)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            depth -= 1


class _Reading:
    def __init__(self, front: str, limits: FrontmatterLimits, inline: InlineJson | None = None) -> None:
        self._front = front
        self._limits = limits
        self._fractions = inline is not None
        self._most_depth = limits.most_depth if inline is None else inline.most_depth

    def whole(self, node: yaml.MappingNode) -> dict[str, object]:
        found: dict[str, object] = {}
        inline = self._limits.inline_json or {}
        apart = 0
        for name, value in self._members(node):
            bound = inline.get(name)
            if bound is None:
                found[name] = self._value(value, 2)
                continue
            raw = self._front[value.start_mark.index : value.end_mark.index]
            apart += _size(raw)
            found[name] = self._inline(name, value, raw, bound)
        if _size(self._front) - apart > self._limits.most_bytes:
            raise _too_large(self._limits)
        return found

    def _inline(self, name: str, node: yaml.Node, raw: str, bound: InlineJson) -> object:
        try:
            if isinstance(node, yaml.ScalarNode):
                return read_json(str(node.value), bound.most_bytes, bound.most_depth) if node.value else None
            if _size(raw) > bound.most_bytes:
                raise NotStrictJson(f"is larger than {bound.most_bytes} bytes")
        except NotStrictJson as problem:
            raise FrontmatterProblem(
                FrontmatterCode.INLINE_JSON, f"{name} {problem}", _line(node)
            ) from problem
        try:
            return read_json(raw, bound.most_bytes, bound.most_depth)
        except NotStrictJson:
            # What is no JSON may still be YAML, which finds what of it is wrong.
            return _Reading(self._front, self._limits, bound)._value(node, 1)

    def _value(self, node: yaml.Node, depth: int) -> object:
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        if depth > self._most_depth:
            raise _too_deep(self._most_depth, _line(node))
        if isinstance(node, yaml.MappingNode):
            return {name: self._value(value, depth + 1) for name, value in self._members(node)}
        return [self._value(child, depth + 1) for child in cast("list[yaml.Node]", node.value)]

    def _members(self, node: yaml.MappingNode) -> list[tuple[str, yaml.Node]]:
        found: dict[str, yaml.Node] = {}
        for key_node, value_node in cast("list[tuple[yaml.Node, yaml.Node]]", node.value):
            key = self._scalar(key_node) if isinstance(key_node, yaml.ScalarNode) else None
            line = _line(key_node)
            if not isinstance(key, str):
                raise FrontmatterProblem(FrontmatterCode.KEY_NOT_TEXT, "every name must be a text", line)
            if key == "<<":
                raise FrontmatterProblem(
                    FrontmatterCode.MERGE_KEY, "merge keys are not allowed; write the values out", line
                )
            if key in found:
                raise FrontmatterProblem(
                    FrontmatterCode.DUPLICATE_KEY, f"the name {key[:60]!r} stands twice", line
                )
            found[key] = value_node
        return list(found.items())

    def _scalar(self, node: yaml.ScalarNode) -> object:
        text = str(node.value)
        if node.style is not None:
            return text
        if text in ("", "null", "~"):
            return None
        if text in ("true", "false"):
            return text == "true"
        if _INTEGER.fullmatch(text):
            return int(text)
        return float(text) if self._fractions and _JSON_NUMBER.fullmatch(text) else text


def _size(text: str) -> int:
    return len(text.encode("utf-8", errors="surrogatepass"))


def _line(part: object) -> int | None:
    mark = cast("yaml.Mark | None", getattr(part, "start_mark", None))
    return mark.line if mark else None


def _too_large(limits: FrontmatterLimits) -> FrontmatterProblem:
    return FrontmatterProblem(
        FrontmatterCode.TOO_LARGE,
        f"the front matter is larger than {limits.most_bytes} bytes; keep details in references/",
    )


def _too_deep(most: int, line: int | None) -> FrontmatterProblem:
    return FrontmatterProblem(FrontmatterCode.TOO_DEEP, f"nested deeper than {most} levels", line)
