"""Policy of tool calls and standing approvals in the document."""

from typing import Any

from pydantic import BaseModel

from api.openapi_story import BEGUN, THEN, example_id
from api.openapi_subjects.mcp_health import SERVER_ID
from contracts.errors import ErrorCode
from contracts.mcp.dispatch import GrantScope, MCPGrant, MCPGrantListResponse
from contracts.mcp.policy import (
    MCPEffectivePolicy,
    MCPPolicyAuthor,
    MCPPolicyDecision,
    MCPPolicyMode,
    MCPServerTarget,
    MCPToolTarget,
)
from contracts.mcp.policy_preview import MCPPolicyFlip, MCPPolicyPreviewResponse
from contracts.mcp.runtime_policy import (
    MCPPolicyListResponse,
    MCPProviderPolicy,
    MCPProviderPolicyListResponse,
    MCPRuntimeProvider,
    MCPStandingDecision,
)
from domain.mcp.policy_defaults import listed_defaults

_TOOL = MCPToolTarget(server_id=SERVER_ID, tool_name="mail_send")
_ASK = MCPPolicyDecision(mode=MCPPolicyMode.ASK_FIRST, updated_by=MCPPolicyAuthor.USER, updated_at=BEGUN)
_OPENAI = MCPProviderPolicy(provider=MCPRuntimeProvider.OPENAI, denied_tools=("mail_send",), updated_at=BEGUN)
_GRANT = MCPGrant(
    grant_id=example_id(61),
    owner_user_id="alice",
    dispatch_id=example_id(62),
    server_id=SERVER_ID,
    tool_name="draft_create",
    tool_definition_hash="5d" * 32,
    scope=GrantScope.SESSION,
    scope_ref="session-2026-03-02",
    granted_by="alice",
    created_at=BEGUN,
    expires_at=THEN,
    used=2,
)

REQUESTS: dict[str, dict[str, Any]] = {
    "mcp_policy_update": {
        "target": {"target_kind": "provider", "provider": "acrobat"},
        "decision": {"mode": "ask_first", "reason_code": "client_documents"},
    },
    "mcp_policy_preview": {
        "target": {"target_kind": "provider", "provider": "acrobat"},
        "decision": {"mode": "disabled"},
        "newest": 200,
    },
    "mcp_policy_runtimes_replace": {"provider": "openai", "denied_tools": ["mail_send"]},
}
MODELS: tuple[BaseModel, ...] = (
    MCPEffectivePolicy(target=_TOOL, decision=_ASK),
    MCPPolicyListResponse(
        policy_version=4,
        decisions=(
            MCPStandingDecision(target=MCPServerTarget(server_id=SERVER_ID), decision=_ASK, policy_version=4),
        ),
        total=1,
        page=1,
        page_size=25,
        defaults=listed_defaults(),
        providers=(_OPENAI,),
    ),
    MCPPolicyPreviewResponse(
        replayed=40,
        unchanged=39,
        flips=(
            MCPPolicyFlip(
                dispatch_id=example_id(62),
                server_id=SERVER_ID,
                tool_name="draft_create",
                happened_at=BEGUN,
                was=MCPPolicyMode.ASK_FIRST,
                would_be=MCPPolicyMode.DISABLED,
                why="Disabled for every server of acrobat.",
            ),
        ),
    ),
    _OPENAI,
    MCPProviderPolicyListResponse(policies=(_OPENAI,), policy_version=4),
    _GRANT,
    MCPGrantListResponse(grants=(_GRANT,)),
)
_OF_TARGET = (
    ErrorCode.MCP_SERVER_NOT_FOUND,
    ErrorCode.MCP_SERVER_NOT_ACTIVE_IN_BUILD,
    ErrorCode.MCP_TOOL_NOT_FOUND,
    ErrorCode.MCP_GRANT_NOT_FOUND,
)
ERRORS: dict[str, tuple[ErrorCode, ...]] = {
    "mcp_policy_update": (*_OF_TARGET, ErrorCode.STORAGE_FULL),
    "mcp_policy_preview": _OF_TARGET,
    "mcp_policy_runtimes_replace": (ErrorCode.STORAGE_FULL,),
    "mcp_grant_revoke": (ErrorCode.STORAGE_FULL,),
}
PATH_IDS: dict[str, ErrorCode] = {"grant_id": ErrorCode.MCP_GRANT_NOT_FOUND}
TAG: dict[str, str] | None = None
