"""Typed API calls: tool servers, sign-ins, policy, tool calls, health, routing, Acrobat (DOC3 §0.2D, §0.2F, §1.8B)."""

from typing import Any

from clients.apprentice.transport import ApiRoutes, path_part
from contracts.documents.acrobat import (
    AcrobatAdapterHealth,
    AcrobatCapability,
    AcrobatOperationResponse,
    AcrobatOutput,
    AcrobatSource,
    AcrobatSourceRef,
)
from contracts.learning.responses import DeletedResponse
from contracts.mcp.auth import (
    MCPAuthProfile,
    MCPAuthProfileCreateRequest,
    MCPAuthProfileDeleteResponse,
    MCPAuthProfileListResponse,
    MCPAuthProfileSecretRequest,
    MCPAuthRefreshRequest,
    MCPAuthRevokeRequest,
    MCPAuthRevokeResponse,
    MCPAuthStartRequest,
    MCPAuthStartResponse,
    MCPServerAuthStatus,
)
from contracts.mcp.dispatch import (
    AskFirstDecision,
    DispatchCancelRequest,
    DispatchListResponse,
    DispatchRequest,
    DispatchView,
    MCPAskFirstDecisionRequest,
    MCPAskFirstDecisionResponse,
    MCPAskFirstPendingListResponse,
    MCPGrant,
    MCPGrantListResponse,
)
from contracts.mcp.health import MCPConnectionHealth, MCPSmokeTestRequest, MCPSmokeTestResponse
from contracts.mcp.policy import (
    MCPEffectivePolicy,
    MCPPolicyListResponse,
    MCPPolicyPreviewRequest,
    MCPPolicyPreviewResponse,
    MCPPolicyUpdateRequest,
    MCPProviderPolicy,
    MCPProviderPolicyListResponse,
    MCPProviderPolicyUpdateRequest,
)
from contracts.mcp.receipts import MCPReceiptListResponse
from contracts.mcp.routing import RouteExplainRequest, RouteExplanation
from contracts.mcp.servers import (
    MCPServerCreateRequest,
    MCPServerDeleteResponse,
    MCPServerListResponse,
    MCPServerMutationResponse,
    MCPServerPatchRequest,
)
from contracts.mcp.tools import MCPTool, MCPToolListResponse, MCPToolReviewRequest
from contracts.projects.source_binding import ResolveProjectRequest, ResolveProjectResponse

_SERVERS = "/api/mcp/servers"


class McpRegistryApi(ApiRoutes):
    """The caller's tool servers."""

    def servers(self, **query: str | int | None) -> MCPServerListResponse:
        """List them with badges and actions; ``query`` has page, page_size, sort, q and filters."""
        return self._http.get(_SERVERS, MCPServerListResponse, retried=True, **query)

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


_PROFILES = "/api/mcp/auth-profiles"


class McpSignInApi(ApiRoutes):
    """The caller's sign-ins."""

    def status(self, server_id: str) -> MCPServerAuthStatus:
        """See how a server's sign-in stands."""
        return self._http.get(f"{_auth(server_id)}/status", MCPServerAuthStatus)

    def start(self, request: MCPAuthStartRequest) -> MCPAuthStartResponse:
        """Begin one."""
        path = f"{_auth(request.server_id)}/start"
        return self._http.write("POST", path, MCPAuthStartResponse, request)

    def refresh(self, request: MCPAuthRefreshRequest) -> MCPServerAuthStatus:
        """Renew its token."""
        path = f"{_auth(request.server_id)}/refresh"
        return self._http.write("POST", path, MCPServerAuthStatus, request)

    def revoke(self, request: MCPAuthRevokeRequest) -> MCPAuthRevokeResponse:
        """End one."""
        path = f"{_auth(request.server_id)}/revoke"
        return self._http.write("POST", path, MCPAuthRevokeResponse, request)

    def profiles(self, **query: str | int | None) -> MCPAuthProfileListResponse:
        """List them, newest first; ``query`` has page, page_size, sort, q and filters."""
        return self._http.get(_PROFILES, MCPAuthProfileListResponse, retried=True, **query)

    def create(self, request: MCPAuthProfileCreateRequest) -> MCPAuthProfile:
        """Make one."""
        return self._http.write("POST", _PROFILES, MCPAuthProfile, request)

    def enter_secret(self, auth_profile_id: str, request: MCPAuthProfileSecretRequest) -> MCPAuthProfile:
        """Enter its API key or client secret."""
        path = f"{_PROFILES}/{path_part(auth_profile_id)}/secret"
        return self._http.write("PUT", path, MCPAuthProfile, request)

    def remove(self, auth_profile_id: str) -> MCPAuthProfileDeleteResponse:
        """Delete one that no server uses."""
        path = f"{_PROFILES}/{path_part(auth_profile_id)}"
        return self._http.write("DELETE", path, MCPAuthProfileDeleteResponse)


def _auth(server_id: str) -> str:
    return f"/api/mcp/servers/{path_part(server_id)}/auth"


_POLICY = "/api/mcp/policy"
_GRANTS = "/api/mcp/grants"


class McpPolicyApi(ApiRoutes):
    """The caller's policy."""

    def policy(self, page: int = 1, page_size: int = 25) -> MCPPolicyListResponse:
        """A page of what was decided, newest first, and the defaults."""
        return self._http.get(_POLICY, MCPPolicyListResponse, page=page, page_size=page_size)

    def update(self, request: MCPPolicyUpdateRequest) -> MCPEffectivePolicy:
        """Decide for a target."""
        return self._http.write("POST", f"{_POLICY}/update", MCPEffectivePolicy, request)

    def preview(self, request: MCPPolicyPreviewRequest) -> MCPPolicyPreviewResponse:
        """Which of the newest calls would go otherwise."""
        return self._http.write("POST", f"{_POLICY}/preview", MCPPolicyPreviewResponse, request)

    def runtimes(self) -> MCPProviderPolicyListResponse:
        """What the runtimes of each provider may use."""
        return self._http.get(f"{_POLICY}/runtimes", MCPProviderPolicyListResponse)

    def replace_runtimes(self, request: MCPProviderPolicyUpdateRequest) -> MCPProviderPolicy:
        """Replace the lists of one provider's runtimes."""
        return self._http.write("PUT", f"{_POLICY}/runtimes", MCPProviderPolicy, request)

    def grants(self, *, include_past: bool = False, **query: str | int | None) -> MCPGrantListResponse:
        """List standing approvals, newest first; ``query`` has page, page_size, sort, q and filters."""
        past = "true" if include_past else None
        return self._http.get(_GRANTS, MCPGrantListResponse, include_past=past, retried=True, **query)

    def revoke(self, grant_id: str) -> MCPGrant:
        """Take one back."""
        return self._http.write("DELETE", f"{_GRANTS}/{path_part(grant_id)}", MCPGrant)


_CALLS = "/api/mcp/dispatches"
_ASK_FIRST = "/api/mcp/ask-first"


class McpDispatchApi(ApiRoutes):
    """The caller's tool calls."""

    def call(self, request: DispatchRequest) -> DispatchView:
        """Ask for one call."""
        return self._http.write("POST", _CALLS, DispatchView, request)

    def calls(
        self,
        *,
        page: int = 1,
        status: str | None = None,
        server_id: str | None = None,
        tool_name: str | None = None,
    ) -> DispatchListResponse:
        """List calls, newest first."""
        return self._http.get(
            _CALLS,
            DispatchListResponse,
            page=str(page),
            status=status,
            server_id=server_id,
            tool_name=tool_name,
        )

    def show(self, dispatch_id: str) -> DispatchView:
        """One call with what was asked and answered."""
        return self._http.get(f"{_CALLS}/{path_part(dispatch_id)}", DispatchView)

    def cancel(self, dispatch_id: str, reason: str | None = None) -> DispatchView:
        """Give a call up."""
        path = f"{_CALLS}/{path_part(dispatch_id)}/cancel"
        return self._http.write("POST", path, DispatchView, DispatchCancelRequest(reason=reason))

    def pending(self, **query: str | int | None) -> MCPAskFirstPendingListResponse:
        """The calls that wait for a person; ``query`` has page, page_size, sort, q and filters."""
        return self._http.get(f"{_ASK_FIRST}/pending", MCPAskFirstPendingListResponse, retried=True, **query)

    def decide(self, dispatch_id: str, request: MCPAskFirstDecisionRequest) -> MCPAskFirstDecisionResponse:
        """Approve or deny a call that waits."""
        route = "deny" if request.decision is AskFirstDecision.DENY else "approve"
        path = f"{_ASK_FIRST}/{path_part(dispatch_id)}/{route}"
        return self._http.write("POST", path, MCPAskFirstDecisionResponse, request)


class McpHealthApi(ApiRoutes):
    """Health and smoke tests."""

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


class McpRoutingApi(ApiRoutes):
    """Ways to the caller's servers."""

    def explain(self, request: RouteExplainRequest) -> RouteExplanation:
        """Which server a call would go to."""
        return self._http.write("POST", "/api/mcp/route/explain", RouteExplanation, request)

    def resolve_project(self, request: ResolveProjectRequest) -> ResolveProjectResponse:
        """Which project a request means."""
        return self._http.write("POST", "/api/mcp/project/resolve", ResolveProjectResponse, request)


_ROOT = "/api/adapters/acrobat"
_ROUTES = {
    AcrobatCapability.EXTRACT_TEXT: "extract-text",
    AcrobatCapability.EXTRACT_TABLES: "extract-tables",
    AcrobatCapability.OCR: "ocr",
    AcrobatCapability.REDACTION_PREP: "redaction-prep",
}


class AcrobatApi(ApiRoutes):
    """Operations on PDF documents."""

    def health(self) -> AcrobatAdapterHealth:
        """What can be done now."""
        return self._http.get(f"{_ROOT}/health", AcrobatAdapterHealth)

    def hand_in(self, content: bytes) -> AcrobatSource:
        """Hand in a document, which is kept for seven days."""
        headers = {"Content-Type": "application/pdf"}
        answer = self._http.send("POST", f"{_ROOT}/sources", content=content, headers=headers)
        return AcrobatSource.model_validate_json(answer.content)

    def operate(self, capability: AcrobatCapability, request: AcrobatSourceRef) -> AcrobatOperationResponse:
        """Ask for an operation; the same ``client_request_id`` again tells how it stands."""
        path = f"{_ROOT}/{_ROUTES[capability]}"
        # A key of the transport's own would make each request another one.
        return self._http.write("POST", path, AcrobatOperationResponse, request, request.client_request_id)

    def output(self, output_ref: str) -> AcrobatOutput:
        """Fetch what an operation found."""
        return self._http.get(f"{_ROOT}/outputs/{path_part(output_ref.rpartition('/')[2])}", AcrobatOutput)

    def forget(self, ref: str) -> DeletedResponse:
        """Forget a document or an output, by its reference or its digest."""
        path = f"{_ROOT}/artifacts/{path_part(ref.rpartition('/')[2])}"
        return self._http.write("DELETE", path, DeletedResponse)
