"""Score tool servers as routes of a call, from the composed server list (DOC3 L2484, §0.2E, §0.6A-E, §7C).

A server's standing is determined in a fixed order: switched off, degraded, signed out, asks first, eligible. Usable
servers come first, and among these the score decides: policy, exact tool, project, health, transport, throttling, and
last the server's id, so that equal servers are always taken in one order.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from contracts.abilities.capability_manifest import CapabilityManifest
from contracts.learning.observation import ToolEffect
from contracts.mcp.health import MCPHealthStatus, MCPThrottle
from contracts.mcp.policy import MCPPolicyAuthor, MCPPolicyMode
from contracts.mcp.provider import MCPProvider, MCPTransport
from contracts.mcp.routing import RouteStanding as Standing
from contracts.mcp.routing import RouteVerdict
from contracts.mcp.servers import MCPBadgeState, MCPRateLimitProfile, MCPServerListItem
from domain.abilities.hybrid_plan import Truth

FORBIDDEN = "Policy forbids it."
"""Why a server is left out that policy switches off for the call."""

NEVER_LISTED = (
    "Its tools were never listed, so nobody knows whether it has this one; its smoke test lists them."
)
"""Why a server is left out that has not answered yet."""

_SHADOWING = frozenset({MCPProvider.GMAIL_GOOGLE})
"""Providers whose mail and calendar must not stand beside native ones (DOC3 §7C.2)."""

_VERDICTS = {
    Standing.ELIGIBLE: RouteVerdict.ALLOW,
    Standing.ASK_FIRST: RouteVerdict.ASK_FIRST,
    Standing.DEFER_OR_WARN: RouteVerdict.DEGRADED,
    Standing.AUTH_REQUIRED: RouteVerdict.DEGRADED,
}

_TURN = {Standing.ELIGIBLE: 0, Standing.ASK_FIRST: 0, Standing.DEFER_OR_WARN: 1, Standing.AUTH_REQUIRED: 2}

_HEALTH = {
    MCPHealthStatus.DISABLED: 0,
    MCPHealthStatus.DEGRADED: 1,
    MCPHealthStatus.UNKNOWN: 2,
    MCPHealthStatus.HEALTHY: 3,
}

_RATES = {
    MCPRateLimitProfile.LOW: 0,
    MCPRateLimitProfile.UNKNOWN: 1,
    MCPRateLimitProfile.MEDIUM: 2,
    MCPRateLimitProfile.HIGH: 3,
}

_TRANSPORTS = {
    # What goes through the gateway comes before what a provider does by itself (DOC3 §1.1S).
    Truth.REMOTE: (MCPTransport.PROVIDER_NATIVE, MCPTransport.LOCAL_BRIDGE, MCPTransport.REMOTE_HTTP),
    Truth.LOCAL: (MCPTransport.PROVIDER_NATIVE, MCPTransport.REMOTE_HTTP, MCPTransport.LOCAL_BRIDGE),
}
"""Transports of a server, the best last."""

__all__ = [
    "CONNECTOR_CAPS",
    "FORBIDDEN",
    "NEVER_LISTED",
    "RouteDecision",
    "RouteVerdict",
    "RouteWanted",
    "ScoredServer",
    "Standing",
    "resolve_route",
    "servers_required",
    "standing_of",
    "why_left_out",
]


CONNECTOR_CAPS = ("mcp_connector:", "mcp_server:")
"""How a manifest's ``required_runtime_caps`` name a server: ``mcp_connector:<server_id>`` (DOC3 §7A.5)."""


def servers_required(manifest: CapabilityManifest) -> list[str]:
    """The ids of the servers that a manifest requires, in its order."""
    return [
        cap.removeprefix(prefix)
        for cap in manifest.required_runtime_caps
        for prefix in CONNECTOR_CAPS
        if cap.startswith(prefix)
    ]


@dataclass(frozen=True)
class RouteWanted:
    """What a way is looked for.

    ``allowed_servers`` is what the runtime may use, everything when None; ``project_servers`` are those its
    project is bound to; ``native_path`` says that the runtime has a native capability for the same work.
    """

    effect: ToolEffect = ToolEffect.READ
    tool_name: str | None = None
    provider: MCPProvider | None = None
    allowed_servers: frozenset[str] | None = None
    ask_first_servers: frozenset[str] = frozenset()
    project_servers: frozenset[str] = frozenset()
    truth: Truth = Truth.REMOTE
    native_path: bool = False


@dataclass(frozen=True)
class ScoredServer:
    """A candidate's score, higher is better, and in words what made it."""

    server_id: str
    score: int
    standing: Standing
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class RouteDecision:
    """The way to go, and how every candidate was scored, best first."""

    verdict: RouteVerdict
    server_id: str | None = None
    scores: tuple[ScoredServer, ...] = ()
    denied: tuple[str, ...] = ()


def resolve_route(servers: Sequence[MCPServerListItem], wanted: RouteWanted) -> RouteDecision:
    """The best way to do what is wanted.

    A tool that no server is known to have has no way. ``degraded`` names a server that is ill or signed out when
    there is no other: it is for the caller to say so and to fall back to what is approved, never to take it
    silently. ``deny`` means that policy leaves none.
    """
    candidates = [item for item in servers if _unfit(item, wanted) is None]
    if wanted.tool_name is not None and not any(_has_it(item, wanted) for item in candidates):
        return RouteDecision(RouteVerdict.NO_ROUTE)
    allowed = [item for item in candidates if _barred(item, wanted) is None]
    denied = tuple(sorted(item.registry.server_id for item in candidates if item not in allowed))
    if not allowed:
        return RouteDecision(RouteVerdict.DENY if denied else RouteVerdict.NO_ROUTE, denied=denied)
    scores = sorted((_scored(item, wanted) for item in allowed), key=_order)
    best = scores[0]
    return RouteDecision(_VERDICTS[best.standing], best.server_id, tuple(scores), denied)


def why_left_out(item: MCPServerListItem, wanted: RouteWanted) -> str | None:
    """Why a server is no candidate for what is wanted; None where it is one."""
    never_listed = wanted.tool_name is not None and not _has_it(item, wanted)
    return _unfit(item, wanted) or _barred(item, wanted) or (NEVER_LISTED if never_listed else None)


def standing_of(item: MCPServerListItem) -> Standing:
    """The standing of a server, by the first rule that holds."""
    if not item.registry.enabled:
        return Standing.REJECT_DISABLED
    if item.health.health_status is MCPHealthStatus.DEGRADED:
        return Standing.DEFER_OR_WARN
    if MCPBadgeState.AUTH_REQUIRED in item.badge_states:
        return Standing.AUTH_REQUIRED
    if MCPBadgeState.APPROVAL_REQUIRED in item.badge_states:
        return Standing.ASK_FIRST
    return Standing.ELIGIBLE


def _unfit(item: MCPServerListItem, wanted: RouteWanted) -> str | None:
    """Why the server is not of the kind that is wanted."""
    entry, known = item.registry, item.registry.supported_tools
    if not entry.active_build_surface or item.deferred_design_only:
        return "It is only shown, and called by nobody."
    if wanted.provider is not None and entry.provider is not wanted.provider:
        return f"It is a server of {entry.provider.value}, not of {wanted.provider.value}."
    # A server whose tools nobody has listed yet may have it, too.
    if wanted.tool_name is not None and known and wanted.tool_name not in known:
        return f"It has no tool {wanted.tool_name}."
    return None


def _has_it(item: MCPServerListItem, wanted: RouteWanted) -> bool:
    return wanted.tool_name is not None and wanted.tool_name in item.registry.supported_tools


def _barred(item: MCPServerListItem, wanted: RouteWanted) -> str | None:
    """Why the server may not be used, though it is of the right kind."""
    entry = item.registry
    if not entry.enabled:
        return "It is switched off."
    if item.effective_policy.decision.mode is MCPPolicyMode.DISABLED:
        return FORBIDDEN
    if wanted.allowed_servers is not None and entry.server_id not in wanted.allowed_servers:
        return "It is not among the servers that may be used for this."
    if wanted.native_path and entry.provider in _SHADOWING:
        return "The runtime has a native way for the same work, and it must not stand beside that."
    return None


def _asks(item: MCPServerListItem, wanted: RouteWanted) -> bool:
    decision = item.effective_policy.decision
    by_default = decision.updated_by is MCPPolicyAuthor.SYSTEM and wanted.effect is not ToolEffect.READ
    return (
        decision.mode is MCPPolicyMode.ASK_FIRST
        or by_default
        or item.registry.server_id in wanted.ask_first_servers
    )


def _scored(item: MCPServerListItem, wanted: RouteWanted) -> ScoredServer:
    entry, throttle = item.registry, item.health.throttle_state.state
    asks = _asks(item, wanted)
    exact = _has_it(item, wanted)
    in_project = entry.server_id in wanted.project_servers
    patience = 0 if throttle is not MCPThrottle.NONE else 1 + _RATES[entry.rate_limit_profile]
    ranks = (
        (1 if asks else 2, "asks first" if asks else "allowed"),
        (1 if exact else 0, "has the tool" if exact else "no exact tool"),
        (1 if in_project else 0, "of the project" if in_project else "of no project"),
        _health(item, wanted),
        (_TRANSPORTS[wanted.truth].index(entry.transport), entry.transport.value),
        (patience, "not throttled" if patience else throttle.value),
    )
    score = 0
    for rank, _ in ranks:
        score = score * 10 + rank
    standing = standing_of(item)
    if asks and standing is Standing.ELIGIBLE:
        standing = Standing.ASK_FIRST
    return ScoredServer(entry.server_id, score, standing, tuple(why for _, why in ranks))


def _health(item: MCPServerListItem, wanted: RouteWanted) -> tuple[int, str]:
    """The server's health, and within it the tool's."""
    status = item.health.health_status
    tool = item.health.tool_health.get(wanted.tool_name) if wanted.tool_name is not None else None
    if tool is not None and not tool.ok:
        return 2 * _HEALTH[status], f"{status.value}, but the tool's last call failed"
    return 2 * _HEALTH[status] + 1, status.value


def _order(scored: ScoredServer) -> tuple[int, int, str]:
    return _TURN[scored.standing], -scored.score, scored.server_id
