"""The routes of tool servers, their tools and receipts as typed calls (DOC3 §0.2D)."""

from clients.api_transport import ApiTransport, path_part
from contracts.mcp.receipts import MCPReceiptListResponse
from contracts.mcp.server_registry import (
    MCPServerCreateRequest,
    MCPServerDeleteResponse,
    MCPServerListResponse,
    MCPServerMutationResponse,
    MCPServerPatchRequest,
)
from contracts.mcp.tools import MCPTool, MCPToolListResponse, MCPToolReviewRequest

_SERVERS = "/api/mcp/servers"


class McpRegistryApi:
    """The caller's tool servers. Every method may raise the errors of ``clients.api_transport``."""

    def __init__(self, http: ApiTransport) -> None:
        self._http = http

    def servers(self) -> MCPServerListResponse:
        """List them with badges and actions."""
        return self._http.get(_SERVERS, MCPServerListResponse)

    def register(self, request: MCPServerCreateRequest) -> MCPServerMutationResponse:
        """Add one."""
        return self._http.write("POST", f"{_SERVERS}/register", MCPServerMutationResponse, request)

    def patch(self, server_id: str, request: MCPServerPatchRequest) -> MCPServerMutationResponse:
        """Change what the request names; a null of it counts."""
        path = f"{_SERVERS}/{path_part(server_id)}"
        return self._http.write("PATCH", path, MCPServerMutationResponse, request, with_nulls=True)

    def delete(self, server_id: str) -> MCPServerDeleteResponse:
        """Remove one; its sign-in stays."""
        return self._http.write("DELETE", f"{_SERVERS}/{path_part(server_id)}", MCPServerDeleteResponse)

    def tools(self, server_id: str) -> MCPToolListResponse:
        """List the tools of one by name."""
        return self._http.get(f"{_SERVERS}/{path_part(server_id)}/tools", MCPToolListResponse)

    def review(self, server_id: str, tool_name: str, request: MCPToolReviewRequest) -> MCPTool:
        """Pin the definition that was looked at."""
        path = f"{_SERVERS}/{path_part(server_id)}/tools/{path_part(tool_name)}/review"
        return self._http.write("POST", path, MCPTool, request)

    def receipts(self, limit: int = 50, cursor: str | None = None) -> MCPReceiptListResponse:
        """List receipts, newest first; ``cursor`` is the ``next_cursor`` of the page before."""
        return self._http.get("/api/mcp/receipts", MCPReceiptListResponse, limit=limit, cursor=cursor)
