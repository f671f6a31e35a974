"""Which server a call goes to, which project is meant, and how a capability would be used, in the document."""

from typing import Any

from pydantic import BaseModel

from api.openapi_story import ABILITY_ID, BEGUN, SLUG, THEN, TITLE
from api.openapi_subjects.mcp_health import SERVER_ID
from contracts.abilities.lookup import AbilityExplainMatchResponse
from contracts.capabilities.bridge import BridgeState, HealthStatus
from contracts.capabilities.control_surface import ControlSurface
from contracts.capabilities.explain import CapabilityExplanation, SurfaceChoice
from contracts.capabilities.health import CapabilityHealthState, SessionAvailability
from contracts.capabilities.hybrid_action_plan import HybridActionPlan, HybridActionPlanStep
from contracts.errors import ErrorCode
from contracts.mcp.policy import MCPPolicyMode
from contracts.mcp.routing import (
    RouteCandidate,
    RouteExplanation,
    RouteLeftOut,
    RouteStanding,
    RouteVerdict,
)
from contracts.projects.source_binding import (
    ProjectMatch,
    ProjectSourceBinding,
    ResolutionState,
    ResolveProjectResponse,
    SourceOfTruth,
)

_NATIVE = ControlSurface.NATIVE_OPENCLAW_TOOL
_PROJECT = ProjectSourceBinding(
    project_id="harbour-bridge",
    aliases=("the bridge",),
    sharepoint_refs=("sites/harbour-bridge",),
    source_of_truth=SourceOfTruth.SHAREPOINT,
)

REQUESTS: dict[str, dict[str, Any]] = {
    "mcp_route_explain": {"tool_name": "mail_search", "project_id": "harbour-bridge", "runtime": "openclaw"},
    "mcp_project_resolve": {"query": "What is the newest plan of the bridge?"},
    "capability_explain": {"capability_id": ABILITY_ID, "user_query": "summarise the sales figures"},
}
MODELS: tuple[BaseModel, ...] = (
    RouteExplanation(
        decision=RouteVerdict.ALLOW,
        server_id=SERVER_ID,
        score_breakdown=(
            RouteCandidate(
                server_id=SERVER_ID,
                display_name="Office",
                score=211323,
                standing=RouteStanding.ELIGIBLE,
                reasons=(
                    "allowed",
                    "has the tool",
                    "of the project",
                    "healthy",
                    "remote_http",
                    "not throttled",
                ),
                policy=MCPPolicyMode.ENABLED,
                policy_reason="Reading is allowed by default.",
            ),
        ),
        left_out=(
            RouteLeftOut(
                server_id="tickets-0c1d2e3f40", display_name="Tickets", why="It has no tool mail_search."
            ),
        ),
        next_step="Call the tool of this server; the call is judged once more when it is made.",
        policy_version=4,
        explained_at=THEN,
    ),
    ResolveProjectResponse(
        matches=(ProjectMatch(binding=_PROJECT, confidence=0.9),),
        resolution_state=ResolutionState.RESOLVED,
    ),
    CapabilityExplanation(
        capability_id=ABILITY_ID,
        ability_id=ABILITY_ID,
        title=TITLE,
        would_be_used=True,
        health=CapabilityHealthState(
            capability_id=ABILITY_ID,
            health_status=HealthStatus.HEALTHY,
            session_availability=SessionAvailability.SUPPORTED,
            last_verified_at=BEGUN,
        ),
        bridge_state=BridgeState.FRESH,
        surfaces=(
            SurfaceChoice(surface=_NATIVE, available=True, reason="nothing that it requires is missing"),
        ),
        chosen_surface=_NATIVE,
        plan=HybridActionPlan(
            capability_id=ABILITY_ID,
            goal=TITLE,
            steps=(
                HybridActionPlanStep(
                    step_id=f"learned.{SLUG}", purpose=TITLE, act_surface=_NATIVE, verify_surface=_NATIVE
                ),
            ),
        ),
        match=AbilityExplainMatchResponse(
            ability_id=ABILITY_ID, matched=True, score=0.67, match_reasons=("title_match: 4 tokens",)
        ),
        explained_at=THEN,
    ),
)
ERRORS: dict[str, tuple[ErrorCode, ...]] = {
    "mcp_route_explain": (ErrorCode.NOT_FOUND,),
    "capability_explain": (ErrorCode.NOT_FOUND, ErrorCode.CONFLICT),
}
PATH_IDS: dict[str, ErrorCode] = {}
TAG: dict[str, str] | None = None
