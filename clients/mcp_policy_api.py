"""The routes of policy and standing approvals as typed calls (DOC3 §0.2D; ADR 15)."""

from clients.api_transport import ApiTransport, path_part
from contracts.mcp.dispatch import MCPGrant, MCPGrantListResponse
from contracts.mcp.policy import MCPEffectivePolicy, MCPPolicyUpdateRequest
from contracts.mcp.policy_preview import MCPPolicyPreviewRequest, MCPPolicyPreviewResponse
from contracts.mcp.runtime_policy import (
    MCPPolicyListResponse,
    MCPProviderPolicy,
    MCPProviderPolicyListResponse,
    MCPProviderPolicyUpdateRequest,
)

_POLICY = "/api/mcp/policy"
_GRANTS = "/api/mcp/grants"


class McpPolicyApi:
    """The caller's policy. Every method may raise the errors of ``clients.api_transport``."""

    def __init__(self, http: ApiTransport) -> None:
        self._http = http

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

    def grants(self, *, include_past: bool = False) -> MCPGrantListResponse:
        """List standing approvals, newest first."""
        return self._http.get(_GRANTS, MCPGrantListResponse, include_past="true" if include_past else None)

    def revoke(self, grant_id: str) -> MCPGrant:
        """Take one back."""
        return self._http.write("DELETE", f"{_GRANTS}/{path_part(grant_id)}", MCPGrant)
