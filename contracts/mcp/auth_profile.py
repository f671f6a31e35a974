"""Sign-ins as records: which mode, which scopes, how they stand; secrets by reference only (DOC3 §0.2D)."""

from enum import StrEnum
from typing import Annotated

from pydantic import AnyHttpUrl, Field, StringConstraints

from contracts.base import Text120, Text160, Text240, UtcTime, Uuid, VersionedContract
from contracts.mcp.provider import MCPAuthMode, MCPAuthState, MCPProvider

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


class MCPAuthProfileListResponse(VersionedContract):
    """The caller's sign-ins, newest first."""

    auth_profiles: tuple[MCPAuthProfile, ...] = ()


class MCPAuthProfileDeleteResponse(VersionedContract):
    """What became of a sign-in that was to go."""

    auth_profile_id: Text120
    deleted: bool
    blocked_by_server_ids: tuple[Text120, ...] = ()
    receipt_id: Uuid | None = None
