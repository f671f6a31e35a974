"""The service ``profiles``: agents read and changed, for handlers of skills (X-7, CH-40…CH-47)."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import structlog
from sqlalchemy.exc import SQLAlchemyError

from activities.skills.services.ledger_service import as_number
from activities.skills.services.offered import Asker, Method
from contracts.base import Contract, Uuid
from contracts.skills.agents import AgentProfile, AgentStateRequest
from skills.runtime.broker import BrokerRefused
from stores.skills.services.agents import AgentRefused, Agents

log = structlog.get_logger(__name__)

READ_WITHIN_SECONDS = 1.5
"""How long a read of the store may take before the copy from before is given: within the skill's 2 s (CH-41)."""

MOST_COPIES = 1_000
"""How many agents are remembered in case that the store cannot be read."""


class ProfileRequest(Contract):
    """Asks for an agent."""

    agent_id: Uuid


class ProfilesService:
    """The agents of whoever asks. Keeps the last copy of each in memory, for when the store cannot be read."""

    def __init__(self, agents: Agents, *, read_within_seconds: float = READ_WITHIN_SECONDS) -> None:
        self._agents = agents
        self._read_within = read_within_seconds
        self._copies: OrderedDict[tuple[str, str], dict[str, Any]] = OrderedDict()
        self.methods: Mapping[str, Method] = {
            "get": Method(ProfileRequest, self._get, reads=True),
            "update": Method(AgentStateRequest, self._update),
        }

    async def _get(self, asker: Asker, asked: ProfileRequest) -> dict[str, Any]:
        """``{"profile", "stale"}``; stale where the store could not be read, and there was a copy."""
        place = (asker.owner, asked.agent_id)
        try:
            async with asyncio.timeout(self._read_within):
                found = await asyncio.to_thread(self._agents.profile, asked.agent_id, asker.owner)
        except (TimeoutError, SQLAlchemyError) as error:
            log.warning("an agent could not be read", error=type(error).__name__)
            copy = self._copies.get(place)
            if copy is None:
                raise BrokerRefused(
                    "UNAVAILABLE", "The agents cannot be read now, and there is no copy from before."
                ) from None
            return {"profile": copy, "stale": True}
        if found is None:
            self._copies.pop(place, None)
            raise BrokerRefused("AGENT_NOT_FOUND", "There is no such agent of yours.")
        return {"profile": self._kept(asker.owner, found), "stale": False}

    async def _update(self, asker: Asker, asked: AgentStateRequest) -> dict[str, Any]:
        order = asker.order
        try:
            changed = await asyncio.to_thread(
                self._agents.update,
                asked,
                asker.owner,
                asker.key,
                order.correlation_id,
                datetime.now(UTC),
            )
        except AgentRefused as refused:
            raise BrokerRefused(refused.code, refused.message, details=refused.details) from None
        return {"profile": self._kept(asker.owner, changed)}

    def _kept(self, owner: str, profile: AgentProfile) -> dict[str, Any]:
        shown = as_document(profile)
        self._copies[owner, profile.agent_id] = shown
        self._copies.move_to_end((owner, profile.agent_id))
        while len(self._copies) > MOST_COPIES:
            self._copies.popitem(last=False)
        return shown


def as_document(profile: AgentProfile) -> dict[str, Any]:
    """A profile as the skills give it: what is not known is left out, the balance is a number."""
    shown = profile.model_dump(mode="json", exclude_none=True, exclude={"schema_version"})
    return {**shown, "wallet_balance": as_number(profile.wallet_balance)}
