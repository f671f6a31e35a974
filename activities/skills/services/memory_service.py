"""The service ``memory``: memories, events and facts of whoever asks, for handlers of skills (X-7, AI-33…AI-37)."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from uuid_utils import uuid7

from activities.skills.services.offered import Asker, Method
from contracts.memory.goals import ProposeGoal
from contracts.memory.memory import (
    AssertedFact,
    FactAssertion,
    Labels,
    Memory,
    MemoryItem,
    MemoryQuery,
    PerceptualEvent,
    Provenance,
    WorldFact,
)
from contracts.memory.requests import EventsAsked, LogSocial, StoreMemory
from skills.runtime.broker import BrokerRefused
from stores.memory.goals import Goals
from stores.memory.items import MemoryRefused
from stores.memory.memories import Memories, SocialEvent

T = TypeVar("T")

LOOKS_BACK = timedelta(days=7)
"""How far back events are looked for where nobody says."""


class MemoryService:
    """What is remembered of whoever asks; never anybody else's."""

    def __init__(self, memories: Memories, goals: Goals) -> None:
        self._memories = memories
        self._goals = goals
        self.methods: Mapping[str, Method] = {
            "store": Method(StoreMemory, self._store),
            "query": Method(MemoryQuery, self._query, reads=True),
            "assert_fact": Method(FactAssertion, self._assert_fact),
            "log_social": Method(LogSocial, self._log_social),
            "propose_goal": Method(ProposeGoal, self._propose_goal),
            "events": Method(EventsAsked, self._events, reads=True),
        }

    async def _store(self, asker: Asker, asked: StoreMemory) -> dict[str, Any]:
        now = datetime.now(UTC)
        item = MemoryItem(
            memory_id=str(uuid7()),
            owner_user_id=asker.owner,
            text=asked.text,
            labels=Labels(tags=asked.tags, entities=asked.entities, life_areas=asked.life_areas),
            source=_source(asker, asked.source, now),
            happened_at=asked.happened_at or now,
            created_at=now,
        )
        key = asked.idempotency_key or asker.key
        kept, created = await _done(lambda: self._memories.store(item, key))
        return {"created": created, **_shown(kept)}

    async def _query(self, asker: Asker, asked: MemoryQuery) -> list[dict[str, Any]]:
        now = datetime.now(UTC)
        found = await asyncio.to_thread(self._memories.query, asker.owner, asked, now)
        return [_found(one) for one in found]

    async def _assert_fact(self, asker: Asker, asked: FactAssertion) -> dict[str, Any]:
        source = _source(asker, asked.source, datetime.now(UTC))
        return _asserted(await _done(lambda: self._memories.assert_fact(asked, asker.owner, source)))

    async def _log_social(self, asker: Asker, asked: LogSocial) -> dict[str, Any]:
        now = datetime.now(UTC)
        at = asked.happened_at or now
        source = _source(asker, asked.source, now)
        labels = Labels(tags=asked.tags, entities=asked.people)
        social = SocialEvent(
            event=PerceptualEvent(
                event_id=str(uuid7()),
                owner_user_id=asker.owner,
                kind=asked.kind,
                skill_id=asker.manifest.function_name,
                invocation_id=asker.order.invocation_id,
                summary=asked.summary,
                at=at,
                labels=labels,
            ),
            memory=MemoryItem(
                memory_id=str(uuid7()),
                owner_user_id=asker.owner,
                text=asked.summary,
                labels=labels,
                source=source,
                happened_at=at,
                created_at=now,
            ),
            fact=asked.fact.assertion(asked.source, at) if asked.fact is not None else None,
        )
        key = asked.idempotency_key or asker.key
        logged = await _done(lambda: self._memories.log_social(social, key, source))
        return {
            "created": logged.created,
            "event_id": logged.event.event_id,
            "memory_id": logged.memory.memory_id,
            "fact": _asserted(logged.fact) if logged.fact is not None else None,
            "at": _time(logged.event.at),
        }

    async def _propose_goal(self, asker: Asker, asked: ProposeGoal) -> dict[str, Any]:
        now = datetime.now(UTC)
        goal, created = await _done(lambda: self._goals.propose(asked, asker.owner, now))
        told = goal.model_dump(mode="json", include={"goal_id", "title", "reason", "state", "derived_from"})
        return {**told, "created": created}

    async def _events(self, asker: Asker, asked: EventsAsked) -> list[dict[str, Any]]:
        until = asked.until or datetime.now(UTC)
        since = asked.since or until - LOOKS_BACK
        found = await asyncio.to_thread(self._memories.events, asker.owner, since, until, asked.limit)
        return [
            one.model_dump(mode="json", include={"event_id", "kind", "skill_id", "summary", "at", "data"})
            for one in found
        ]


async def _done(write: Callable[[], T]) -> T:
    try:
        return await asyncio.to_thread(write)
    except MemoryRefused as refused:
        raise BrokerRefused(refused.code, refused.message, details=refused.details) from None


def _source(asker: Asker, said: str | None, at: datetime) -> Provenance:
    context = asker.order.context
    return Provenance(
        skill_id=asker.manifest.function_name,
        invocation_id=asker.order.invocation_id,
        agent_id=context.agent_id if context is not None else None,
        said=said,
        at=at,
    )


def _shown(item: MemoryItem) -> dict[str, Any]:
    told = item.model_dump(mode="json", include={"memory_id", "text", "source", "happened_at", "created_at"})
    return {**told, **item.labels.model_dump(mode="json")}


def _found(one: Memory) -> dict[str, Any]:
    return one.model_dump(mode="json")


def _fact(fact: WorldFact) -> dict[str, Any]:
    return fact.model_dump(mode="json", exclude={"owner_user_id", "schema_version"})


def _asserted(done: AssertedFact) -> dict[str, Any]:
    return {
        "created": done.created,
        "conflict": bool(done.conflicts),
        "fact": _fact(done.fact),
        "conflicts": [_fact(one) for one in done.conflicts][:100],
    }


def _time(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
