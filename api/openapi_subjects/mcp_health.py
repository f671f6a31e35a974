"""The health of tool servers in the document."""

from typing import Any

from pydantic import BaseModel

from api.openapi_story import BEGUN, THEN
from contracts.errors import ErrorCode
from contracts.mcp.health import (
    MCPConnectionHealth,
    MCPHealthStatus,
    MCPSmokeTestResponse,
    MCPSmokeTestStatus,
    MCPToolHealth,
)
from contracts.mcp.provider import MCPAuthState

SERVER_ID = "office-4be20a31c7"

REQUESTS: dict[str, dict[str, Any]] = {
    "mcp_server_smoke_test": {"server_id": SERVER_ID, "max_duration_ms": 5_000}
}
MODELS: tuple[BaseModel, ...] = (
    MCPConnectionHealth(
        server_id=SERVER_ID,
        health_status=MCPHealthStatus.DEGRADED,
        health_reason_code="timed_out",
        last_checked_at=BEGUN,
        failure_count_rolling=3,
        backoff_until=THEN,
        auth_state=MCPAuthState.HEALTHY,
        tool_health={"mail_search": MCPToolHealth(ok=True, last_checked_at=BEGUN)},
        next_action="It answers too late: see what holds it up.",
    ),
    MCPSmokeTestResponse(
        server_id=SERVER_ID,
        smoke_test_id="0199aa10-7c00-7000-8000-00000000003a",
        status=MCPSmokeTestStatus.PASSED,
        receipt_id="0199aa10-7c00-7000-8000-00000000003b",
        started_at=BEGUN,
        completed_at=THEN,
        summary="transport ok, auth ok (signed in), discovery ok (14 tools).",
    ),
)
ERRORS: dict[str, tuple[ErrorCode, ...]] = {
    "mcp_server_health": (ErrorCode.MCP_SERVER_NOT_ACTIVE_IN_BUILD,),
    "mcp_server_smoke_test": (
        ErrorCode.MCP_SERVER_NOT_ACTIVE_IN_BUILD,
        ErrorCode.CONFLICT,
        ErrorCode.TOO_MANY_REQUESTS,
        ErrorCode.TEMPORAL_UNAVAILABLE,
        ErrorCode.STORAGE_FULL,
    ),
}
PATH_IDS: dict[str, ErrorCode] = {}
TAG: dict[str, str] | None = None
