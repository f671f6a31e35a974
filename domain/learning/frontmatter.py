"""The front matter of a SKILL.md: a small, strict reading of YAML."""

import re
from collections.abc import Callable, Iterable
from typing import cast

import yaml

from contracts.errors import ErrorCode, Refusal

MAX_BYTES = 16 * 1024
"""The most UTF-8 bytes of a front matter."""

MAX_DEPTH = 8
"""The deepest nesting of lists and mappings."""

_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,14})")
# The stubs of PyYAML leave these two half typed.
_parse = cast("Callable[..., Iterable[yaml.Event]]", yaml.parse)  # pyright: ignore[reportUnknownMemberType]
_compose = cast("Callable[..., yaml.Node | None]", yaml.compose)  # pyright: ignore[reportUnknownMemberType]
_FENCE = re.compile(r"^---[ \t]*$", re.MULTILINE)


def split_frontmatter(text: str) -> tuple[str, str]:
    """The front matter without its fences, and the body after it.

    Raises:
        Refusal: ``VALIDATION_FAILED`` when the text does not start with a front matter that ends.
    """
    normalised = text.removeprefix("\ufeff").replace("\r\n", "\n")
    opening = _FENCE.match(normalised)
    closing = _FENCE.search(normalised, opening.end() + 1) if opening else None
    if opening is None or closing is None:
        raise _refused("a skill starts with a front matter between two lines of ---")
    return normalised[opening.end() + 1 : closing.start()], normalised[closing.end() :].lstrip("\n")


def parse_frontmatter(text: str) -> dict[str, object]:
    """The front matter of a SKILL.md as plain values.

    Strict on purpose, since skills come from strangers: no anchors, aliases, tags, directives or merge keys,
    no key twice, text keys only, at most 16 KiB and 8 levels. A plain scalar is a boolean, null, an integer
    of at most 15 digits, or a text: ``1.10`` and ``2026-01-31`` stay what they look like.

    Raises:
        Refusal: ``VALIDATION_FAILED``, with the line where there is one.
    """
    front, _ = split_frontmatter(text)
    if len(front.encode("utf-8", errors="surrogatepass")) > MAX_BYTES:
        raise _refused(f"the front matter is larger than {MAX_BYTES} bytes; keep details in references/")
    try:
        _check_events(front)
        node = _compose(front, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = cast("yaml.Mark | None", getattr(error, "problem_mark", None))
        problem = str(getattr(error, "problem", None) or "it is not valid YAML")
        raise _refused(problem, mark.line if mark else None) from error
    if not isinstance(node, yaml.MappingNode):
        raise _refused("the front matter must be a mapping of names to values")
    return _mapping(node)


def _check_events(front: str) -> None:
    """Refuses what may not occur before anything recursive looks at the text."""
    depth = 0
    for event in _parse(front, Loader=yaml.SafeLoader):
        line = _line(event)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise _refused("anchors and aliases are not allowed; write the value out", line)
        if getattr(event, "tag", None) is not None:
            raise _refused("tags are not allowed; write the plain value", line)
        if isinstance(event, yaml.DocumentStartEvent) and event.explicit:
            raise _refused("directives and further documents are not allowed", line)
        if isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise _refused(f"nested deeper than {MAX_DEPTH} levels", line)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            depth -= 1


def _line(part: object) -> int | None:
    mark = cast("yaml.Mark | None", getattr(part, "start_mark", None))
    return mark.line if mark else None


def _value(node: yaml.Node) -> object:
    if isinstance(node, yaml.MappingNode):
        return _mapping(node)
    if isinstance(node, yaml.SequenceNode):
        return [_value(child) for child in cast("list[yaml.Node]", node.value)]
    return _scalar(cast("yaml.ScalarNode", node))


def _mapping(node: yaml.MappingNode) -> dict[str, object]:
    found: dict[str, object] = {}
    for key_node, value_node in cast("list[tuple[yaml.Node, yaml.Node]]", node.value):
        key = _value(key_node) if isinstance(key_node, yaml.ScalarNode) else None
        line = _line(key_node)
        if not isinstance(key, str):
            raise _refused("every name must be a text", line)
        if key == "<<":
            raise _refused("merge keys are not allowed; write the values out", line)
        if key in found:
            raise _refused(f"the name {key[:60]!r} stands twice", line)
        found[key] = _value(value_node)
    return found


def _scalar(node: yaml.ScalarNode) -> object:
    text = str(node.value)
    if node.style is not None:
        return text
    if text in ("", "null", "~"):
        return None
    if text in ("true", "false"):
        return text == "true"
    return int(text) if _INTEGER.fullmatch(text) else text


def _refused(what: str, line: int | None = None) -> Refusal:
    where = f" (line {line + 2})" if line is not None else ""
    return Refusal(ErrorCode.VALIDATION_FAILED, f"SKILL.md{where}: {what}"[:240], fields=["SKILL.md"])
