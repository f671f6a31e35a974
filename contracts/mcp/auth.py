"""Sign-ins to tool servers: auth profiles, scopes, status, and the requests of the OAuth flow.

Secrets by reference only (DOC3 §0.2D; tie-breaks §3 items 2–4).
"""

from enum import StrEnum
from typing import Annotated

from pydantic import AliasChoices, AnyHttpUrl, Field, StringConstraints

from contracts.base import Text120, Text160, Text240, Text1000, Text2000, UtcTime, Uuid, VersionedContract
from contracts.mcp.provider import MCPAuthMode, MCPAuthState, MCPProvider
from contracts.platform.lists import ListCounts

MOST_SCOPES = 100
MAX_SCOPE_CHARS = 160
Scopes = Annotated[tuple[Text160, ...], Field(max_length=MOST_SCOPES)]
"""OAuth scopes, as the authorization server names them."""

SecretText = Annotated[str, StringConstraints(min_length=1, max_length=8_000)]
"""A secret on its way into the secret store; it is in no answer, log, file or history."""


class MCPTokenSubjectKind(StrEnum):
    """Whom a token speaks for."""

    USER = "user"
    SERVICE = "service"
    DELEGATED = "delegated"


class MCPRefreshPolicy(StrEnum):
    """Whether a token may be renewed, and by itself."""

    MANUAL = "manual"
    AUTO_IF_REFRESH_TOKEN = "auto_if_refresh_token"  # noqa: S105
    DENY = "deny"


class MCPAuthProfile(VersionedContract):
    """One sign-in, which several servers may share."""

    auth_profile_id: Text120
    provider: MCPProvider
    auth_mode: MCPAuthMode = MCPAuthMode.OAUTH2_DELEGATED
    secret_ref: Text240 | None = None
    token_ref: Text240 | None = None
    scopes: Scopes = ()
    tenant_id: Text120 | None = None
    client_id: Text120 | None = None
    redirect_uri: AnyHttpUrl | None = None
    token_subject_kind: MCPTokenSubjectKind = MCPTokenSubjectKind.USER
    incremental_consent_supported: bool = Field(
        default=False, description="As its provider says; shown, and nothing here depends on it."
    )
    auth_challenge_supported: bool = Field(
        default=False, description="As its provider says; shown, and nothing here depends on it."
    )
    expires_at: UtcTime | None = None
    refresh_at: UtcTime | None = None
    refresh_policy: MCPRefreshPolicy = MCPRefreshPolicy.MANUAL
    status: MCPAuthState = MCPAuthState.UNKNOWN
    last_auth_error_code: Text120 | None = None
    shared_profile: bool = False
    created_at: UtcTime
    updated_at: UtcTime


class MCPAuthProfileCreateRequest(VersionedContract):
    """A new sign-in; its secret is given apart, and only once."""

    provider: MCPProvider
    auth_mode: MCPAuthMode
    scopes: Scopes = ()
    tenant_id: Text120 | None = None
    client_id: Text120 | None = None
    redirect_uri: AnyHttpUrl | None = None
    token_subject_kind: MCPTokenSubjectKind = MCPTokenSubjectKind.USER
    refresh_policy: MCPRefreshPolicy = MCPRefreshPolicy.MANUAL
    shared_profile: bool = False
    client_request_id: Text120 | None = None


class MCPAuthProfilePatchRequest(VersionedContract):
    """What is to change in a sign-in; what is left out stays."""

    scopes: Scopes | None = None
    redirect_uri: AnyHttpUrl | None = Field(
        default=None, description="An explicit null takes it away: the way back is the service's own again."
    )
    refresh_policy: MCPRefreshPolicy | None = None
    shared_profile: bool | None = None
    client_request_id: Text120 | None = None


class MCPAuthProfileSecretRequest(VersionedContract):
    """The API key, or the client secret, of a sign-in. It replaces the one before and is never shown again."""

    secret: SecretText


class MCPAuthProfileListResponse(ListCounts):
    """The caller's sign-ins, newest first."""

    auth_profiles: tuple[MCPAuthProfile, ...] = ()


class MCPAuthProfileDeleteResponse(VersionedContract):
    """What became of a sign-in that was to go."""

    auth_profile_id: Text120
    deleted: bool
    blocked_by_server_ids: tuple[Text120, ...] = ()
    receipt_id: Uuid | None = None


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
