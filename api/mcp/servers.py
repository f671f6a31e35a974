"""Tool servers and their tools: list, register, change, delete a server; list and pin its tools (DOC3 §0.2D)."""

from datetime import UTC, datetime
from functools import partial

import anyio.to_thread
from fastapi import APIRouter

from api.platform.dependencies import CommandFrame, FrameDep, Installer, Reader, ServicesDep
from api.platform.paths import ServerId, ToolName, masked
from contracts.mcp.servers import (
    MCPServerCreateRequest,
    MCPServerDeleteResponse,
    MCPServerListResponse,
    MCPServerMutationResponse,
    MCPServerPatchRequest,
)
from contracts.mcp.tools import MCPTool, MCPToolListResponse, MCPToolReviewRequest
from contracts.platform.identity import Principal
from stores.mcp.receipts import ReceiptContext

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
    asked = body.changed(display_name=masked(body.display_name))
    context = receipt_context(caller, frame, "")
    act = partial(services.mcp.servers.register, asked, frame.key_for(caller.user_id, body), context)
    made = await anyio.to_thread.run_sync(act)
    entry = made.server.registry
    is_new = entry.created_at == context.at  # and not the answer of an earlier request under the same key
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
    asked = body if body.display_name is None else body.changed(display_name=masked(body.display_name))
    act = partial(
        services.mcp.servers.patch,
        server_id,
        asked,
        frame.key_for(caller.user_id, body),
        receipt_context(caller, frame, server_id),
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
        receipt_context(caller, frame, server_id),
    )
    return await anyio.to_thread.run_sync(act)


def receipt_context(caller: Principal, frame: CommandFrame, server_id: str) -> ReceiptContext:
    """Owner, actor, correlation id and time for the receipt of a change to a server."""
    return ReceiptContext(
        f"mcp-server/{server_id}", caller.user_id, frame.correlation_id, datetime.now(UTC), caller.user_id
    )


tools = APIRouter(prefix="/api/mcp/servers/{server_id}/tools", tags=["mcp"])


@tools.get("", operation_id="mcp_tool_list")
def list_tools(server_id: ServerId, caller: Reader, services: ServicesDep) -> MCPToolListResponse:
    """The server's tools by name, each with its policy; of one that changed, the difference to what was pinned."""
    return services.mcp.tools.list_for(server_id, caller.user_id)


@tools.post("/{tool_name:path}/review", operation_id="mcp_tool_review")
async def review(
    server_id: ServerId,
    tool_name: ToolName,
    body: MCPToolReviewRequest,
    caller: Installer,
    services: ServicesDep,
    frame: FrameDep,
) -> MCPTool:
    """Pins the definition that was looked at; refused when the tool has moved on meanwhile."""
    act = partial(
        services.mcp.tools.review,
        server_id,
        tool_name,
        body,
        frame.key_for(caller.user_id, body),
        receipt_context(caller, frame, server_id),
    )
    return await anyio.to_thread.run_sync(act)
