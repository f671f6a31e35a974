"""Calls that wait for a person: list them, approve, edit and approve, deny (DOC3 L2353-2355, L2443-2466)."""

from datetime import UTC, datetime

from fastapi import APIRouter

from api.dependencies import Approver, CommandFrame, FrameDep, Reader, ServicesDep
from api.paths import McpDispatchId
from api.services import Services
from api.wording import masked
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.dispatch import (
    AskFirstDecision,
    MCPAskFirstDecisionRequest,
    MCPAskFirstDecisionResponse,
    MCPAskFirstPendingListResponse,
)
from contracts.runtime.identity import Principal

router = APIRouter(prefix="/api/mcp/ask-first", tags=["mcp"])


@router.get("/pending", operation_id="mcp_ask_first_pending")
def pending(caller: Reader, services: ServicesDep) -> MCPAskFirstPendingListResponse:
    """The calls that wait, and those that expired within a day, newest first."""
    return services.mcp.dispatches.pending(caller.user_id, datetime.now(UTC))


@router.post("/{mcp_dispatch_id}/approve", operation_id="mcp_ask_first_approve")
async def approve(
    mcp_dispatch_id: McpDispatchId,
    body: MCPAskFirstDecisionRequest,
    caller: Approver,
    services: ServicesDep,
    frame: FrameDep,
) -> MCPAskFirstDecisionResponse:
    """Lets a call pass: once, until the end of its turn, or for its session; with other arguments if given."""
    if body.decision is AskFirstDecision.DENY:
        raise _wrong_route("deny")
    return await _decide(mcp_dispatch_id, body, caller, services, frame)


@router.post("/{mcp_dispatch_id}/deny", operation_id="mcp_ask_first_deny")
async def deny(
    mcp_dispatch_id: McpDispatchId,
    body: MCPAskFirstDecisionRequest,
    caller: Approver,
    services: ServicesDep,
    frame: FrameDep,
) -> MCPAskFirstDecisionResponse:
    """Refuses a call; nothing is sent, and nothing is tried again."""
    if body.decision is not AskFirstDecision.DENY or body.arguments is not None:
        raise _wrong_route("approve")
    return await _decide(mcp_dispatch_id, body, caller, services, frame)


async def _decide(
    dispatch_id: str,
    body: MCPAskFirstDecisionRequest,
    caller: Principal,
    services: Services,
    frame: CommandFrame,
) -> MCPAskFirstDecisionResponse:
    asked = body.model_copy(update={"reason": masked(body.reason)})
    key = frame.key_for(caller.user_id, body)
    return await services.mcp.dispatch_gateway.decide(dispatch_id, asked, caller, key)


def _wrong_route(other: str) -> Refusal:
    return Refusal(
        ErrorCode.VALIDATION_FAILED,
        f"This decision belongs to POST /api/mcp/ask-first/{{dispatch_id}}/{other}.",
        fields=["decision"],
    )
