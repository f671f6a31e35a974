"""What a tool's definition is, said in one number, and how it differs from the one that was pinned.

The number covers all that steers a model or a form: name, title, description, schemas and hints. Equal
definitions have equal numbers on every machine (RFC 8785, SHA-256). A server's words are data: the diff shows
characters that cannot be seen.
"""

import difflib
import hashlib
import json
from typing import Any, cast

import rfc8785

from contracts.base import clipped
from contracts.mcp.tools import MCPToolDefinition
from domain.mcp.visible_text import visible

DIFF_CHARACTERS = 40_000
_COMPARED_LINES = 4_000
_EXACT = 2**53 - 1
"""Beyond this, JSON numbers are not the same number everywhere (RFC 8785 §3.1)."""


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
