"""What a tool call goes to: server, tool and the server's health, read by one statement."""

from dataclasses import dataclass

from sqlalchemy import Connection, and_, bindparam, select

from contracts.mcp.health import MCPConnectionHealth
from contracts.mcp.servers import MCPServerRegistryEntry
from contracts.mcp.tools import MCPTool
from domain.mcp.deferred_rows import refuse_deferred
from domain.mcp.health import unknown
from stores.mcp.mcp_tables import HEALTHS, SERVERS, mcp_server_health, mcp_servers, mcp_tools
from stores.mcp.servers.tool_discovery import as_tool


@dataclass(frozen=True)
class Callee:
    """A server of the owner's as it is now; without ``tool`` it has none of that name."""

    server: MCPServerRegistryEntry
    tool: MCPTool | None
    health: MCPConnectionHealth


_CALLEE = (
    select(mcp_servers.c.body, mcp_server_health.c.body.label("health"), *mcp_tools.c)
    .select_from(mcp_servers)
    .outerjoin(mcp_server_health, mcp_server_health.c.server_id == mcp_servers.c.server_id)
    .outerjoin(
        mcp_tools,
        and_(
            mcp_tools.c.server_id == mcp_servers.c.server_id,
            mcp_tools.c.tool_name == bindparam("of_tool"),
        ),
    )
    .where(
        mcp_servers.c.server_id == bindparam("of_server"),
        mcp_servers.c.owner == bindparam("of_owner"),
        *SERVERS.where,
    )
)


def callee_of(connection: Connection, server_id: str, tool_name: str, owner: str) -> Callee:
    """One of the owner's servers with a tool of it.

    Raises:
        Refusal: ``MCP_SERVER_NOT_FOUND``; ``MCP_SERVER_NOT_ACTIVE_IN_BUILD`` for a row that is only shown.
    """
    refuse_deferred(server_id)
    of = {"of_server": server_id, "of_tool": tool_name, "of_owner": owner}
    row = connection.execute(_CALLEE, of).one_or_none()
    if row is None:
        raise SERVERS.not_found(server_id)
    return Callee(
        server=SERVERS.parse(row.body),
        tool=as_tool(row) if row.tool_name is not None else None,
        health=HEALTHS.parse(row.health) if row.health is not None else unknown(server_id),
    )
