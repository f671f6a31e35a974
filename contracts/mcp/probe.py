"""One look at a tool server: connect, sign in, list its tools (DOC3 §0.2D smoke test)."""

from pydantic import Field

from contracts.base import Contract, Text120, Text200, Text240, UtcTime
from contracts.mcp.health import MCPConnectionHealth
from contracts.mcp.tool_call import ToolFailure


class DueOrder(Contract):
    """Asks for up to ``limit`` servers that are due at ``at``, by the clock of the workflow that asks."""

    limit: int = Field(ge=1, le=1_000)
    at: UtcTime


class DueServer(Contract):
    """A server that is to be probed."""

    server_id: Text120
    owner: Text120


class ProbeTask(Contract):
    """Asks for one look. ``by_hand``: a person waits for it, so a pause after failures is cut short; one that
    the server itself asked for is not."""

    server_id: Text120
    owner: Text120
    correlation_id: Text200
    by_hand: bool = False
    take_in_tools: bool = True
    max_duration_ms: int = Field(default=10_000, ge=1_000, le=60_000)
    at: UtcTime | None = Field(default=None, description="When its workflow asked for it, by its clock.")


class ProbeFindings(Contract):
    """What one look found."""

    server_id: Text120
    started_at: UtcTime
    completed_at: UtcTime
    not_tried: Text240 | None = Field(default=None, description="Why it was not looked at all, if so.")
    failure: ToolFailure | None = None
    sign_in_used: bool = False
    tools: int | None = Field(default=None, ge=0, description="How many tools it offers.")
    health: MCPConnectionHealth
