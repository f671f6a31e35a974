"""Whether a token is renewed now (DOC3 "OAuth / PKCE lifecycle" 3-5)."""

from datetime import datetime
from enum import StrEnum

from contracts.errors import ErrorCode, Refusal
from contracts.mcp.auth_profile import MCPAuthProfile, MCPRefreshPolicy
from contracts.mcp.auth_work import AuthConnection, RenewToken
from contracts.mcp.provider import MCPAuthMode, MCPAuthState
from domain.mcp.auth_status import OAUTH_MODES, is_renewable

_LOST = frozenset({MCPAuthState.REVOKED, MCPAuthState.CHALLENGE_REQUIRED})


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
        Refusal: ``MCP_OAUTH_REFRESH_NOT_ALLOWED`` for a person's order. One that nobody made is declined.
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
