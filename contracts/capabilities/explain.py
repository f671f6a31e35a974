"""How a capability would be carried out now, and why: asked and answered without doing it (DOC3 §1.1E, §1.8B)."""

from pydantic import Field

from contracts.abilities.lookup import AbilityExplainMatchResponse
from contracts.base import Contract, Text80, Text160, Text200, Text240, Text500, UtcTime, VersionedContract
from contracts.capabilities.bridge import BridgeState
from contracts.capabilities.control_surface import ControlSurface
from contracts.capabilities.health import CapabilityHealthState
from contracts.capabilities.hybrid_action_plan import HybridActionPlan
from contracts.mcp.routing import RouteExplanation


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
