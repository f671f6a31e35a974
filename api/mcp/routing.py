"""Read-only queries of the tool gateway: route explanation, project resolution, receipts (DOC3 §0.2D, §0.2E, §0.7)."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query

from api.platform.dependencies import Reader, ServicesDep
from contracts.mcp.receipts import MCPReceiptListResponse
from contracts.mcp.routing import RouteExplainRequest, RouteExplanation
from contracts.projects.source_binding import ResolveProjectRequest, ResolveProjectResponse
from domain.mcp.policy_facts import calling_as

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


receipts = APIRouter(prefix="/api/mcp/receipts", tags=["mcp"])

MAX_LIMIT = 200


@receipts.get("", operation_id="mcp_receipt_list")
def list_receipts(
    caller: Reader,
    services: ServicesDep,
    cursor: Annotated[
        int | None,
        Query(ge=1, le=2**53, description="`next_cursor` of the page before; none for the newest."),
    ] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT)] = 50,
) -> MCPReceiptListResponse:
    """The caller's receipts, newest first. They hold no argument, answer or secret."""
    return services.mcp.receipts.newest(caller.user_id, limit, cursor)
