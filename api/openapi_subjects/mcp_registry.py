"""Tool servers, their tools and receipts in the document."""

from typing import Any

from pydantic import AnyUrl, BaseModel

from api.openapi_story import BEGUN, HASH, example_id
from contracts.errors import ErrorCode
from contracts.learning.tool_receipt import ToolEffect
from contracts.mcp.health import MCPConnectionHealth, MCPHealthStatus
from contracts.mcp.policy import (
    MCPEffectivePolicy,
    MCPInheritedFrom,
    MCPPolicyAuthor,
    MCPPolicyDecision,
    MCPPolicyMode,
    MCPServerTarget,
)
from contracts.mcp.provider import MCPProvider, MCPTransport
from contracts.mcp.receipts import (
    MCPReceiptKind,
    MCPReceiptListResponse,
    MCPReceiptStatus,
    MCPReceiptSummary,
)
from contracts.mcp.server_registry import (
    MCPAuthProfileAction,
    MCPBadgeState,
    MCPServerAction,
    MCPServerDeleteResponse,
    MCPServerListItem,
    MCPServerListResponse,
    MCPServerMutationResponse,
    MCPServerRegistryEntry,
)
from contracts.mcp.tools import MCPTool, MCPToolDefinition, MCPToolListResponse, MCPToolState

SERVER_ID = "tickets-1f0c9a7e44"
_RECEIPT_ID = example_id(61)

_ENTRY = MCPServerRegistryEntry(
    server_id=SERVER_ID,
    provider=MCPProvider.CUSTOM_REMOTE,
    display_name="Tickets",
    endpoint_url=AnyUrl("https://tickets.example.com/mcp"),
    transport=MCPTransport.REMOTE_HTTP,
    supported_tools=("create_ticket", "search_tickets"),
    created_at=BEGUN,
    updated_at=BEGUN,
)
_POLICY = MCPEffectivePolicy(
    target=MCPServerTarget(server_id=SERVER_ID),
    decision=MCPPolicyDecision(
        mode=MCPPolicyMode.ASK_FIRST, updated_by=MCPPolicyAuthor.USER, updated_at=BEGUN
    ),
    inherited_from=MCPInheritedFrom.PROVIDER,
)
_ITEM = MCPServerListItem(
    registry=_ENTRY,
    health=MCPConnectionHealth(
        server_id=SERVER_ID, health_status=MCPHealthStatus.HEALTHY, last_checked_at=BEGUN
    ),
    effective_policy=_POLICY,
    badge_states=(MCPBadgeState.CONNECTED, MCPBadgeState.APPROVAL_REQUIRED),
    available_actions=(
        MCPServerAction.EDIT,
        MCPServerAction.DELETE,
        MCPServerAction.SMOKE_TEST,
        MCPServerAction.POLICY_UPDATE,
    ),
    last_receipt_id=_RECEIPT_ID,
)
_TOOL = MCPTool(
    server_id=SERVER_ID,
    definition=MCPToolDefinition(
        tool_name="create_ticket",
        description="Opens a ticket.",
        input_schema={"type": "object", "properties": {"title": {"type": "string"}}},
    ),
    definition_hash=HASH,
    state=MCPToolState.ADDED,
    effect=ToolEffect.CREATE,
    first_seen_at=BEGUN,
    updated_at=BEGUN,
)
_RECEIPT = MCPReceiptSummary(
    receipt_id=_RECEIPT_ID,
    server_id=SERVER_ID,
    receipt_kind=MCPReceiptKind.SERVER_CREATE,
    status=MCPReceiptStatus.OK,
    created_at=BEGUN,
    summary="Tickets was registered: custom_remote over remote_http.",
    correlation_id=example_id(62),
    actor="alice",
)

REQUESTS: dict[str, dict[str, Any]] = {
    "mcp_server_register": {
        "provider": "custom_remote",
        "display_name": "Tickets",
        "endpoint_url": "https://tickets.example.com/mcp",
        "transport": "remote_http",
    },
    "mcp_server_patch": {"display_name": "Tickets of the office", "enabled": False},
    "mcp_tool_review": {"definition_hash": HASH, "declared_idempotent": False},
}
MODELS: tuple[BaseModel, ...] = (
    MCPServerListResponse(servers=(_ITEM,), generated_at=BEGUN),
    MCPServerMutationResponse(server=_ITEM, receipt_id=_RECEIPT_ID),
    MCPServerDeleteResponse(
        server_id=SERVER_ID,
        deleted=True,
        auth_profile_action=MCPAuthProfileAction.RETAINED_SHARED,
        detached_auth_profile_id="office",
        receipt_id=_RECEIPT_ID,
    ),
    MCPToolListResponse(server_id=SERVER_ID, tools=(_TOOL,), discovered_at=BEGUN),
    _TOOL,
    MCPReceiptListResponse(receipts=(_RECEIPT,), next_cursor="1207"),
)
_WRITE = (ErrorCode.STORAGE_FULL, ErrorCode.MCP_SERVER_NOT_ACTIVE_IN_BUILD)
_M365 = (
    ErrorCode.M365_FORBIDDEN_AUTH_MODE,
    ErrorCode.M365_INTERACTIVE_REDIRECT_URI_REQUIRED,
    ErrorCode.M365_OBO_CHAIN_UNVERIFIED,
    ErrorCode.M365_DELEGATED_ONLY_OPERATION,
    ErrorCode.M365_SCOPE_MISSING,
)
_SIGN_IN = (
    ErrorCode.MCP_ADDRESS_REFUSED,
    ErrorCode.MCP_AUTH_PROFILE_NOT_FOUND,
    ErrorCode.M365_FORBIDDEN_AUTH_MODE,
    ErrorCode.M365_INTERACTIVE_REDIRECT_URI_REQUIRED,
    ErrorCode.M365_OBO_CHAIN_UNVERIFIED,
    ErrorCode.M365_DELEGATED_ONLY_OPERATION,
    ErrorCode.M365_SCOPE_MISSING,
)
ERRORS: dict[str, tuple[ErrorCode, ...]] = {
    "mcp_server_register": (
        *_WRITE,
        *_M365,
        ErrorCode.MCP_ADDRESS_REFUSED,
        ErrorCode.MCP_AUTH_PROFILE_NOT_FOUND,
    ),
    "mcp_server_patch": (
        *_WRITE,
        *_M365,
        ErrorCode.MCP_ADDRESS_REFUSED,
        ErrorCode.MCP_AUTH_PROFILE_NOT_FOUND,
    ),
    "mcp_server_delete": (*_WRITE, ErrorCode.MCP_SERVER_DELETE_BLOCKED),
    "mcp_tool_list": (ErrorCode.MCP_SERVER_NOT_ACTIVE_IN_BUILD,),
    "mcp_tool_review": (*_WRITE, ErrorCode.MCP_TOOL_CHANGED),
}
PATH_IDS: dict[str, ErrorCode] = {
    "server_id": ErrorCode.MCP_SERVER_NOT_FOUND,
    "tool_name": ErrorCode.MCP_TOOL_NOT_FOUND,
}
TAG: dict[str, str] | None = {
    "name": "mcp",
    "description": "Tool servers, their tools, who may call what, and what was done.",
}
