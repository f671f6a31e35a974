"""What a server's card shows and offers, from the registry, its health, its sign-in and its policy.

This is the one place (DOC3 L2459-2470): a console, a command line or an agent derives nothing of its own.
"""

from contracts.mcp.auth_flow import MCPServerAuthStatus
from contracts.mcp.auth_profile import MCPAuthProfile, MCPRefreshPolicy
from contracts.mcp.health import MCPConnectionHealth, MCPHealthStatus
from contracts.mcp.policy import MCPEffectivePolicy, MCPPolicyMode
from contracts.mcp.provider import NEEDS_SIGN_IN, MCPAuthMode, MCPAuthState, MCPInteractionMode
from contracts.mcp.server_registry import MCPBadgeState as Badge
from contracts.mcp.server_registry import MCPServerAction as Action
from contracts.mcp.server_registry import MCPServerRegistryEntry
from domain.mcp.auth_status import OAUTH_MODES, SIGNED_IN_BY_A_PERSON


def is_deferred(entry: MCPServerRegistryEntry) -> bool:
    """Whether a server is only shown."""
    return not entry.active_build_surface


def needs_sign_in(health: MCPConnectionHealth, auth: MCPServerAuthStatus | None) -> bool:
    """Whether somebody has to sign in: the sign-in says so, or the server did when it was last asked."""
    return health.auth_state in NEEDS_SIGN_IN or (auth is not None and auth.auth_state in NEEDS_SIGN_IN)


def badge_states(
    entry: MCPServerRegistryEntry,
    health: MCPConnectionHealth,
    auth: MCPServerAuthStatus | None,
    policy: MCPEffectivePolicy,
) -> tuple[Badge, ...]:
    """Every badge whose condition holds, and no other, in the order of the schema."""
    signed_out = needs_sign_in(health, auth)
    holds = {
        Badge.CONNECTED: entry.enabled
        and not is_deferred(entry)
        and not signed_out
        and health.health_status is MCPHealthStatus.HEALTHY,
        Badge.APPROVAL_REQUIRED: policy.decision.mode is MCPPolicyMode.ASK_FIRST,
        Badge.AUTH_REQUIRED: signed_out,
        Badge.DEGRADED: health.health_status is MCPHealthStatus.DEGRADED,
        Badge.DISABLED: not entry.enabled,
        Badge.DEFERRED: is_deferred(entry),
        Badge.BACKGROUND_ONLY: entry.interaction_mode is MCPInteractionMode.BACKGROUND_SERVICE,
    }
    return tuple(badge for badge in Badge if holds[badge])


def available_actions(
    entry: MCPServerRegistryEntry, profile: MCPAuthProfile | None, auth: MCPServerAuthStatus | None
) -> tuple[Action, ...]:
    """What may be done with a server now, in the order of the schema; nothing with one that is deferred.

    A sign-in by a person can be begun at any time, renewed where its policy and a token allow it, and revoked
    while there is something to revoke. A server that is switched off is not tested.
    """
    if is_deferred(entry):
        return ()
    state = auth.auth_state if auth is not None else MCPAuthState.UNKNOWN
    mode = profile.auth_mode if profile is not None else MCPAuthMode.NONE
    has_token = profile is not None and profile.token_ref is not None
    holds = {
        Action.CONNECT_AUTH: mode in SIGNED_IN_BY_A_PERSON,
        Action.REFRESH_AUTH: profile is not None
        and mode in OAUTH_MODES
        and has_token
        and profile.refresh_policy is not MCPRefreshPolicy.DENY
        and state is not MCPAuthState.REVOKED,
        Action.REVOKE_AUTH: has_token and state is not MCPAuthState.REVOKED,
        Action.EDIT: True,
        Action.DELETE: True,
        Action.SMOKE_TEST: entry.enabled and entry.supports_smoke_test,
        Action.POLICY_UPDATE: True,
    }
    return tuple(action for action in Action if holds[action])
