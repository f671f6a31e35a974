"""The routes of sign-ins as typed calls (DOC3 §0.2D)."""

from clients.api_transport import ApiTransport, path_part
from contracts.mcp.auth_flow import (
    MCPAuthRefreshRequest,
    MCPAuthRevokeRequest,
    MCPAuthRevokeResponse,
    MCPAuthStartRequest,
    MCPAuthStartResponse,
    MCPServerAuthStatus,
)
from contracts.mcp.auth_profile import (
    MCPAuthProfile,
    MCPAuthProfileCreateRequest,
    MCPAuthProfileDeleteResponse,
    MCPAuthProfileListResponse,
    MCPAuthProfileSecretRequest,
)

_PROFILES = "/api/mcp/auth-profiles"


class McpSignInApi:
    """The caller's sign-ins. Every method may raise the errors of ``clients.api_transport``."""

    def __init__(self, http: ApiTransport) -> None:
        self._http = http

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

    def profiles(self) -> MCPAuthProfileListResponse:
        """List them, newest first."""
        return self._http.get(_PROFILES, MCPAuthProfileListResponse)

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
