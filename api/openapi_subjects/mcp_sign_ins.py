"""Signing in to tool servers in the document."""

from datetime import timedelta
from typing import Any

from pydantic import AnyHttpUrl, BaseModel

from api.openapi_story import BEGUN, example_id
from api.openapi_subjects.mcp_registry import SERVER_ID
from contracts.errors import ErrorCode
from contracts.mcp.auth_flow import (
    MCPAuthChallengeRespondResponse,
    MCPAuthRevokeResponse,
    MCPAuthStartResponse,
    MCPChallengeResolution,
    MCPRevokeStatus,
    MCPServerAuthStatus,
)
from contracts.mcp.auth_profile import (
    MCPAuthProfile,
    MCPAuthProfileDeleteResponse,
    MCPAuthProfileListResponse,
    MCPRefreshPolicy,
)
from contracts.mcp.provider import MCPAuthMode, MCPAuthState, MCPProvider

_PROFILE_ID, _CHALLENGE_ID, _RECEIPT_ID = example_id(71), example_id(72), example_id(73)
_HOUR = timedelta(hours=1)

_PROFILE = MCPAuthProfile(
    auth_profile_id=_PROFILE_ID,
    provider=MCPProvider.CUSTOM_REMOTE,
    auth_mode=MCPAuthMode.OAUTH2_DELEGATED,
    scopes=("tickets.read", "tickets.write"),
    refresh_policy=MCPRefreshPolicy.AUTO_IF_REFRESH_TOKEN,
    status=MCPAuthState.HEALTHY,
    expires_at=BEGUN + _HOUR,
    refresh_at=BEGUN + _HOUR * 0.8,
    created_at=BEGUN,
    updated_at=BEGUN,
)
_STATUS = MCPServerAuthStatus(
    server_id=SERVER_ID,
    auth_profile_id=_PROFILE_ID,
    auth_state=MCPAuthState.HEALTHY,
    auth_mode=MCPAuthMode.OAUTH2_DELEGATED,
    scopes_granted=("tickets.read",),
    scopes_missing=("tickets.write",),
    expires_at=BEGUN + _HOUR,
    refresh_at=BEGUN + _HOUR * 0.8,
    next_action=f"Sign in again and grant tickets.write: `apprentice mcp auth start {SERVER_ID}`.",
)

REQUESTS: dict[str, dict[str, Any]] = {
    "mcp_auth_start": {"server_id": SERVER_ID},
    "mcp_auth_refresh": {"server_id": SERVER_ID, "force": True},
    "mcp_auth_revoke": {"server_id": SERVER_ID, "revoke_remote": True},
    "mcp_auth_challenge_respond": {"challenge_id": _CHALLENGE_ID, "decision": "deny"},
    "mcp_auth_profile_create": {
        "provider": "custom_remote",
        "auth_mode": "oauth2_delegated",
        "scopes": ["tickets.read", "tickets.write"],
        "refresh_policy": "auto_if_refresh_token",
    },
    "mcp_auth_profile_patch": {"refresh_policy": "manual"},
    "mcp_auth_profile_secret": {"secret": "of-the-client"},
}
MODELS: tuple[BaseModel, ...] = (
    _PROFILE,
    _STATUS,
    MCPAuthProfileListResponse(auth_profiles=(_PROFILE,)),
    MCPAuthProfileDeleteResponse(auth_profile_id=_PROFILE_ID, deleted=True, receipt_id=_RECEIPT_ID),
    MCPAuthStartResponse(
        server_id=SERVER_ID,
        auth_url=AnyHttpUrl(
            "https://login.example.com/authorize?response_type=code&code_challenge_method=S256"
        ),
        challenge_id=_CHALLENGE_ID,
        correlation_id=example_id(74),
        expires_at=BEGUN + timedelta(minutes=10),
    ),
    MCPAuthRevokeResponse(
        server_id=SERVER_ID, revoked=True, status=MCPRevokeStatus.REVOKED, receipt_id=_RECEIPT_ID
    ),
    MCPAuthChallengeRespondResponse(
        challenge_id=_CHALLENGE_ID,
        server_id=SERVER_ID,
        resolved=True,
        resolution=MCPChallengeResolution.DENIED,
        auth_status=_STATUS,
        receipt_id=_RECEIPT_ID,
    ),
)

_SENDING = (
    ErrorCode.MCP_AUTH_PROFILE_NOT_FOUND,
    ErrorCode.MCP_SERVER_NOT_ACTIVE_IN_BUILD,
    ErrorCode.MCP_SERVER_UNREACHABLE,
    ErrorCode.MCP_ADDRESS_REFUSED,
    ErrorCode.MCP_OAUTH_DISCOVERY_FAILED,
    ErrorCode.CONFLICT,
    ErrorCode.TOO_MANY_REQUESTS,
    ErrorCode.TEMPORAL_UNAVAILABLE,
    ErrorCode.STORAGE_FULL,
)
_OWN = (
    ErrorCode.CONFLICT,
    ErrorCode.TOO_MANY_REQUESTS,
    ErrorCode.TEMPORAL_UNAVAILABLE,
    ErrorCode.STORAGE_FULL,
)
ERRORS: dict[str, tuple[ErrorCode, ...]] = {
    "mcp_auth_status": (ErrorCode.MCP_SERVER_NOT_ACTIVE_IN_BUILD, ErrorCode.MCP_AUTH_PROFILE_NOT_FOUND),
    "mcp_auth_start": (*_SENDING, ErrorCode.MCP_OAUTH_CALLBACK_EXPIRED),
    "mcp_auth_callback": (
        *_SENDING,
        ErrorCode.MCP_OAUTH_STATE_INVALID,
        ErrorCode.MCP_OAUTH_CALLBACK_EXPIRED,
        ErrorCode.MCP_OAUTH_TOKEN_EXCHANGE_FAILED,
    ),
    "mcp_auth_refresh": (
        *_SENDING,
        ErrorCode.MCP_OAUTH_REFRESH_NOT_ALLOWED,
        ErrorCode.MCP_OAUTH_TOKEN_EXCHANGE_FAILED,
    ),
    "mcp_auth_revoke": _SENDING,
    "mcp_auth_challenge_respond": (
        ErrorCode.NOT_FOUND,
        ErrorCode.MCP_SERVER_NOT_FOUND,
        ErrorCode.MCP_AUTH_PROFILE_NOT_FOUND,
        ErrorCode.STORAGE_FULL,
    ),
    "mcp_auth_profile_create": (ErrorCode.M365_FORBIDDEN_AUTH_MODE, ErrorCode.STORAGE_FULL),
    "mcp_auth_profile_patch": _OWN,
    "mcp_auth_profile_delete": (*_OWN, ErrorCode.MCP_AUTH_PROFILE_IN_USE),
    "mcp_auth_profile_secret": (ErrorCode.CONFLICT, ErrorCode.STORAGE_FULL),
}
PATH_IDS: dict[str, ErrorCode] = {"auth_profile_id": ErrorCode.MCP_AUTH_PROFILE_NOT_FOUND}
TAG: dict[str, str] | None = {
    "name": "mcp sign-in",
    "description": "Signing in to tool servers: OAuth 2.1 with PKCE, API keys, and what servers share of it.",
}
