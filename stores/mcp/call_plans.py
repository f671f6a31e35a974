"""An attempt of a call before it is sent: what would be sent and where, and why it may not be."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import Connection

from contracts.mcp.dispatch import DispatchCaller
from contracts.mcp.dispatch_record import DispatchRecord
from contracts.mcp.dispatch_work import CallEnd
from contracts.mcp.server_registry import MCPServerRegistryEntry
from contracts.mcp.tool_call import ToolCall
from contracts.mcp.tools import MCPTool
from stores.blobs import get_blob


class AttemptClosed(Exception):
    """Somebody has asked what became of this attempt: it may not be made any more."""


class PlanOutdated(Exception):
    """The server was changed since the plan was made: make another."""


class Stopped(Exception):
    """The call may not be made; nothing was sent."""

    def __init__(self, end: CallEnd) -> None:
        super().__init__(end.standing.status.value)
        self.end = end


@dataclass(frozen=True)
class CallPlan:
    """An attempt that is about to be made."""

    record: DispatchRecord
    server: MCPServerRegistryEntry
    call: ToolCall
    lease: datetime | None = None
    """Until when nobody else goes to the server, where it is half-open."""


def plan_of(
    connection: Connection,
    record: DispatchRecord,
    server: MCPServerRegistryEntry,
    tool: MCPTool,
    lease: datetime | None,
) -> CallPlan:
    """The plan of a call that may be made now."""
    arguments: dict[str, Any] = orjson.loads(get_blob(connection, record.arguments_digest))
    return CallPlan(
        record,
        server,
        ToolCall(
            tool_name=record.order.tool_name,
            arguments=arguments,
            output_schema=tool.definition.output_schema,
            timeout_ms=record.order.timeout_ms,
            idempotency_key=record.dispatch_id,
            party=_party(record.order.caller),
        ),
        lease,
    )


def _party(caller: DispatchCaller) -> str:
    """Whose calls a server may remember together: those of one token, in one session of its agent."""
    return f"{caller.token_id}/{caller.session_ref or ''}"
