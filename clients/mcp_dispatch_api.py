"""The routes of tool calls, and of those that wait for a person, as typed calls (DOC3 §0.2D)."""

from clients.api_transport import ApiTransport, path_part
from contracts.mcp.dispatch import (
    AskFirstDecision,
    DispatchCancelRequest,
    DispatchListResponse,
    DispatchRequest,
    DispatchView,
    MCPAskFirstDecisionRequest,
    MCPAskFirstDecisionResponse,
    MCPAskFirstPendingListResponse,
)

_CALLS = "/api/mcp/dispatches"
_ASK_FIRST = "/api/mcp/ask-first"


class McpDispatchApi:
    """The caller's tool calls. Every method may raise the errors of ``clients.api_transport``."""

    def __init__(self, http: ApiTransport) -> None:
        self._http = http

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

    def pending(self) -> MCPAskFirstPendingListResponse:
        """The calls that wait for a person."""
        return self._http.get(f"{_ASK_FIRST}/pending", MCPAskFirstPendingListResponse)

    def decide(self, dispatch_id: str, request: MCPAskFirstDecisionRequest) -> MCPAskFirstDecisionResponse:
        """Approve or deny a call that waits."""
        route = "deny" if request.decision is AskFirstDecision.DENY else "approve"
        path = f"{_ASK_FIRST}/{path_part(dispatch_id)}/{route}"
        return self._http.write("POST", path, MCPAskFirstDecisionResponse, request)
