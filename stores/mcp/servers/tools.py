"""The tools of each server: what was discovered, what a person pinned, and what changed since.

A discovered tool is ``added``, without a pin, until a person looks at it or approves a call of it; till then its
server's default policy holds: reads are allowed, everything else asks first. A tool that is not any more what was
pinned is ``changed`` and falls to that default again, whatever had been decided for it by name.
"""

from datetime import UTC, datetime

from sqlalchemy import Connection, update

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.policy import MCPToolTarget
from contracts.mcp.receipts import MCPReceiptKind, MCPReceiptStatus
from contracts.mcp.servers import MCPServerRegistryEntry
from contracts.mcp.tools import MCPTool, MCPToolDefinition, MCPToolListResponse, MCPToolReviewRequest
from contracts.platform.commands import CommitKey
from domain.mcp.policy import effective_of
from domain.mcp.policy_facts import Policies
from domain.mcp.tool_definitions import LeftOut
from stores.mcp.mcp_tables import mcp_tools
from stores.mcp.policy.policy_rows import policies_of
from stores.mcp.receipts import ReceiptContext, receipt
from stores.mcp.servers.server_rows import lock_servers, server_of, tools_listed_at
from stores.mcp.servers.tool_discovery import RecordedTools, no_such_tool, record_tools, tool_of, tools_of
from stores.platform.answers import answered
from stores.platform.database import Database
from stores.platform.journal.journal import append

__all__ = ["RecordedTools", "ToolStore", "pin_seen", "tool_of", "tools_of"]


def pin_seen(
    connection: Connection, server_id: str, tool_name: str, definition_hash: str, at: datetime
) -> bool:
    """Pins the definition that a person has just approved a call with; whether it is the one that is there.

    A tool that moved on meanwhile keeps the pin it had. ``connection`` must be of ``Database.write``.
    """
    pinned = connection.execute(
        update(mcp_tools)
        .where(
            mcp_tools.c.server_id == server_id,
            mcp_tools.c.tool_name == tool_name,
            mcp_tools.c.definition_hash == definition_hash,
            mcp_tools.c.state != "removed",
        )
        .values(
            state="pinned",
            pinned_hash=definition_hash,
            pinned_definition=mcp_tools.c.definition,
            updated_at=rfc3339(at),
        )
    )
    return pinned.rowcount == 1


class ToolStore:
    """The tools of all servers. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_for(self, server_id: str, owner: str) -> MCPToolListResponse:
        """The tools of one of the owner's servers, by name.

        Raises:
            Refusal: ``MCP_SERVER_NOT_FOUND``, ``MCP_SERVER_NOT_ACTIVE_IN_BUILD``.
        """
        with self._database.read() as connection:
            server = server_of(connection, server_id, owner)
            tools = _with_policy(
                tools_of(connection, server), server, policies_of(connection, owner), datetime.now(UTC)
            )
            listed_at = tools_listed_at(connection, server_id)
        return MCPToolListResponse(
            server_id=server_id,
            tools=tools,
            discovered_at=listed_at,
            next_action=_next_action(server_id, tools),
        )

    def take_in(
        self,
        server_id: str,
        owner: str,
        definitions: tuple[MCPToolDefinition, ...],
        at: datetime,
        correlation_id: str,
        *,
        protocol_revision: str | None = None,
        left_out: tuple[LeftOut, ...] = (),
    ) -> RecordedTools:
        """Records the tools that a server lists now, with a receipt of what was added, changed and removed.

        ``left_out`` are those that were left out of the list before.

        Raises:
            Refusal: ``MCP_SERVER_NOT_FOUND`` when it went meanwhile.
        """
        with self._database.write() as connection:
            return record_tools(
                connection,
                server_id,
                owner,
                definitions,
                at,
                correlation_id,
                protocol_revision=protocol_revision,
                left_out=left_out,
            )

    def review(
        self,
        server_id: str,
        tool_name: str,
        asked: MCPToolReviewRequest,
        key: CommitKey,
        context: ReceiptContext,
    ) -> MCPTool:
        """Pins the definition that was looked at.

        Raises:
            Refusal: ``MCP_SERVER_NOT_FOUND``; ``MCP_TOOL_NOT_FOUND``; ``MCP_TOOL_CHANGED`` when the tool is not
                any more what was looked at.
        """
        return answered(
            self._database,
            key,
            MCPTool,
            lambda connection: _reviewed(connection, server_id, tool_name, asked, context),
        )


def _with_policy(
    tools: tuple[MCPTool, ...], server: MCPServerRegistryEntry, policies: Policies, now: datetime
) -> tuple[MCPTool, ...]:
    return tuple(
        tool.changed(
            effective_policy=effective_of(
                MCPToolTarget(server_id=server.server_id, tool_name=tool.definition.tool_name),
                policies,
                now,
                provider=server.provider,
                effect=tool.effect,
                tool_state=tool.state,
                data_classes=server.data_classes,
            )
        )
        for tool in tools
    )


def _reviewed(
    connection: Connection,
    server_id: str,
    tool_name: str,
    asked: MCPToolReviewRequest,
    context: ReceiptContext,
) -> MCPTool:
    lock_servers(connection)
    server_of(connection, server_id, context.owner)
    known = tool_of(connection, server_id, tool_name)
    if known is None:
        raise no_such_tool(server_id)
    if not pin_seen(connection, server_id, tool_name, asked.definition_hash, context.at):
        raise Refusal(
            ErrorCode.MCP_TOOL_CHANGED,
            "The tool is not any more what you looked at; read it again and decide about what it is now.",
            definition_hash=known.definition_hash,
            state=known.state.value,
        )
    if asked.declared_idempotent is not None:
        connection.execute(
            update(mcp_tools)
            .where(mcp_tools.c.server_id == server_id, mcp_tools.c.tool_name == tool_name)
            .values(declared_idempotent=asked.declared_idempotent)
        )
    _, entry = receipt(
        context,
        MCPReceiptKind.TOOL_REVIEW,
        MCPReceiptStatus.OK,
        f"Tool {tool_name} was looked at ({known.state.value} before) and pinned as "
        f"{asked.definition_hash[:12]}.{_idempotence(asked)}",
        server_id=server_id,
    )
    append(connection, [entry])
    found = tool_of(connection, server_id, tool_name)
    if found is None:
        raise LookupError(tool_name)
    return found


def _idempotence(asked: MCPToolReviewRequest) -> str:
    if asked.declared_idempotent is None:
        return ""
    may = "may" if asked.declared_idempotent else "may not"
    return f" It {may} be repeated when its outcome is unknown."


def _next_action(server_id: str, tools: tuple[MCPTool, ...]) -> str | None:
    if not tools:
        return f"Nothing was discovered yet: apprentice mcp smoke-test {server_id}"
    waiting = [tool for tool in tools if tool.state.value in ("added", "changed")]
    if not waiting:
        return None
    return (
        f"{len(waiting)} of {len(tools)} wait to be looked at: apprentice mcp tools review {server_id} TOOL"
    )
