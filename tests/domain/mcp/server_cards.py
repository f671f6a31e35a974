"""Servers as the list shows them, for the rules' tests."""

from datetime import UTC, datetime

from contracts.mcp.auth import MCPServerAuthStatus
from contracts.mcp.health import MCPConnectionHealth, MCPHealthStatus, MCPThrottle, MCPThrottleState
from contracts.mcp.policy import (
    MCPEffectivePolicy,
    MCPPolicyAuthor,
    MCPPolicyDecision,
    MCPPolicyMode,
    MCPServerTarget,
)
from contracts.mcp.provider import MCPAuthState
from contracts.mcp.servers import MCPServerListItem, MCPServerRegistryEntry
from domain.mcp.registration import available_actions, badge_states

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


def entry(server_id: str = "tickets", **fields: object) -> MCPServerRegistryEntry:
    """A registered server."""
    usual: dict[str, object] = {
        "server_id": server_id,
        "provider": "custom_remote",
        "display_name": server_id,
        "endpoint_url": "https://tickets.example.com/mcp",
        "transport": "remote_http",
        "created_at": NOW,
        "updated_at": NOW,
    }
    return MCPServerRegistryEntry.model_validate({**usual, **fields})


def health(
    status: MCPHealthStatus = MCPHealthStatus.HEALTHY,
    *,
    throttle: MCPThrottle = MCPThrottle.NONE,
    auth: MCPAuthState = MCPAuthState.UNKNOWN,
) -> MCPConnectionHealth:
    """How it is."""
    return MCPConnectionHealth(
        server_id="tickets",
        health_status=status,
        throttle_state=MCPThrottleState(state=throttle),
        auth_state=auth,
    )


def policy(
    mode: MCPPolicyMode = MCPPolicyMode.ENABLED, by: MCPPolicyAuthor = MCPPolicyAuthor.USER
) -> MCPEffectivePolicy:
    """What was decided for it, and by whom."""
    decision = MCPPolicyDecision(mode=mode, updated_by=by, updated_at=NOW)
    return MCPEffectivePolicy(target=MCPServerTarget(server_id="tickets"), decision=decision)


def auth(state: MCPAuthState) -> MCPServerAuthStatus:
    """How its sign-in stands."""
    return MCPServerAuthStatus(server_id="tickets", auth_profile_id="office", auth_state=state)


def card(
    server_id: str = "tickets",
    *,
    at_health: MCPConnectionHealth | None = None,
    at_policy: MCPEffectivePolicy | None = None,
    at_auth: MCPServerAuthStatus | None = None,
    **fields: object,
) -> MCPServerListItem:
    """The server as the list shows it."""
    registry = entry(server_id, **fields)
    is_health, is_policy = at_health or health(), at_policy or policy()
    return MCPServerListItem(
        registry=registry,
        health=is_health,
        auth=at_auth,
        effective_policy=is_policy,
        badge_states=badge_states(registry, is_health, at_auth, is_policy),
        available_actions=available_actions(registry, None, at_auth),
    )
