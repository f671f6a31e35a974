"""Agents that skills work for: create, list (skills_interface.md "Routes", O-15)."""

from datetime import UTC, datetime

from fastapi import APIRouter

from api.platform.commands import AdminFrame
from api.platform.dependencies import Admin, PageDep, ServicesDep
from contracts.skills.agents import AgentListResponse, AgentProfile, CreateAgentRequest

router = APIRouter(prefix="/api/agents", tags=["skills"])


@router.get("", operation_id="agent_list")
def list_agents(caller: Admin, services: ServicesDep, page: PageDep) -> AgentListResponse:
    """Every agent, newest first."""
    del caller
    found, counts = services.skills.agents.list_all(page)
    return AgentListResponse(agents=found, **counts)


@router.post("", operation_id="agent_create", status_code=201)
async def create(body: CreateAgentRequest, frame: AdminFrame) -> AgentProfile:
    """Makes an agent, with the status active; its wallet, if it has one, is there already."""
    owner = body.owner_user_id or frame.owner

    def act() -> AgentProfile:
        return frame.services.skills.agents.create(body, owner, frame.correlation_id, datetime.now(UTC))

    return await frame.write_once(body, act, AgentProfile)
