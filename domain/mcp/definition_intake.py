"""What is taken of the tools a server lists, and what is left out: its words and sizes are not to be trusted.

A definition that is too large is left out, not cut: what comes after the cut could change unseen.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

from contracts.mcp.tools import MCPToolDefinition

MAX_TOOLS = 500
MAX_DESCRIPTION_CHARACTERS = 20_000
MAX_SCHEMA_BYTES = 65_536
"""Of an input or an output schema, as JSON."""

MAX_SCHEMA_DEPTH = 40


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
