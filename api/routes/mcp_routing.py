"""Which server a call should go to, and which project a request means; both only answer (DOC3 §0.2E, §0.7, §1.8B)."""

from datetime import UTC, datetime

from fastapi import APIRouter

from api.dependencies import Reader, ServicesDep
from api.mcp_callers import calling_as
from contracts.mcp.routing import RouteExplainRequest, RouteExplanation
from contracts.projects.source_binding import ResolveProjectRequest, ResolveProjectResponse

router = APIRouter(prefix="/api/mcp", tags=["mcp"])


@router.post("/route/explain", operation_id="mcp_route_explain")
def explain_route(body: RouteExplainRequest, caller: Reader, services: ServicesDep) -> RouteExplanation:
    """Which of the caller's servers a call would go to now, every candidate's score, and why others are out.

    Nothing is called. A call is judged anew when it is made, by the tool that it names.
    """
    if body.capability_id is not None:
        services.capabilities.require_visible(body.capability_id, caller.user_id)
    asked_by = calling_as(caller, body.runtime, body.turn_ref, body.session_ref)
    return services.mcp.routes.explain(body, asked_by, datetime.now(UTC))


@router.post("/project/resolve", operation_id="mcp_project_resolve")
def resolve_project(
    body: ResolveProjectRequest, caller: Reader, services: ServicesDep
) -> ResolveProjectResponse:
    """Which of the projects that the caller has bound a request means, or what to ask where that is not certain.

    Bindings are the preference ``project_bindings``: POST /api/config/intents.
    """
    return services.mcp.projects.resolve(caller.user_id, body)
