"""Signing in to a server: start, callback, refresh, revoke, challenge (DOC3 §0.2D; tie-breaks §3 items 2–4)."""

from enum import StrEnum
from typing import Annotated

from pydantic import AliasChoices, AnyHttpUrl, Field, StringConstraints

from contracts.base import Text120, Text160, Text240, Text1000, Text2000, UtcTime, Uuid, VersionedContract
from contracts.mcp.auth_profile import Scopes
from contracts.mcp.provider import MCPAuthMode, MCPAuthState


class MCPServerAuthStatus(VersionedContract):
    """How a server's sign-in stands, and what to do about it."""

    server_id: Text120
    auth_profile_id: Text120 | None = None
    auth_state: MCPAuthState
    auth_mode: MCPAuthMode | None = None
    scopes_granted: Scopes = ()
    scopes_missing: Scopes = ()
    expires_at: UtcTime | None = None
    refresh_at: UtcTime | None = None
    redirect_uri: AnyHttpUrl | None = None
    last_auth_error_code: Text120 | None = None
    next_action: Text240 | None = Field(default=None, description="What to do; none when all is well.")


class MCPInteractiveHint(StrEnum):
    """Where the sign-in page opens."""

    SAME_WINDOW = "same_window"
    POPUP = "popup"
    NEW_TAB = "new_tab"


class MCPAuthStartRequest(VersionedContract):
    """Begins a sign-in."""

    server_id: Text120
    requested_scopes_override: Scopes | None = None
    interactive_hint: MCPInteractiveHint = Field(
        default=MCPInteractiveHint.SAME_WINDOW,
        description="How the client opens the page; kept to the client, for it changes nothing here.",
    )
    client_request_id: Text120 | None = None


class MCPAuthStartResponse(VersionedContract):
    """Where the person goes to sign in."""

    server_id: Text120
    auth_url: AnyHttpUrl
    challenge_id: Text160 | None = None
    correlation_id: Uuid | None = None
    expires_at: UtcTime | None = None


class MCPAuthorizationFlow(VersionedContract):
    """What is kept of a sign-in under way; the browser sees none of its references."""

    server_id: Text120
    auth_profile_id: Text120
    authorization_url: AnyHttpUrl
    oauth_state_ref: Text240
    pkce_verifier_ref: Text240
    expires_at: UtcTime


class MCPAuthCallbackQuery(VersionedContract):
    """What an authorization server sends back by way of the browser; parameters beyond these are dropped."""

    code: Annotated[str, StringConstraints(max_length=4_000)] | None = None
    state: Annotated[str, StringConstraints(max_length=512)]
    error: Text160 | None = None
    error_description: Text2000 | None = None
    error_uri: AnyHttpUrl | None = Field(default=None, description="Another's page; nobody is led there.")
    session_state: Annotated[str, StringConstraints(max_length=512)] | None = None
    iss: Annotated[str, StringConstraints(max_length=2_000)] | None = None


class MCPAuthRefreshRequest(VersionedContract):
    """Renews a token now; without ``force`` only where it is due."""

    server_id: Text120
    force: bool = False
    client_request_id: Text120 | None = None


class MCPAuthRevokeRequest(VersionedContract):
    """Ends a sign-in, here and, where asked, at the authorization server."""

    server_id: Text120
    revoke_remote: bool = False
    keep_auth_profile: bool = True
    client_request_id: Text120 | None = None


class MCPRevokeStatus(StrEnum):
    """What a revocation did."""

    REVOKED = "revoked"
    ALREADY_REVOKED = "already_revoked"
    NOOP = "noop"


class MCPAuthRevokeResponse(VersionedContract):
    """What a revocation did."""

    server_id: Text120
    revoked: bool
    status: MCPRevokeStatus
    remote_outcome: Text160 | None = Field(
        default=None,
        description="What the authorization server made of it, if it was asked: `revoked`, or what went wrong.",
    )
    next_action: Text240 | None = Field(default=None, description="What is left for a person to do.")
    receipt_id: Uuid | None = None


class MCPChallengeDecision(StrEnum):
    """What a person says to a challenge."""

    APPROVE = "approve"
    DENY = "deny"
    RETRY = "retry"


class MCPAuthChallengeRespondRequest(VersionedContract):
    """Answers a challenge; ``action`` is the former name of ``decision``."""

    challenge_id: Text160
    decision: MCPChallengeDecision = Field(validation_alias=AliasChoices("decision", "action"))
    note: Text1000 | None = None
    client_request_id: Text120 | None = None


class MCPChallengeResolution(StrEnum):
    """What became of a challenge."""

    APPROVED = "approved"
    DENIED = "denied"
    RETRIED = "retried"
    EXPIRED = "expired"


class MCPAuthChallengeRespondResponse(VersionedContract):
    """What became of a challenge, and how the sign-in stands now."""

    challenge_id: Text160
    server_id: Text120
    resolved: bool
    resolution: MCPChallengeResolution
    auth_status: MCPServerAuthStatus
    receipt_id: Uuid | None = None
