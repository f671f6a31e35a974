"""A call as policy, registry and grants see it now, read within one transaction."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from contracts.errors import ErrorCode, Refusal
from contracts.learning.tool_receipt import ToolEffect
from contracts.mcp.dispatch_record import DispatchOrder, DispatchRecord
from contracts.mcp.policy import MCPPolicyVerdict, MCPToolTarget
from contracts.mcp.server_registry import MCPServerRegistryEntry
from contracts.mcp.tools import MCPTool, MCPToolState
from domain.mcp.ability_use import refused_for
from domain.mcp.dispatch_permits import Block, Permit, permit
from domain.mcp.policy import facts_of, judge
from stores.ability_rows import entry_of
from stores.ability_store import visible
from stores.mcp.grants import live_grants
from stores.mcp.policy_rows import policies_of
from stores.mcp.server_rows import server_of
from stores.mcp.tool_rows import tool_of
from stores.mcp_tables import mcp_grants

_GONE: Mapping[ErrorCode, str] = {
    ErrorCode.MCP_SERVER_NOT_FOUND: "Register the server, then make the call again.",
    ErrorCode.MCP_SERVER_NOT_ACTIVE_IN_BUILD: "This server is only shown in this build; use another.",
}


@dataclass(frozen=True)
class Judged:
    """What was found of a call. Without server or tool there is no verdict, and the permit is a block."""

    permit: Permit
    server: MCPServerRegistryEntry | None = None
    tool: MCPTool | None = None
    verdict: MCPPolicyVerdict | None = None

    def noted_in(self, record: DispatchRecord) -> DispatchRecord:
        """The record with what was found."""
        if self.server is None:
            return record
        found: dict[str, object] = {
            "provider": self.server.provider,
            "auth_profile_id": self.server.auth_profile_id,
        }
        if self.tool is not None:
            found |= {"effect": self.tool.effect, "definition_hash": self.tool.definition_hash}
        if self.verdict is not None:
            found["verdict"] = self.verdict
        return record.model_copy(update=found)

    @property
    def is_write(self) -> bool:
        """Whether the call is more than a look."""
        return self.tool is not None and self.tool.effect is not ToolEffect.READ


def require_callable(connection: Connection, order: DispatchOrder) -> None:
    """Refuses a call of what is not there, before anything of it is kept.

    Raises:
        Refusal: ``MCP_SERVER_NOT_FOUND``, ``MCP_SERVER_NOT_ACTIVE_IN_BUILD``, ``MCP_TOOL_NOT_FOUND``,
            ``ABILITY_NOT_FOUND``.
    """
    server_of(connection, order.server_id, order.caller.user_id)
    if order.ability_id is not None:
        entry = entry_of(connection, order.ability_id)
        if entry is None or not visible(entry, order.caller.user_id):
            raise Refusal(ErrorCode.ABILITY_NOT_FOUND, "There is no such ability that you may see.")
    tool = tool_of(connection, order.server_id, order.tool_name)
    if tool is None or tool.state is MCPToolState.REMOVED:
        raise Refusal(
            ErrorCode.MCP_TOOL_NOT_FOUND,
            f"The server is not known to have a tool {order.tool_name[:60]}; its smoke test discovers its tools.",
        )


def judged(connection: Connection, record: DispatchRecord, now: datetime) -> Judged:
    """Judges the call by what holds now."""
    order = record.order
    try:
        server = server_of(connection, order.server_id, record.owner)
    except Refusal as refusal:
        hint = _GONE.get(refusal.code, "Look at the server.")
        return Judged(Block(refusal.code, refusal.message, hint))
    tool = tool_of(connection, order.server_id, order.tool_name)
    if tool is None:
        gone = Block(
            ErrorCode.MCP_TOOL_NOT_FOUND,
            "The server offers no such tool; nothing was sent.",
            "Discover the server's tools again with its smoke test.",
        )
        return Judged(gone, server)
    unusable = _unusable_ability(connection, record)
    if unusable is not None:
        return Judged(unusable, server, tool)
    verdict = judge(
        facts_of(record.owner, server, tool, order.caller, order.data_class),
        policies_of(
            connection,
            record.owner,
            reaching=MCPToolTarget(server_id=order.server_id, tool_name=order.tool_name),
        ),
        live_grants(connection, record.owner, order.server_id, order.tool_name, now),
        now,
    )
    revoked = _own_grant_revoked(connection, order.dispatch_id)
    return Judged(permit(record, server, tool, verdict, grant_revoked=revoked), server, tool, verdict)


def _unusable_ability(connection: Connection, record: DispatchRecord) -> Block | None:
    """Why nothing is called on behalf of the ability; ``None`` where it is in use, or where none is named."""
    ability_id = record.order.ability_id
    if ability_id is None:
        return None
    entry = entry_of(connection, ability_id)
    return refused_for(entry if entry is not None and visible(entry, record.owner) else None)


def _own_grant_revoked(connection: Connection, dispatch_id: str) -> bool:
    query = select(mcp_grants.c.revoked_at).where(mcp_grants.c.dispatch_id == dispatch_id)
    return connection.scalar(query) is not None
