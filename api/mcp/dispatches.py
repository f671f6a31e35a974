"""Tool calls: request, read, cancel, and approve or deny those that wait (DOC3 §0.2D, L2353-2355, L2443-2466)."""

from datetime import UTC, datetime
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from api.platform.commands import ApproverFrame, CommandFrame, ToolUserFrame, masked
from api.platform.dependencies import (
    AnyOf,
    McpDispatchId,
    PageDep,
    Reader,
    ServicesDep,
    TrueOrFalse,
    whole_part,
)
from api.platform.lists import ListOf, ListRequest
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.dispatch import (
    AskFirstDecision,
    DispatchCancelRequest,
    DispatchListResponse,
    DispatchRequest,
    DispatchStatus,
    DispatchView,
    MCPAskFirstDecisionRequest,
    MCPAskFirstDecisionResponse,
    MCPAskFirstDispatchRecord,
    MCPAskFirstPendingListResponse,
)
from domain.mcp.policy_facts import shown_to

NAME = r"^[A-Za-z0-9_./-]{1,120}$"
"""What servers and tools may be called in a filter (the protocol's rule for names of tools)."""

router = APIRouter(prefix="/api/mcp/dispatches", tags=["mcp"])

_PENDING = ListOf(
    "dispatches",
    MCPAskFirstDispatchRecord,
    "request_summary server_id tool_name status created_at expires_at",
    filters="server_id tool_name status",
)


@router.post("", operation_id="mcp_dispatch_create", dependencies=[Depends(whole_part)])
async def create(body: DispatchRequest, frame: ToolUserFrame) -> DispatchView:
    """Asks for one call of one tool; it goes through policy, and waits for a person where it has to.

    The answer has the state of the call after ``wait_ms``; it continues by itself, and GET returns its result.
    """
    key = frame.key_for(body)
    gateway = frame.services.mcp.dispatch_gateway
    act = partial(gateway.dispatch, body, frame.caller, key, frame.correlation_id)
    found = await frame.answer_once(body, act, DispatchView)
    return shown_to(frame.caller, found)


@router.get("", operation_id="mcp_dispatch_list")
def list_dispatches(
    caller: Reader,
    services: ServicesDep,
    page: PageDep,
    status: AnyOf[DispatchStatus] = None,
    decided: Annotated[
        TrueOrFalse | None,
        Query(
            description="Of those that a person was asked about: the answered and expired, or the waiting."
        ),
    ] = None,
    server_id: Annotated[str | None, Query(pattern=NAME)] = None,
    tool_name: Annotated[str | None, Query(pattern=NAME)] = None,
) -> DispatchListResponse:
    """The caller's calls, newest first, without what was asked and answered."""
    return services.mcp.dispatches.list_for(
        caller.user_id,
        page,
        datetime.now(UTC),
        statuses=status or (),
        decided=decided,
        server_id=server_id,
        tool_name=tool_name,
    )


@router.get("/{mcp_dispatch_id}", operation_id="mcp_dispatch_get")
def get(mcp_dispatch_id: McpDispatchId, caller: Reader, services: ServicesDep) -> DispatchView:
    """One call; what was asked and answered only for the token that made it, and for those who may approve."""
    view = services.mcp.dispatches.view(mcp_dispatch_id, caller.user_id, datetime.now(UTC))
    return shown_to(caller, view)


@router.post("/{mcp_dispatch_id}/cancel", operation_id="mcp_dispatch_cancel")
async def cancel(
    mcp_dispatch_id: McpDispatchId, body: DispatchCancelRequest, frame: ToolUserFrame
) -> DispatchView:
    """Cancels a call. One that was already sent may have had its effect; its status then shows that."""
    key = frame.key_for(body)
    asked = body.changed(reason=masked(body.reason))
    act = partial(frame.services.mcp.dispatch_gateway.cancel, mcp_dispatch_id, asked, frame.caller, key)
    found = await frame.answer_once(body, act, DispatchView)
    return shown_to(frame.caller, found)


ask_first = APIRouter(prefix="/api/mcp/ask-first", tags=["mcp"])


@ask_first.get("/pending", operation_id="mcp_ask_first_pending")
def pending(
    caller: Reader, services: ServicesDep, wanted: Annotated[ListRequest, Depends(_PENDING.wanted)]
) -> MCPAskFirstPendingListResponse:
    """The calls that wait, and those that expired within a day, newest first."""
    return _PENDING.listed(services.mcp.dispatches.pending(caller.user_id, datetime.now(UTC)), wanted)


@ask_first.post(
    "/{mcp_dispatch_id}/approve", operation_id="mcp_ask_first_approve", dependencies=[Depends(whole_part)]
)
async def approve(
    mcp_dispatch_id: McpDispatchId, body: MCPAskFirstDecisionRequest, frame: ApproverFrame
) -> MCPAskFirstDecisionResponse:
    """Lets a call pass: once, until the end of its turn, or for its session; with other arguments if given."""
    if body.decision is AskFirstDecision.DENY:
        raise _wrong_route("deny")
    return await _decide(mcp_dispatch_id, body, frame)


@ask_first.post("/{mcp_dispatch_id}/deny", operation_id="mcp_ask_first_deny")
async def deny(
    mcp_dispatch_id: McpDispatchId, body: MCPAskFirstDecisionRequest, frame: ApproverFrame
) -> MCPAskFirstDecisionResponse:
    """Refuses a call; nothing is sent, and nothing is tried again."""
    if body.decision is not AskFirstDecision.DENY or body.arguments is not None:
        raise _wrong_route("approve")
    return await _decide(mcp_dispatch_id, body, frame)


async def _decide(
    dispatch_id: str, body: MCPAskFirstDecisionRequest, frame: CommandFrame
) -> MCPAskFirstDecisionResponse:
    asked = body.changed(reason=masked(body.reason))
    gateway = frame.services.mcp.dispatch_gateway
    return await gateway.decide(dispatch_id, asked, frame.caller, frame.key_for(body))


def _wrong_route(other: str) -> Refusal:
    return Refusal(
        ErrorCode.VALIDATION_FAILED,
        f"This decision belongs to POST /api/mcp/ask-first/{{dispatch_id}}/{other}.",
        fields=["decision"],
    )
