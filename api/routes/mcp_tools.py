"""The tools of a server: what it says of them, what a person pinned, and pinning one."""

from functools import partial

import anyio.to_thread
from fastapi import APIRouter

from api.dependencies import FrameDep, Installer, Reader, ServicesDep
from api.paths import ServerId, ToolName
from api.routes.mcp_servers import told_by
from contracts.mcp.tools import MCPTool, MCPToolListResponse, MCPToolReviewRequest

router = APIRouter(prefix="/api/mcp/servers/{server_id}/tools", tags=["mcp"])


@router.get("", operation_id="mcp_tool_list")
def list_tools(server_id: ServerId, caller: Reader, services: ServicesDep) -> MCPToolListResponse:
    """The server's tools by name, each with its policy; of one that changed, the difference to what was pinned."""
    return services.mcp.tools.list_for(server_id, caller.user_id)


@router.post("/{tool_name:path}/review", operation_id="mcp_tool_review")
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
        told_by(caller, frame, server_id),
    )
    return await anyio.to_thread.run_sync(act)
