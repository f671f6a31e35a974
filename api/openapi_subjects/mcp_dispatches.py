"""Tool calls, and those that wait for a person, in the document."""

from datetime import timedelta
from typing import Any

from pydantic import BaseModel

from api.openapi_story import BEGUN, HASH, THEN, TOKEN_ID, example_id
from api.openapi_subjects.mcp_registry import SERVER_ID
from contracts.errors import ErrorCode
from contracts.mcp.dispatch import (
    AskFirstStatus,
    DispatchCaller,
    DispatchListResponse,
    DispatchStatus,
    DispatchView,
    MCPAskFirstDecisionResponse,
    MCPAskFirstDispatchRecord,
    MCPAskFirstPendingListResponse,
)
from contracts.mcp.policy import MCPServerTarget

DISPATCH_ID = example_id(71)
_SUMMARY = f"create_ticket at {SERVER_ID} with title"
_WAITING = MCPAskFirstDispatchRecord(
    dispatch_id=DISPATCH_ID,
    correlation_id=example_id(72),
    server_id=SERVER_ID,
    tool_name="create_ticket",
    request_summary=_SUMMARY,
    request_payload_ref=f"blob:{HASH}",
    status=AskFirstStatus.PENDING,
    paused_dispatch_ref=f"mcp-dispatch/{DISPATCH_ID}",
    effective_policy_target=MCPServerTarget(server_id=SERVER_ID),
    expires_at=BEGUN + timedelta(minutes=30),
    created_at=BEGUN,
    updated_at=BEGUN,
    arguments_digest=HASH,
    tool_definition_hash="6d" * 32,
    policy_version=4,
)
_APPROVED = _WAITING.model_copy(
    update={
        "status": AskFirstStatus.APPROVED_ONCE,
        "approved_by": "alice",
        "decided_at": THEN,
        "updated_at": THEN,
        "decision_reason": "Looks right.",
    }
)
_VIEW = DispatchView(
    dispatch_id=DISPATCH_ID,
    correlation_id=_WAITING.correlation_id,
    status=DispatchStatus.PENDING_APPROVAL,
    server_id=SERVER_ID,
    tool_name="create_ticket",
    caller=DispatchCaller(
        user_id="alice", token_id=TOKEN_ID, runtime="claude", turn_ref="turn-9", session_ref="session-3"
    ),
    request_summary=_SUMMARY,
    arguments_digest=HASH,
    arguments={"title": "The printer is on fire"},
    ask_first=_WAITING,
    created_at=BEGUN,
    updated_at=BEGUN,
)

REQUESTS: dict[str, dict[str, Any]] = {
    "mcp_dispatch_create": {
        "server_id": SERVER_ID,
        "tool_name": "create_ticket",
        "arguments": {"title": "The printer is on fire"},
        "runtime": "claude",
        "turn_ref": "turn-9",
        "session_ref": "session-3",
    },
    "mcp_dispatch_cancel": {"reason": "It was put out."},
    "mcp_ask_first_approve": {"decision": "approve_once", "reason": "Looks right."},
    "mcp_ask_first_deny": {"decision": "deny", "reason": "Not on a Friday."},
}
MODELS: tuple[BaseModel, ...] = (
    _VIEW,
    DispatchListResponse(
        dispatches=(_VIEW.model_copy(update={"arguments": None}),), total=1, page=1, page_size=25
    ),
    MCPAskFirstPendingListResponse(dispatches=(_WAITING,)),
    MCPAskFirstDecisionResponse(dispatch=_APPROVED, resumed=True, receipt_id=example_id(73)),
)
_DECISION = (
    ErrorCode.MCP_ASK_FIRST_DECIDED,
    ErrorCode.MCP_ASK_FIRST_EXPIRED,
    ErrorCode.CONFLICT,
    ErrorCode.TEMPORAL_UNAVAILABLE,
    ErrorCode.TOO_MANY_REQUESTS,
    ErrorCode.STORAGE_FULL,
)
ERRORS: dict[str, tuple[ErrorCode, ...]] = {
    "mcp_dispatch_create": (
        ErrorCode.MCP_SERVER_NOT_FOUND,
        ErrorCode.MCP_SERVER_NOT_ACTIVE_IN_BUILD,
        ErrorCode.MCP_TOOL_NOT_FOUND,
        ErrorCode.ABILITY_NOT_FOUND,
        ErrorCode.M365_SCOPE_MISSING,
        ErrorCode.M365_FORBIDDEN_AUTH_MODE,
        ErrorCode.M365_DELEGATED_ONLY_OPERATION,
        ErrorCode.M365_BACKGROUND_ONLY_OPERATION,
        ErrorCode.PARTIAL_DEPLOYMENT,
        ErrorCode.TOO_MANY_REQUESTS,
        ErrorCode.TEMPORAL_UNAVAILABLE,
        ErrorCode.STORAGE_FULL,
    ),
    "mcp_dispatch_cancel": (
        ErrorCode.CONFLICT,
        ErrorCode.TEMPORAL_UNAVAILABLE,
        ErrorCode.TOO_MANY_REQUESTS,
        ErrorCode.STORAGE_FULL,
    ),
    "mcp_ask_first_approve": _DECISION,
    "mcp_ask_first_deny": _DECISION,
}
PATH_IDS: dict[str, ErrorCode] = {"mcp_dispatch_id": ErrorCode.MCP_DISPATCH_NOT_FOUND}
TAG: dict[str, str] | None = None
