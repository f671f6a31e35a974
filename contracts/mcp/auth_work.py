"""OAuth work of a sign-in between its store, workflow and authorization server; it holds no secret."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from contracts.base import Contract, Text120, Text160, Text240, UtcTime, Uuid
from contracts.mcp.auth import MCPAuthProfilePatchRequest, MCPRevokeStatus, Scopes
from contracts.mcp.provider import MCPAuthState
from contracts.platform.commands import CommitKey

Address = Annotated[str, StringConstraints(max_length=2_000)]
"""An address exactly as it was published: an issuer is compared letter by letter."""

ClientAuthentication = Literal["none", "client_secret_basic", "client_secret_post"]
"""How a client proves itself at the token endpoint (RFC 6749 §2.3)."""


class AuthorizationServer(Contract):
    """What an authorization server publishes of itself (RFC 8414), and for which resource (RFC 9728)."""

    issuer: Address
    authorization_endpoint: Address
    token_endpoint: Address
    registration_endpoint: Address | None = None
    revocation_endpoint: Address | None = None
    resource: Address
    names_itself_in_callback: bool = Field(
        default=False, description="It promises `iss` in every callback (RFC 9207)."
    )
    authentication_methods: tuple[Text160, ...] = ()
    scopes_supported: Scopes = ()
    scopes_wanted: Scopes = Field(default=(), description="What the resource asks for where nobody chose.")


class OAuthClient(Contract):
    """Who we are at one issuer; these credentials go to no other."""

    issuer: Address
    client_id: Annotated[str, StringConstraints(max_length=1_000)]
    secret_ref: Text240 | None = None
    authentication: ClientAuthentication = "none"
    redirect_uri: Address | None = None
    registered: bool = Field(default=False, description="We registered it ourselves (RFC 7591).")
    scopes: Scopes = Field(default=(), description="What it was registered for; none where nothing was said.")


class AuthConnection(Contract):
    """What is kept of a sign-in beside what people see of it. ``token_version`` grows with every token."""

    server: AuthorizationServer | None = None
    client: OAuthClient | None = None
    scopes_requested: Scopes = ()
    scopes_granted: Scopes = ()
    scopes_needed: Scopes = Field(
        default=(), description="What servers said that their tools need beyond what was granted then."
    )
    token_version: int = Field(default=0, ge=0)
    refused_version: int | None = Field(
        default=None, ge=0, description="The token that a server did not take; it is not sent again."
    )
    refreshable: bool = False


class SignInFlow(Contract):
    """A sign-in under way: by references, and to whom it was sent."""

    challenge_id: Uuid
    server_id: Text120
    auth_profile_id: Text120
    owner_user_id: Text120
    correlation_id: Text240
    oauth_state_ref: Text240
    pkce_verifier_ref: Text240
    server: AuthorizationServer
    client: OAuthClient
    redirect_uri: Address
    scopes: Scopes = ()
    expires_at: UtcTime
    claimed_by: str | None = Field(default=None, max_length=400)


class AuthOrder(Contract):
    """One command on its way to a sign-in's workflow."""

    commit_key: CommitKey
    correlation_id: Text240
    auth_profile_id: Text120
    owner_user_id: Text120
    actor: Text120 | None = None


class SignInLook(Contract):
    """Which sign-in to read again from the store."""

    auth_profile_id: Text120
    owner_user_id: Text120


class BeginSignIn(AuthOrder):
    """Finds the authorization server and keeps a state and a verifier for the browser's way back."""

    server_id: Text120
    challenge_id: Uuid
    redirect_uri: Address
    scopes: Scopes | None = None
    lifetime_seconds: int = Field(default=600, gt=0)


class FinishSignIn(AuthOrder):
    """The browser came back: with a code, or with what the authorization server had against it."""

    challenge_id: Uuid
    code_ref: Text240 | None = None
    iss: Address | None = None
    error: Text160 | None = None


class RenewToken(AuthOrder):
    """Gets a new token. Those who name the version they saw are served by anyone's newer one."""

    server_id: Text120 | None = None
    seen_version: int | None = Field(default=None, ge=0)
    force: bool = False
    automatic: bool = Field(default=False, description="Nobody asked: the policy has to allow it.")
    ahead: bool = Field(default=False, description="By the timer: the token still holds.")


class RevokeSignIn(AuthOrder):
    """Ends a sign-in: the token goes, the connection stays unless it is to go as well."""

    server_id: Text120
    remote: bool = False
    keep_profile: bool = True


class ForgetProfile(AuthOrder):
    """Removes a sign-in that no server uses, with all its secrets."""


class ChangeProfile(AuthOrder):
    """Changes what people chose of a sign-in."""

    patch: MCPAuthProfilePatchRequest
    own_way_back: bool = Field(
        default=False, description="Takes the redirect_uri away; the patch names none."
    )


class AuthOutcome(StrEnum):
    """What became of an order."""

    DONE = "done"
    CURRENT = "current"
    DECLINED = "declined"
    LOST = "lost"


class AuthReceipt(Contract):
    """What became of an order, and when the sign-in has to be looked after next."""

    auth_profile_id: Text120
    outcome: AuthOutcome
    state: MCPAuthState
    token_version: int = Field(default=0, ge=0)
    refresh_at: UtcTime | None = Field(default=None, description="When the timer renews; none: no timer.")
    renew_in_seconds: float | None = Field(
        default=None, description="The same from now on: clocks of several machines differ."
    )
    receipt_id: Uuid | None = None
    revoke_status: MCPRevokeStatus | None = None
    remote_outcome: Text160 | None = Field(
        default=None,
        description="Of a revocation: what the authorization server made of it, if it was asked.",
    )
