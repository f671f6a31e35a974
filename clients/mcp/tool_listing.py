"""What a server says of its tools, taken in within bounds."""

from dataclasses import dataclass
from typing import Any

from mcp import Client
from mcp import Tool as ListedTool
from pydantic import ValidationError
from pydantic_core import to_json

from contracts.mcp.tools import MCPToolDefinition

MAX_TOOLS = 500
MAX_PAGES = 100
MAX_LISTING_BYTES = 8 * 1024 * 1024
"""The most that is read of one page."""

MAX_SCHEMA_BYTES = 256 * 1024
"""The most that the schemas of one tool may take as JSON."""


@dataclass(frozen=True)
class Discovery:
    """The tools of a server, by name, and how it introduced itself.

    ``left_out`` counts tools beyond the 500th, with a name that came before, or whose definition is over the
    bounds: what cannot be kept as it is cannot be pinned.
    """

    tools: tuple[MCPToolDefinition, ...]
    protocol_revision: str | None = None
    server_name: str | None = None
    left_out: int = 0


async def listed(client: Client) -> Discovery:
    """Asks for every page of the tools; ends early where a server gives the same page again."""
    found: dict[str, MCPToolDefinition] = {}
    left_out, cursor, seen = 0, None, set[str]()
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor, cache_mode="bypass")
        for tool in page.tools:
            definition = definition_of(tool)
            if definition is None or definition.tool_name in found or len(found) >= MAX_TOOLS:
                left_out += 1
            else:
                found[definition.tool_name] = definition
        cursor = page.next_cursor
        if cursor is None or cursor in seen or len(found) >= MAX_TOOLS:
            break
        seen.add(cursor)
    return Discovery(
        tools=tuple(found[name] for name in sorted(found)),
        protocol_revision=client.protocol_version,
        server_name=server_name(client),
        left_out=left_out,
    )


def definition_of(tool: ListedTool) -> MCPToolDefinition | None:
    """The tool as we keep it; none where it is over the bounds."""
    hints = tool.annotations
    schemas: tuple[dict[str, Any], dict[str, Any] | None] = (tool.input_schema, tool.output_schema)
    try:
        if len(to_json(schemas)) > MAX_SCHEMA_BYTES:
            return None
        return MCPToolDefinition(
            tool_name=tool.name,
            title=tool.title or (hints.title if hints else None),
            description=tool.description or "",
            input_schema=tool.input_schema,
            output_schema=tool.output_schema,
            read_only=hints.read_only_hint if hints else None,
            destructive=hints.destructive_hint if hints else None,
            idempotent=hints.idempotent_hint if hints else None,
        )
    except (ValidationError, ValueError, RecursionError):
        return None


def server_name(client: Client) -> str | None:
    """How the server names itself, cut to 120 characters."""
    info = client.server_info
    return info.name[:120] if info is not None else None
