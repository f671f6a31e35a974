"""Tool calls: ask for one, look at them, give one up (DOC3 §0.2D; routes.md)."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from api.commands import answer_once
from api.dependencies import FrameDep, PageDep, Reader, ServicesDep, ToolUser
from api.deployment_gate import whole_part
from api.mcp_call_contents import shown_to
from api.paths import McpDispatchId
from api.wording import masked
from contracts.mcp.dispatch import (
    DispatchCancelRequest,
    DispatchListResponse,
    DispatchRequest,
    DispatchStatus,
    DispatchView,
)

NAME = r"^[A-Za-z0-9_./-]{1,120}$"
"""What servers and tools may be called in a filter (the protocol's rule for names of tools)."""

router = APIRouter(prefix="/api/mcp/dispatches", tags=["mcp"])


@router.post("", operation_id="mcp_dispatch_create", dependencies=[Depends(whole_part)])
async def create(
    body: DispatchRequest, caller: ToolUser, services: ServicesDep, frame: FrameDep
) -> DispatchView:
    """Asks for one call of one tool; it goes through policy, and waits for a person where it has to.

    The answer says how the call stands after ``wait_ms``; it goes on by itself, and GET tells what came of it.
    """
    key = frame.key_for(caller.user_id, body)

    async def act() -> DispatchView:
        return await services.mcp.dispatch_gateway.dispatch(body, caller, key, frame.correlation_id)

    found = await answer_once(services, frame.client_key(caller.user_id, body), act, DispatchView)
    return shown_to(caller, found)


@router.get("", operation_id="mcp_dispatch_list")
def list_dispatches(
    caller: Reader,
    services: ServicesDep,
    page: PageDep,
    status: DispatchStatus | None = None,
    server_id: Annotated[str | None, Query(pattern=NAME)] = None,
    tool_name: Annotated[str | None, Query(pattern=NAME)] = None,
) -> DispatchListResponse:
    """The caller's calls, newest first, without what was asked and answered."""
    return services.mcp.dispatches.list_for(
        caller.user_id,
        page,
        datetime.now(UTC),
        status=status,
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
    mcp_dispatch_id: McpDispatchId,
    body: DispatchCancelRequest,
    caller: ToolUser,
    services: ServicesDep,
    frame: FrameDep,
) -> DispatchView:
    """Gives a call up. One that was sent already may have had its effect, and then says so."""
    key = frame.key_for(caller.user_id, body)
    asked = body.model_copy(update={"reason": masked(body.reason)})

    async def act() -> DispatchView:
        return await services.mcp.dispatch_gateway.cancel(mcp_dispatch_id, asked, caller, key)

    found = await answer_once(services, frame.client_key(caller.user_id, body), act, DispatchView)
    return shown_to(caller, found)
