"""Registers every agent at the OpenClaw directory when the worker starts, if the setting says so (CH-61)."""

import asyncio
from datetime import UTC, datetime

import structlog
from temporalio.client import Client
from uuid_utils import uuid7

from config.settings import Settings
from contracts.errors import Refusal
from contracts.platform.commands import CommitKey
from contracts.platform.identity import Principal, Scope
from contracts.skills.agents import AgentProfile
from contracts.skills.invocation import InvokeSkillRequest
from gateways.platform.updates import OWN_KEY_PREFIX
from gateways.skills.invocations import SkillInvocationGateway
from stores.platform.canonical import canonical_json, digest_of
from stores.platform.database import Database, PageRequest
from stores.skills.admission import SkillAdmission
from stores.skills.services.agents import Agents

log = structlog.get_logger(__name__)

SKILL = "register-openclaw-profile"
BY_THE_SYSTEM = "00000000-0000-0000-0000-000000000000"
"""The token of invocations that nobody asked for with one."""

_PAGE = 100


async def register_agents(client: Client, settings: Settings, database: Database) -> int:
    """Asks for one registration of each agent; how many were asked for. What is refused is logged, and left."""
    admission = SkillAdmission(
        database, confirmation_expiry=settings.ask_first_expiry, budget=settings.skill_budget
    )
    gateway = SkillInvocationGateway(
        client,
        settings.task_queue,
        database,
        admission,
        environment=settings.skill_environment,
        services=settings.services_of_skills,
        console_url=settings.console_url,
    )
    asked = 0
    for agent in await asyncio.to_thread(_all, Agents(database)):
        try:
            await _register(gateway, agent)
            asked += 1
        except Refusal as refusal:
            log.warning("an agent was not registered", agent_id=agent.agent_id, code=refusal.code.value)
    log.info("agents are registered", asked=asked)
    return asked


async def _register(gateway: SkillInvocationGateway, agent: AgentProfile) -> None:
    chosen = await asyncio.to_thread(gateway.choose, SKILL, None)
    names = {"agent_id", "name", "status", "capabilities", "wallet_address", "pending_tasks", "version"}
    profile = agent.model_dump(mode="json", include=names, exclude_none=True)
    request = InvokeSkillRequest(input={"agent_profile": profile})
    owner = agent.owner_user_id
    key = CommitKey(
        owner_user_id=owner,
        key=f"{OWN_KEY_PREFIX}{uuid7()}",
        request_digest=digest_of(canonical_json(request)),
    )
    caller = Principal(user_id=owner, token_id=BY_THE_SYSTEM, scopes=frozenset({Scope.READ, Scope.CALL}))
    await gateway.invoke(chosen, request, caller, key, f"start-{datetime.now(UTC):%Y%m%dT%H%M%S}")


def _all(agents: Agents) -> tuple[AgentProfile, ...]:
    found, page = list[AgentProfile](), 1
    while True:
        part, counts = agents.list_all(PageRequest(page=page, page_size=_PAGE))
        found += part
        if page * _PAGE >= counts["total"]:
            return tuple(found)
        page += 1
