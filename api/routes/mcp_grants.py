"""Standing approvals: what approvals allow beyond their own call, and taking that back."""

from datetime import UTC, datetime
from functools import partial
from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, Query

from api.dependencies import Approver, FrameDep, Reader, ServicesDep
from api.paths import GrantId
from contracts.mcp.dispatch import MCPGrant, MCPGrantListResponse
from stores.mcp.receipts import Told

router = APIRouter(prefix="/api/mcp/grants", tags=["mcp"])


@router.get("", operation_id="mcp_grant_list")
def list_grants(
    caller: Reader,
    services: ServicesDep,
    include_past: Annotated[bool, Query(description="Also those that were taken back or are over.")] = False,
) -> MCPGrantListResponse:
    """The caller's standing approvals, newest first, at most 500."""
    return services.mcp.grants.list_for(caller.user_id, datetime.now(UTC), include_past=include_past)


@router.delete("/{grant_id}", operation_id="mcp_grant_revoke")
async def revoke(grant_id: GrantId, caller: Approver, services: ServicesDep, frame: FrameDep) -> MCPGrant:
    """Takes a standing approval back: the next call of the tool asks again. Who asks twice learns who was first."""
    told = Told(
        aggregate=f"mcp-grant/{grant_id}",
        owner=caller.user_id,
        correlation_id=frame.correlation_id,
        at=datetime.now(UTC),
        actor=caller.user_id,
    )
    act = partial(services.mcp.grants.revoke, grant_id, frame.key_for(caller.user_id, None), told)
    return await anyio.to_thread.run_sync(act)
