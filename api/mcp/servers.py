"""Tool servers and their tools: list, register, change, delete a server; list and pin its tools (DOC3 §0.2D)."""

from datetime import UTC, datetime
from functools import partial
from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, Depends

from api.platform.commands import CommandFrame, InstallerFrame, masked
from api.platform.dependencies import Reader, ServerId, ServicesDep, ToolName
from api.platform.lists import ListOf, ListRequest
from contracts.mcp.servers import (
    MCPServerCreateRequest,
    MCPServerDeleteResponse,
    MCPServerListResponse,
    MCPServerMutationResponse,
    MCPServerPatchRequest,
    MCPServerRegistryEntry,
)
from contracts.mcp.tools import MCPTool, MCPToolListResponse, MCPToolReviewRequest
from stores.mcp.receipts import ReceiptContext

router = APIRouter(prefix="/api/mcp/servers", tags=["mcp"])

_SERVERS = ListOf(
    "servers",
    MCPServerRegistryEntry,
    "display_name server_id provider transport enabled created_at updated_at",
    filters="provider transport enabled",
    within="registry",
)


_TOOLS = ListOf(
    "tools",
    MCPTool,
    "tool_name=definition.tool_name state effect first_seen_at updated_at",
    filters="state effect",
)


@router.get("", operation_id="mcp_server_list")
def list_servers(
    caller: Reader, services: ServicesDep, wanted: Annotated[ListRequest, Depends(_SERVERS.wanted)]
) -> MCPServerListResponse:
    """The caller's tool servers with badges and actions, then those that are deferred and only shown."""
    return _SERVERS.listed(services.mcp.servers.list_for(caller.user_id), wanted)


@router.post("/register", operation_id="mcp_server_register", status_code=201)
async def register(body: MCPServerCreateRequest, frame: InstallerFrame) -> MCPServerMutationResponse:
    """A new server. Its first probe is started, and its tools are known when that has ended."""
    asked = body.changed(display_name=masked(body.display_name))
    context = receipt_context(frame, "mcp-server/")
    act = partial(frame.services.mcp.servers.register, asked, frame.key_for(body), context)
    made = await anyio.to_thread.run_sync(act)
    entry = made.server.registry
    is_new = entry.created_at == context.at  # and not the answer of an earlier request under the same key
    if is_new and entry.enabled and entry.supports_smoke_test:
        await frame.services.mcp.probes.probe_soon(entry.server_id, frame.owner, frame.correlation_id)
    return made


@router.patch("/{server_id}", operation_id="mcp_server_patch")
async def patch(
    server_id: ServerId, body: MCPServerPatchRequest, frame: InstallerFrame
) -> MCPServerMutationResponse:
    """Changes what is named; a server that is switched off is not called, any other is probed anew."""
    asked = body if body.display_name is None else body.changed(display_name=masked(body.display_name))
    act = partial(
        frame.services.mcp.servers.patch,
        server_id,
        asked,
        frame.key_for(body),
        receipt_context(frame, f"mcp-server/{server_id}"),
    )
    changed = await anyio.to_thread.run_sync(act)
    if changed.updated and changed.server.registry.enabled:
        await frame.services.mcp.probes.probe_soon(server_id, frame.owner, frame.correlation_id)
    return changed


@router.delete("/{server_id}", operation_id="mcp_server_delete")
async def delete(server_id: ServerId, frame: InstallerFrame) -> MCPServerDeleteResponse:
    """Removes the server and takes its standing approvals back; its sign-in stays.

    Refused while calls of it run or wait for an approval.
    """
    act = partial(
        frame.services.mcp.servers.delete,
        server_id,
        frame.key_for(None),
        receipt_context(frame, f"mcp-server/{server_id}"),
    )
    return await anyio.to_thread.run_sync(act)


def receipt_context(frame: CommandFrame, aggregate: str) -> ReceiptContext:
    """Owner, actor, correlation id and time for the receipt of a change to ``aggregate``."""
    return ReceiptContext(aggregate, frame.owner, frame.correlation_id, datetime.now(UTC), frame.owner)


tools = APIRouter(prefix="/api/mcp/servers/{server_id}/tools", tags=["mcp"])


@tools.get("", operation_id="mcp_tool_list")
def list_tools(
    server_id: ServerId,
    caller: Reader,
    services: ServicesDep,
    wanted: Annotated[ListRequest, Depends(_TOOLS.wanted)],
) -> MCPToolListResponse:
    """The server's tools by name, each with its policy; of one that changed, the difference to what was pinned."""
    return _TOOLS.listed(services.mcp.tools.list_for(server_id, caller.user_id), wanted)


@tools.post("/{tool_name:path}/review", operation_id="mcp_tool_review")
async def review(
    server_id: ServerId, tool_name: ToolName, body: MCPToolReviewRequest, frame: InstallerFrame
) -> MCPTool:
    """Pins the definition that was looked at; refused when the tool has moved on meanwhile."""
    act = partial(
        frame.services.mcp.tools.review,
        server_id,
        tool_name,
        body,
        frame.key_for(body),
        receipt_context(frame, f"mcp-server/{server_id}"),
    )
    return await anyio.to_thread.run_sync(act)
