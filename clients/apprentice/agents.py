"""Typed API calls: agents that skills work for, for admins."""

from clients.apprentice.transport import ApiRoutes
from contracts.skills.agents import AgentListResponse, AgentProfile, CreateAgentRequest

_AGENTS = "/api/agents"


class AgentApi(ApiRoutes):
    """Make agents, and list them."""

    def list(self, page: int = 1, page_size: int = 25) -> AgentListResponse:
        """List them, newest first."""
        return self._http.get(_AGENTS, AgentListResponse, page=page, page_size=page_size)

    def create(self, request: CreateAgentRequest) -> AgentProfile:
        """Make one."""
        return self._http.write("POST", _AGENTS, AgentProfile, request)
