"""How a tool server is, and trying it: connect, sign in, list the tools, call one (DOC3 §0.2D, §0.2H)."""

import anyio.to_thread
from fastapi import APIRouter

from api.dependencies import FrameDep, Installer, Reader, ServicesDep
from api.mcp_smoke_tests import SmokeTests
from api.paths import ServerId
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.health import MCPConnectionHealth, MCPSmokeTestRequest, MCPSmokeTestResponse

router = APIRouter(prefix="/api/mcp/servers", tags=["mcp"])


@router.get("/{server_id}/health", operation_id="mcp_server_health")
def health(server_id: ServerId, caller: Reader, services: ServicesDep) -> MCPConnectionHealth:
    """How the server is, as the last contact left it, and what to do next. Poll it: nothing is pushed."""
    services.mcp.servers.owned(server_id, caller.user_id)
    return services.mcp.health.owned(server_id, caller.user_id)


@router.post("/{server_id}/smoke-test", operation_id="mcp_server_smoke_test")
async def smoke_test(
    server_id: ServerId,
    body: MCPSmokeTestRequest,
    caller: Installer,
    services: ServicesDep,
    frame: FrameDep,
) -> MCPSmokeTestResponse:
    """Tries the server now. A named tool is called too, through policy and only where nobody has to be asked."""
    await anyio.to_thread.run_sync(services.mcp.servers.owned, server_id, caller.user_id)
    if body.server_id != server_id:
        raise Refusal(
            ErrorCode.VALIDATION_FAILED,
            "The body names another server than the path.",
            fields=[{"path": "body.server_id", "problem": f"must be {server_id}"}],
        )
    tests = SmokeTests(services.mcp)
    return await tests.run(body, caller, frame.key_for(caller.user_id, body), frame.correlation_id)
