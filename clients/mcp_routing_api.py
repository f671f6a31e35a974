"""The routes that explain where a call would go, as typed calls (DOC3 §1.8B)."""

from clients.api_transport import ApiTransport
from contracts.mcp.routing import RouteExplainRequest, RouteExplanation
from contracts.projects.source_binding import ResolveProjectRequest, ResolveProjectResponse


class McpRoutingApi:
    """Ways to the caller's servers. Every method may raise the errors of ``clients.api_transport``."""

    def __init__(self, http: ApiTransport) -> None:
        self._http = http

    def explain(self, request: RouteExplainRequest) -> RouteExplanation:
        """Which server a call would go to."""
        return self._http.write("POST", "/api/mcp/route/explain", RouteExplanation, request)

    def resolve_project(self, request: ResolveProjectRequest) -> ResolveProjectResponse:
        """Which project a request means."""
        return self._http.write("POST", "/api/mcp/project/resolve", ResolveProjectResponse, request)
