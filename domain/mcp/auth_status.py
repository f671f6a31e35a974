"""Sign-in rules: status with next action, token audience, token renewal, bounds of scopes.

DOC3 §0.2D, "OAuth / PKCE lifecycle" 3-5; RFC 8707 (audience); decisions "Numbers" (renewal at 80 % of a token's life,
at least 60 s before its end).
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from urllib.parse import SplitResult, urlsplit

from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.auth import (
    MAX_SCOPE_CHARS,
    MOST_SCOPES,
    MCPAuthProfile,
    MCPRefreshPolicy,
    MCPServerAuthStatus,
)
from contracts.mcp.auth_work import AuthConnection, AuthorizationServer, RenewToken
from contracts.mcp.provider import MCPAuthMode, MCPAuthState

REGISTRATION_REFUSED = "registration_refused"

INVALID_SCOPE = "invalid_scope"
"""An authorization server's own word for a scope that it does not give (RFC 6749 §4.1.2.1)."""

SIGNED_IN_BY_A_PERSON = frozenset({MCPAuthMode.OAUTH2_DELEGATED, MCPAuthMode.OAUTH2_ON_BEHALF_OF})
"""The modes that need a person at a browser."""

OAUTH_MODES = SIGNED_IN_BY_A_PERSON | {MCPAuthMode.OAUTH2_CLIENT_CREDENTIALS}
"""The modes whose tokens end and are renewed."""

RENEWED_AT = 0.8
"""The part of a token's life after which it is renewed."""

BEFORE_THE_END = timedelta(seconds=60)
"""The least time between a renewal and the end of the token's life."""

SHORTEST_USE = 0.5
"""A token too short for both is used for half of its life: a renewal that is due at once would never end."""

STILL_GOOD = timedelta(seconds=30)
"""A token with less left is not sent any more: it could end on its way."""

_LOST = frozenset({MCPAuthState.REVOKED, MCPAuthState.CHALLENGE_REQUIRED})

_PORTS = {"https": 443, "http": 80}


def auth_status(
    server_id: str,
    profile: MCPAuthProfile | None,
    connection: AuthConnection,
    now: datetime,
    endpoint: str | None = None,
) -> MCPServerAuthStatus:
    """How the sign-in of a server stands; a server without one needs none.

    ``endpoint`` is the server's address: a token that is for another server is none for this one.
    """
    if profile is None:
        return MCPServerAuthStatus(
            server_id=server_id, auth_state=MCPAuthState.UNKNOWN, auth_mode=MCPAuthMode.NONE
        )
    state = state_now(profile, connection, now)
    next_action = _next_action(server_id, profile, connection, state)
    elsewhere = belongs_elsewhere(profile, connection, endpoint) if profile.token_ref is not None else None
    if elsewhere is not None:
        state = MCPAuthState.CHALLENGE_REQUIRED
        next_action = clipped(
            f"The token is for {elsewhere} and is not sent here; give this server a sign-in of its own: "
            "`apprentice mcp profiles create`.",
            240,
        )
    return MCPServerAuthStatus(
        server_id=server_id,
        auth_profile_id=profile.auth_profile_id,
        auth_state=state,
        auth_mode=profile.auth_mode,
        scopes_granted=connection.scopes_granted,
        scopes_missing=missing_scopes(connection) if profile.token_ref is not None else (),
        expires_at=profile.expires_at,
        refresh_at=profile.refresh_at,
        redirect_uri=profile.redirect_uri,
        last_auth_error_code=profile.last_auth_error_code,
        next_action=next_action,
    )


def _next_action(
    server_id: str, profile: MCPAuthProfile, connection: AuthConnection, state: MCPAuthState
) -> str | None:
    if profile.auth_mode is MCPAuthMode.NONE:
        return None
    secret = f"`apprentice mcp profiles secret {profile.auth_profile_id}`"
    if profile.auth_mode not in SIGNED_IN_BY_A_PERSON:
        if profile.secret_ref is None:
            what = "the API key" if profile.auth_mode is MCPAuthMode.API_KEY else "the client secret"
            return clipped(f"Enter {what}: {secret}.", 240)
        if state in {MCPAuthState.CHALLENGE_REQUIRED, MCPAuthState.EXPIRED, MCPAuthState.REVOKED}:
            return clipped(f"The server refuses the secret; enter a new one: {secret}.", 240)
        return None
    return clipped(_for_a_person(server_id, profile, connection, state), 240) or None


def _for_a_person(
    server_id: str, profile: MCPAuthProfile, connection: AuthConnection, state: MCPAuthState
) -> str:
    start = f"`apprentice mcp auth start {server_id}`"
    match state:
        case MCPAuthState.HEALTHY:
            return _for_more(start, profile, missing_scopes(connection))
        case MCPAuthState.EXPIRED if connection.refreshable:
            return f"Renew the token: `apprentice mcp auth refresh {server_id}`; if that fails, {start}."
        case MCPAuthState.UNKNOWN:
            return f"Sign in: {start}."
        case _:
            return f"Sign in again: {start}."


def _for_more(start: str, profile: MCPAuthProfile, missing: tuple[str, ...]) -> str:
    """How a whole sign-in gets what it lacks. Scopes that a person chose are widened by a person alone."""
    if not missing:
        return ""
    named = clipped(", ".join(missing), 100)
    if profile.scopes and not set(missing) <= set(profile.scopes):
        return f"Sign in again and ask for {named} too, all scopes named: {start} --scope …"
    return f"Sign in again and grant {named}: {start}."


def state_now(profile: MCPAuthProfile, connection: AuthConnection, now: datetime) -> MCPAuthState:
    """The state on record, or ``expired`` where the token's time has passed and nothing renewed it."""
    over = profile.expires_at is not None and profile.expires_at <= now
    if not over or profile.status is not MCPAuthState.HEALTHY:
        return profile.status
    if profile.auth_mode is MCPAuthMode.OAUTH2_CLIENT_CREDENTIALS:
        return MCPAuthState.HEALTHY
    return MCPAuthState.EXPIRED


def belongs_elsewhere(
    profile: MCPAuthProfile, connection: AuthConnection, endpoint: str | None
) -> str | None:
    """The origin that a sign-in's token is for, where that is not the server at ``endpoint``."""
    server = connection.server
    if endpoint is None or server is None or profile.auth_mode not in OAUTH_MODES:
        return None
    if is_meant_for(server.resource, endpoint, shared=profile.shared_profile):
        return None
    return clipped(origin_text(server.resource), 80)


def renews_itself(profile: MCPAuthProfile, connection: AuthConnection) -> bool:
    """Whether the token is renewed automatically (DOC3 "OAuth / PKCE lifecycle" 4)."""
    return (
        profile.refresh_policy is MCPRefreshPolicy.AUTO_IF_REFRESH_TOKEN
        and profile.token_ref is not None
        and profile.status in {MCPAuthState.HEALTHY, MCPAuthState.EXPIRED}
        and is_renewable(profile, connection)
    )


def is_renewable(profile: MCPAuthProfile, connection: AuthConnection) -> bool:
    """Whether a token can be had without a person: by a refresh token, or as a client of one's own."""
    if profile.auth_mode is MCPAuthMode.OAUTH2_CLIENT_CREDENTIALS:
        return True
    return profile.auth_mode in SIGNED_IN_BY_A_PERSON and connection.refreshable


def missing_scopes(connection: AuthConnection) -> tuple[str, ...]:
    """What was asked for, or is needed, and not granted.

    A refresh token speaks for itself, and many servers never name its scope.
    """
    granted = {*connection.scopes_granted, "offline_access"}
    wanted = dict.fromkeys((*connection.scopes_requested, *connection.scopes_needed))
    return tuple(scope for scope in wanted if scope not in granted)


def with_needed(connection: AuthConnection, scopes: Iterable[str]) -> tuple[str, ...]:
    """The scopes that servers need beyond what was granted, with these too; the first hundred of them."""
    granted = frozenset(connection.scopes_granted)
    needed = dict.fromkeys((*connection.scopes_needed, *scopes))
    return tuple(scope for scope in needed if scope not in granted)[:MOST_SCOPES]


def scopes_to_ask(
    chosen: Sequence[str] | None,
    profile: MCPAuthProfile,
    connection: AuthConnection,
    server: AuthorizationServer,
) -> tuple[str, ...]:
    """What the next sign-in asks for: what the person chooses for it or has chosen for all, and no more.

    Without a choice, it is what the server publishes and what was found to be needed.
    """
    wanted = tuple(chosen or profile.scopes)
    if not wanted:
        wanted = tuple(dict.fromkeys((*server.scopes_wanted, *connection.scopes_needed)))
    lasting = "offline_access" in server.scopes_supported and "offline_access" not in wanted
    return (*wanted[: MOST_SCOPES - 1], "offline_access") if lasting else wanted[:MOST_SCOPES]


def kept_scopes(named: Iterable[str]) -> tuple[str, ...]:
    """The first hundred of these names that are not too long to be kept."""
    return tuple(name for name in named if len(name) <= MAX_SCOPE_CHARS)[:MOST_SCOPES]


def is_meant_for(resource: str, endpoint: str, *, shared: bool = False) -> bool:
    """Whether a token for ``resource`` may be sent to the server at ``endpoint``.

    The server has to be at the resource or below it; with ``shared``, which a person says of the sign-in, at the
    same origin. A token never goes to another origin.
    """
    meant, asked = urlsplit(resource), urlsplit(endpoint)
    if _origin(meant) != _origin(asked):
        return False
    return shared or _parts(asked)[: len(_parts(meant))] == _parts(meant)


def origin_text(address: str) -> str:
    """Scheme, host and port, as they are shown."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _origin(parts: SplitResult) -> tuple[str, str, int | None]:
    return parts.scheme, (parts.hostname or "").rstrip("."), parts.port or _PORTS.get(parts.scheme)


def _parts(parts: SplitResult) -> list[str]:
    return [part for part in parts.path.split("/") if part]


def renewal_time(issued_at: datetime, expires_at: datetime | None) -> datetime | None:
    """When to renew a token of this life; never, for one without an end."""
    if expires_at is None:
        return None
    life = max(expires_at - issued_at, timedelta())
    wanted = min(issued_at + life * RENEWED_AT, expires_at - BEFORE_THE_END)
    return max(wanted, issued_at + life * SHORTEST_USE)


def is_good(expires_at: datetime | None, issued_at: datetime, now: datetime) -> bool:
    """Whether a token may still be sent. Of a very short life only the last tenth is given up."""
    if expires_at is None:
        return True
    margin = min(STILL_GOOD, (expires_at - issued_at) * 0.1)
    return now < expires_at - margin


class RenewalStep(StrEnum):
    """What to do about a token."""

    RENEW = "renew"
    CURRENT = "current"
    DECLINE = "decline"


def next_step(
    order: RenewToken, profile: MCPAuthProfile, connection: AuthConnection, now: datetime, *, good: bool
) -> RenewalStep:
    """What an order to renew comes to; ``good`` tells whether the token that is kept may still be sent.

    Raises:
        Refusal: ``MCP_OAUTH_REFRESH_NOT_ALLOWED`` for a person's order. An automatic one is declined.
    """
    known = order.seen_version
    if known is not None and connection.token_version > known and good:
        return RenewalStep.CURRENT
    obstacle = _obstacle(order, profile, connection)
    if obstacle is None:
        return RenewalStep.RENEW if _is_due(order, profile, now, good) else RenewalStep.CURRENT
    if not order.automatic:
        raise Refusal(ErrorCode.MCP_OAUTH_REFRESH_NOT_ALLOWED, obstacle)
    unharmed = good and (known is None or order.ahead)
    return RenewalStep.CURRENT if unharmed else RenewalStep.DECLINE


def _is_due(order: RenewToken, profile: MCPAuthProfile, now: datetime, good: bool) -> bool:
    if order.force or order.seen_version is not None or not good:
        return True
    return profile.refresh_at is not None and profile.refresh_at <= now


def _obstacle(order: RenewToken, profile: MCPAuthProfile, connection: AuthConnection) -> str | None:
    """Why the token may not be renewed, in words."""
    if profile.auth_mode not in OAUTH_MODES:
        return f"A sign-in by {profile.auth_mode.value} has no token to renew."
    if profile.status is MCPAuthState.REVOKED or (order.automatic and profile.status in _LOST):
        return "The sign-in was lost or revoked; sign in again."
    if profile.refresh_policy is MCPRefreshPolicy.DENY:
        return "The sign-in's refresh_policy is deny; sign in again, or change the policy."
    if not is_renewable(profile, connection):
        return "There is no refresh token; sign in again."
    own_client = profile.auth_mode is MCPAuthMode.OAUTH2_CLIENT_CREDENTIALS
    if order.automatic and not own_client and profile.refresh_policy is MCPRefreshPolicy.MANUAL:
        return "The sign-in's refresh_policy is manual."
    return None
