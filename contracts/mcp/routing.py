"""Explain the route of a tool call and the plan of a capability, without calling anything.

DOC3 §0.2E, §0.6D (routes), §1.1E, §1.8B (capabilities).
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from contracts.abilities.capability_health import CapabilityHealthState
from contracts.abilities.capability_manifest import BridgeState
from contracts.abilities.capability_plan import HybridActionPlan
from contracts.abilities.control_surface import ControlSurface
from contracts.abilities.lookup import AbilityExplainMatchResponse
from contracts.base import (
    Contract,
    Text80,
    Text120,
    Text160,
    Text200,
    Text240,
    Text500,
    UtcTime,
    VersionedContract,
)
from contracts.mcp.policy import MCPPolicyMode
from contracts.mcp.provider import MCPProvider

MOST_NAMED = 200
"""The most servers that a question may name; a person has no more."""

_ServerIds = Annotated[tuple[Text120, ...], Field(max_length=MOST_NAMED)]


class RouteStanding(StrEnum):
    """What the list of servers says of a candidate."""

    REJECT_DISABLED = "reject_disabled"
    DEFER_OR_WARN = "defer_or_warn"
    AUTH_REQUIRED = "auth_required"
    ASK_FIRST = "ask_first"
    ELIGIBLE = "eligible"


class RouteVerdict(StrEnum):
    """Whether there is a way, and under which condition."""

    ALLOW = "allow"
    DENY = "deny"
    ASK_FIRST = "ask_first"
    DEGRADED = "degraded"
    NO_ROUTE = "no_route"


class RouteActionClass(StrEnum):
    """What kind of work is meant, where no tool is named yet."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


class RouteExplainRequest(VersionedContract):
    """Asks which of the caller's servers a call should go to. What is left out does not narrow the choice."""

    tool_name: Text120 | None = Field(
        default=None, description="The tool; its own effect and policy count then, not ``action_class``."
    )
    action_class: RouteActionClass = RouteActionClass.READ
    provider: MCPProvider | None = None
    capability_id: Text160 | None = Field(
        default=None, description="Whose manifest may require certain servers: then no other is a candidate."
    )
    project_id: Text160 | None = Field(default=None, description="Servers that it is bound to come first.")
    runtime: Text80 | None = Field(default=None, description="The agent runtime whose lists count.")
    turn_ref: Text160 | None = Field(
        default=None, description="The agent's turn; an approval may hold for it."
    )
    session_ref: Text160 | None = Field(default=None, description="The agent's session, likewise.")
    data_class: Text80 | None = None
    native_path: bool = Field(
        default=False, description="Whether the runtime has a native capability for the same work."
    )
    allowed_servers: _ServerIds | None = Field(default=None, description="The only servers to consider.")
    ask_first_servers: _ServerIds = Field(default=(), description="Servers to count as asking first.")


class RouteCandidate(Contract):
    """A server that may be gone to: its score, higher is better, and in words what made it."""

    server_id: Text120
    display_name: Text160
    score: int = Field(ge=0)
    standing: RouteStanding
    reasons: tuple[Text240, ...] = Field(description="One for each step of the score, in its order.")
    policy: MCPPolicyMode
    policy_reason: Text240


class RouteLeftOut(Contract):
    """A server that was no candidate, and why."""

    server_id: Text120
    display_name: Text160
    why: Text240


class RouteExplanation(VersionedContract):
    """The way a call would go now. Nothing was called, and a call is judged anew when it is made.

    ``degraded`` names a server that is ill or signed out when there is no other: never take it silently.
    """

    decision: RouteVerdict
    server_id: Text120 | None = None
    score_breakdown: tuple[RouteCandidate, ...] = Field(default=(), description="Best first.")
    left_out: tuple[RouteLeftOut, ...] = ()
    notes: tuple[Text240, ...] = Field(default=(), description="What was asked and decided nothing, and why.")
    next_step: Text500
    policy_version: int = Field(ge=0)
    explained_at: UtcTime


class CapabilityExplainRequest(VersionedContract):
    """Which capability, and what is known of the wish for it."""

    capability_id: Text160
    user_query: Text500 | None = Field(
        default=None, description="What the user says: then also why it matches or does not."
    )
    project_id: Text160 | None = None
    runtime: Text80 | None = Field(default=None, description="The agent runtime whose lists of tools count.")


class SurfaceChoice(Contract):
    """One surface of the capability, whether it can be used now, and why or why not."""

    surface: ControlSurface
    available: bool
    reason: Text240


class CapabilityExplanation(VersionedContract):
    """Whether and how the capability would be used now. Nothing was carried out."""

    capability_id: Text160
    ability_id: Text160
    title: Text200
    would_be_used: bool
    why_not: tuple[Text240, ...] = Field(default=(), description="All that stands against it.")
    health: CapabilityHealthState
    bridge_state: BridgeState = Field(description="Whether what agent runtimes route by can be believed.")
    surfaces: tuple[SurfaceChoice, ...] = Field(description="Of the capability, the most semantic first.")
    chosen_surface: ControlSurface | None = None
    plan: HybridActionPlan | None = Field(
        default=None, description="Where it is read, acted and verified, and what is fallen back to."
    )
    route: RouteExplanation | None = Field(
        default=None, description="The tool server that it would go to, where it needs one."
    )
    match: AbilityExplainMatchResponse | None = None
    explained_at: UtcTime
