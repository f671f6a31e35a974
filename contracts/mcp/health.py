"""Health of a tool server, and its smoke test (DOC3 §0.2D, tie-break §3 item 1)."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from contracts.base import Contract, Text120, Text160, Text240, Text500, UtcTime, Uuid, VersionedContract
from contracts.mcp.provider import MCPAuthState
from contracts.mcp.tools import ToolFailure


class MCPHealthStatus(StrEnum):
    """The verdict about a server."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    DISABLED = "disabled"
    UNKNOWN = "unknown"


class MCPThrottle(StrEnum):
    """Whether a server asked for patience, which is not the same as being ill."""

    NONE = "none"
    COOLDOWN = "cooldown"
    SERVER_BACKOFF = "server_backoff"
    RATE_LIMITED = "rate_limited"


class MCPThrottleState(VersionedContract):
    """How long a server asked us to wait, and why."""

    state: MCPThrottle = MCPThrottle.NONE
    retry_after_ms: int | None = Field(default=None, ge=0)
    until: UtcTime | None = Field(
        default=None, description="When that is over. Nothing ends it earlier, whatever the server answers."
    )
    reason_code: Text120 | None = None
    last_http_status: int | None = Field(default=None, ge=100, le=599)
    in_a_row: int = Field(
        default=0, ge=0, description="How often it asked for patience since it last answered."
    )


class MCPToolHealth(Contract):
    """How the last call of one tool went."""

    ok: bool
    last_error: Text240 | None = None
    last_checked_at: UtcTime | None = None
    last_http_status: int | None = Field(default=None, ge=100, le=599)


class MCPConnectionHealth(VersionedContract):
    """How a server is, and what to do next."""

    server_id: Text120
    health_status: MCPHealthStatus
    health_reason_code: Text120 | None = None
    last_checked_at: UtcTime | None = None
    failure_count_rolling: int = Field(default=0, ge=0)
    backoff_until: UtcTime | None = None
    throttle_state: MCPThrottleState = MCPThrottleState()
    auth_state: MCPAuthState = MCPAuthState.UNKNOWN
    auth_checked_at: UtcTime | None = Field(
        default=None, description="When the server last took or refused the sign-in."
    )
    interactive_capable: bool = True
    tool_health: dict[Text120, MCPToolHealth] = Field(default_factory=dict)
    next_action: Text240 | None = Field(default=None, description="What to do; none when all is well.")


class MCPConnectionOutcome(Contract):
    """How one contact with a server went: it answered, or ``failure`` says why not."""

    happened_at: UtcTime
    tool_name: Text120 | None = Field(
        default=None, description="None where nothing was called, as in a probe."
    )
    tool_error: bool = Field(
        default=False, description="The tool answered that it failed; the server is fine."
    )
    signed_in: bool = Field(default=False, description="A token or key was sent along.")
    failure: ToolFailure | None = None


class MCPSmokeTestStatus(StrEnum):
    """How a smoke test ended."""

    PASSED = "passed"
    FAILED = "failed"
    BLOCKED = "blocked"
    DEGRADED = "degraded"


class MCPSmokeTestRequest(VersionedContract):
    """Connects, signs in and lists the tools; calls ``tool_name`` too where one is named."""

    server_id: Text120
    tool_name: Text160 | None = None
    payload_preview: dict[str, Any] | None = None
    correlation_id: Uuid | None = None
    project_id: Text160 | None = None
    include_tool_discovery: bool = True
    max_duration_ms: int = Field(default=10_000, ge=1_000, le=60_000)
    client_request_id: Text120 | None = None


class MCPSmokeTestResponse(VersionedContract):
    """What a smoke test found."""

    server_id: Text120
    smoke_test_id: Uuid
    status: MCPSmokeTestStatus
    receipt_id: Uuid | None = None
    started_at: UtcTime
    completed_at: UtcTime | None = None
    error_code: Text160 | None = None
    summary: Text500 | None = None
