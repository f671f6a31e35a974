"""The routes of the health of tool servers as typed calls (DOC3 §0.2D)."""

from typing import Any

from clients.api_transport import ApiTransport
from contracts.mcp.health import MCPConnectionHealth, MCPSmokeTestRequest, MCPSmokeTestResponse


class McpHealthApi:
    """Health and smoke tests. Every method may raise the errors of ``clients.api_transport``."""

    def __init__(self, http: ApiTransport) -> None:
        self._http = http

    def health(self, server_id: str) -> MCPConnectionHealth:
        """Read how a server is."""
        return self._http.get(f"/api/mcp/servers/{server_id}/health", MCPConnectionHealth)

    def smoke_test(
        self,
        server_id: str,
        *,
        tool_name: str | None = None,
        arguments: dict[str, Any] | None = None,
        max_duration_ms: int = 10_000,
    ) -> MCPSmokeTestResponse:
        """Try a server now."""
        request = MCPSmokeTestRequest(
            server_id=server_id,
            tool_name=tool_name,
            payload_preview=arguments,
            max_duration_ms=max_duration_ms,
        )
        path = f"/api/mcp/servers/{server_id}/smoke-test"
        return self._http.write("POST", path, MCPSmokeTestResponse, request)
