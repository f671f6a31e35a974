"""Tool servers: the list that cards and badges come from, and to register, change and delete one (DOC3 §0.2D)."""

from datetime import UTC, datetime
from functools import partial

import anyio.to_thread
from fastapi import APIRouter

from api.dependencies import CommandFrame, FrameDep, Installer, Reader, ServicesDep
from api.paths import ServerId
from api.wording import masked
from contracts.mcp.server_registry import (
    MCPServerCreateRequest,
    MCPServerDeleteResponse,
    MCPServerListResponse,
    MCPServerMutationResponse,
    MCPServerPatchRequest,
)
from contracts.runtime.identity import Principal
from stores.mcp.receipts import Told

router = APIRouter(prefix="/api/mcp/servers", tags=["mcp"])


@router.get("", operation_id="mcp_server_list")
def list_servers(caller: Reader, services: ServicesDep) -> MCPServerListResponse:
    """The caller's tool servers with badges and actions, then those that are deferred and only shown."""
    return services.mcp.servers.list_for(caller.user_id)


@router.post("/register", operation_id="mcp_server_register", status_code=201)
async def register(
    body: MCPServerCreateRequest, caller: Installer, services: ServicesDep, frame: FrameDep
) -> MCPServerMutationResponse:
    """A new server. Its first probe is started, and its tools are known when that has ended."""
    asked = body.model_copy(update={"display_name": masked(body.display_name)})
    told = told_by(caller, frame, "")
    act = partial(services.mcp.servers.register, asked, frame.key_for(caller.user_id, body), told)
    made = await anyio.to_thread.run_sync(act)
    entry = made.server.registry
    is_new = entry.created_at == told.at  # and not the answer of an earlier request under the same key
    if is_new and entry.enabled and entry.supports_smoke_test:
        await services.mcp.probes.probe_soon(entry.server_id, caller.user_id, frame.correlation_id)
    return made


@router.patch("/{server_id}", operation_id="mcp_server_patch")
async def patch(
    server_id: ServerId,
    body: MCPServerPatchRequest,
    caller: Installer,
    services: ServicesDep,
    frame: FrameDep,
) -> MCPServerMutationResponse:
    """Changes what is named; a server that is switched off is not called, any other is probed anew."""
    asked = (
        body
        if body.display_name is None
        else body.model_copy(update={"display_name": masked(body.display_name)})
    )
    act = partial(
        services.mcp.servers.patch,
        server_id,
        asked,
        frame.key_for(caller.user_id, body),
        told_by(caller, frame, server_id),
    )
    changed = await anyio.to_thread.run_sync(act)
    if changed.updated and changed.server.registry.enabled:
        await services.mcp.probes.probe_soon(server_id, caller.user_id, frame.correlation_id)
    return changed


@router.delete("/{server_id}", operation_id="mcp_server_delete")
async def delete(
    server_id: ServerId, caller: Installer, services: ServicesDep, frame: FrameDep
) -> MCPServerDeleteResponse:
    """Removes the server and takes its standing approvals back; its sign-in stays.

    Refused while calls of it run or wait for an approval.
    """
    act = partial(
        services.mcp.servers.delete,
        server_id,
        frame.key_for(caller.user_id, None),
        told_by(caller, frame, server_id),
    )
    return await anyio.to_thread.run_sync(act)


def told_by(caller: Principal, frame: CommandFrame, server_id: str) -> Told:
    """Who does what to a server, now."""
    return Told(
        f"mcp-server/{server_id}", caller.user_id, frame.correlation_id, datetime.now(UTC), caller.user_id
    )
