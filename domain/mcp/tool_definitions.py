"""Accept the tool definitions of a server: bounds, safe display, digest, diff to the pinned one.

A definition that is too large is left out, not cut: what comes after the cut could change unseen. The digest covers
all that steers a model or a form: name, title, description, schemas and hints (RFC 8785, SHA-256). Display texts
spell out invisible characters.
"""

import difflib
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import rfc8785

from contracts.base import clipped
from contracts.mcp.tools import MCPToolDefinition
from domain.platform.visible_text import visible

MAX_TOOLS = 500

MAX_DESCRIPTION_CHARACTERS = 20_000

MAX_SCHEMA_BYTES = 65_536
"""Of an input or an output schema, as JSON."""

MAX_SCHEMA_DEPTH = 40

DIFF_CHARACTERS = 40_000

_COMPARED_LINES = 4_000

_EXACT = 2**53 - 1
"""Beyond this, JSON numbers are not the same number everywhere (RFC 8785 §3.1)."""


@dataclass(frozen=True)
class LeftOut:
    """A tool that is not taken, and why."""

    tool_name: str
    reason: str


@dataclass(frozen=True)
class Taken:
    """The definitions by name, and what was left out."""

    definitions: dict[str, MCPToolDefinition]
    left_out: tuple[LeftOut, ...]


def taken(listed: Iterable[MCPToolDefinition]) -> Taken:
    """What is taken of a server's list: each name once, within the sizes, at most 500 tools."""
    found = list(listed)
    times = Counter(definition.tool_name for definition in found)
    kept: dict[str, MCPToolDefinition] = {}
    left_out: dict[str, LeftOut] = {}
    for definition in found:
        name = definition.tool_name
        reason = "its name is there twice" if times[name] > 1 else _unfit(definition)
        if reason is None and len(kept) >= MAX_TOOLS:
            reason = f"a server may have {MAX_TOOLS} tools"
        if reason is None:
            kept[name] = definition
        else:
            left_out[name] = LeftOut(name, reason)
    return Taken(kept, tuple(left_out.values()))


_REASONS_NAMED = 3


def left_out_words(left_out: Sequence[LeftOut]) -> str:
    """How many tools were left out and why, each reason with one of them."""
    by_reason: dict[str, list[str]] = {}
    for one in left_out:
        by_reason.setdefault(one.reason, []).append(one.tool_name)
    shown: list[str] = []
    for reason, names in list(by_reason.items())[:_REASONS_NAMED]:
        others = f" and {len(names) - 1} more" if len(names) > 1 else ""
        shown.append(f"{visible(clipped(names[0], 40))}{others} ({reason})")
    rest = len(by_reason) - _REASONS_NAMED
    return f"{len(left_out)} left out: {', '.join(shown)}" + (" and others" if rest > 0 else "")


def _unfit(definition: MCPToolDefinition) -> str | None:
    name = definition.tool_name
    if not name or not name.isprintable() or name != name.strip():
        return "its name is not printable text"
    if len(definition.description) > MAX_DESCRIPTION_CHARACTERS:
        return f"its description has more than {MAX_DESCRIPTION_CHARACTERS} characters"
    for schema in (definition.input_schema, definition.output_schema):
        if schema is None:
            continue
        if _depth_over(schema, MAX_SCHEMA_DEPTH):
            return f"a schema of it is nested more than {MAX_SCHEMA_DEPTH} levels deep"
        try:
            size = len(json.dumps(schema, ensure_ascii=False, allow_nan=False).encode())
        except ValueError:
            return "a schema of it is no JSON"
        if size > MAX_SCHEMA_BYTES:
            return f"a schema of it has more than {MAX_SCHEMA_BYTES} bytes"
    return None


def _depth_over(value: object, limit: int) -> bool:
    level: list[object] = [value]
    for _ in range(limit):
        inner: list[object] = []
        for item in level:
            if isinstance(item, dict):
                inner += cast("dict[str, Any]", item).values()
            elif isinstance(item, list):
                inner += cast("list[Any]", item)
        if not inner:
            return False
        level = inner
    return True


def definition_hash(definition: MCPToolDefinition) -> str:
    """The definition's SHA-256 in lower-case hex."""
    return hashlib.sha256(rfc8785.dumps(_exact(definition.model_dump(mode="json")))).hexdigest()


def surface_hash(hashes: dict[str, str]) -> str:
    """The hash of all of a server's tools, by the hash of each name's definition."""
    return hashlib.sha256(rfc8785.dumps(dict(hashes))).hexdigest()


def same_but_for_the_name(one: MCPToolDefinition, other: MCPToolDefinition) -> bool:
    """Whether two tools say and take the same: one that went and one that came are then one renamed."""
    compared = {"description", "input_schema", "output_schema"}
    return one.model_dump(include=compared) == other.model_dump(include=compared)


def definition_diff(pinned: MCPToolDefinition, now: MCPToolDefinition) -> str:
    """A unified diff from what was pinned to what is now, at most 40,000 characters."""
    lines = difflib.unified_diff(_lines(pinned), _lines(now), "pinned", "now", lineterm="", n=2)
    return clipped("\n".join(lines), DIFF_CHARACTERS)


def _lines(definition: MCPToolDefinition) -> list[str]:
    shown = definition.model_dump(mode="json")
    lines = [f"{name}: {visible(str(shown[name]))}" for name in ("tool_name", "title")]
    lines += ["description:", *(f"  {visible(line)}" for line in definition.description.split("\n"))]
    for name in ("input_schema", "output_schema"):
        pretty = json.dumps(shown[name], indent=2, sort_keys=True, ensure_ascii=True)
        lines += [f"{name}:", *pretty.split("\n")]
    lines += [f"{name}: {json.dumps(shown[name])}" for name in ("read_only", "destructive", "idempotent")]
    return lines[:_COMPARED_LINES]


def _exact(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _exact(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_exact(item) for item in cast("list[Any]", value)]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _EXACT:
        return f"integer {value}"
    return value
