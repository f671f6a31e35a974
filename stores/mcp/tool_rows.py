"""Tools as rows, and as what people see of them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select, update

from contracts.mcp.server_registry import MCPServerRegistryEntry
from contracts.mcp.tools import MCPTool, MCPToolDefinition, MCPToolState
from domain.mcp.definition_hash import definition_diff
from domain.mcp.effects import effect_of
from stores.mcp_tables import mcp_tools


def tool_of(connection: Connection, server_id: str, tool_name: str) -> MCPTool | None:
    """A server's tool of that name, its policy left out; None when there never was one."""
    row = connection.execute(
        select(mcp_tools).where(mcp_tools.c.server_id == server_id, mcp_tools.c.tool_name == tool_name)
    ).one_or_none()
    return None if row is None else as_tool(row)


def tools_of(connection: Connection, server: MCPServerRegistryEntry) -> tuple[MCPTool, ...]:
    """All tools of a server that are or were, by name, their policy left out."""
    return tuple(as_tool(row) for row in tool_rows(connection, server.server_id))


def tool_rows(connection: Connection, server_id: str) -> Sequence[Row[Any]]:
    """The rows of a server's tools, by name."""
    return connection.execute(
        select(mcp_tools).where(mcp_tools.c.server_id == server_id).order_by(mcp_tools.c.tool_name)
    ).all()


def as_tool(row: Row[Any]) -> MCPTool:
    """A row as what people see; the diff is there when what is now is not what was pinned."""
    definition = MCPToolDefinition.model_validate_json(row.definition)
    state = MCPToolState(row.state)
    diff = None
    if state is MCPToolState.CHANGED and row.pinned_definition is not None:
        diff = definition_diff(MCPToolDefinition.model_validate_json(row.pinned_definition), definition)
    return MCPTool(
        server_id=row.server_id,
        definition=definition,
        definition_hash=row.definition_hash,
        pinned_hash=row.pinned_hash,
        state=state,
        effect=effect_of(definition),
        declared_idempotent=row.declared_idempotent,
        diff=diff,
        first_seen_at=datetime.fromisoformat(row.first_seen_at),
        updated_at=datetime.fromisoformat(row.updated_at),
    )


def forget_pins(connection: Connection, server_id: str, now: str) -> None:
    """Takes every pin of a server's tools away, and what was said of repeating them."""
    connection.execute(
        update(mcp_tools)
        .where(mcp_tools.c.server_id == server_id)
        .values(pinned_hash=None, pinned_definition=None, declared_idempotent=False, updated_at=now)
    )
    connection.execute(
        update(mcp_tools)
        .where(mcp_tools.c.server_id == server_id, mcp_tools.c.state.in_(["pinned", "changed"]))
        .values(state=MCPToolState.ADDED.value)
    )
