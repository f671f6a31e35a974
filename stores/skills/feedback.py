"""What comes of invocations, fed back to memory, world model and goals (003 L96-98, L175; AI-25, AI-26).

In the transaction that ends an invocation: an event of it, the facts that its skill hints at, and the outcome that its
goal takes. A look that succeeded is no event, and nothing here ever fails an invocation.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection
from uuid_utils import uuid7

from contracts.base import clipped
from contracts.learning.observation import ToolEffect
from contracts.memory.goals import GoalOutcome
from contracts.memory.memory import MAX_LIST, FactAssertion, Labels, PerceptualEvent, Provenance
from contracts.skills.invocation import InvocationStatus, ObservedEffectState, SkillOutcome
from contracts.skills.invocation_work import InvocationRecord
from contracts.skills.manifest import SkillCategory
from stores.memory.goals import note_outcome
from stores.memory.items import MemoryRefused, add_item
from stores.memory.memories import put_fact

MOST_EVENTS = MOST_HINTS = 20
"""How many events and facts of one invocation are taken."""

_ABOUT_MEMORY = frozenset({SkillCategory.MEMORY, SkillCategory.REFLECTION})
"""What these do stands in the memory already: an event of it would only be found beside it."""

_FACT_FIELDS = ("subject", "predicate", "object", "confidence", "many")


def feed_back(connection: Connection, record: InvocationRecord, outcome: SkillOutcome, now: datetime) -> None:
    """Writes what others may learn from an invocation that was run and has ended."""
    if not record.attempts:
        return
    try:
        for number, event in enumerate(_events(record, outcome, now)):
            add_item(connection, event, f"invocation/{record.invocation_id}/{number}")
    except MemoryRefused:
        # Nothing more can be remembered; the outcome itself is on record.
        pass
    for hint in outcome.observables.hints[:MOST_HINTS]:
        _assert(connection, record, hint, now)
    _tell_goal(connection, record, outcome, now)


def _events(record: InvocationRecord, outcome: SkillOutcome, now: datetime) -> list[PerceptualEvent]:
    found: list[PerceptualEvent] = []
    failed = outcome.status is not InvocationStatus.SUCCESS
    acted = record.order.effect is not ToolEffect.READ
    if failed or (acted and record.manifest.category not in _ABOUT_MEMORY):
        found.append(_event(record, f"skill.{outcome.status.value}", _summary(record, outcome), now, {}))
    for told in outcome.observables.events[:MOST_EVENTS]:
        # What names the event that its own service has written is written already.
        if "event_id" not in told and isinstance(told.get("summary"), str) and told["summary"].strip():
            kind = str(told.get("kind") or "observation")[:80]
            found.append(_event(record, kind, clipped(str(told["summary"]), 4_000), now, {}))
    if found:
        data = {"status": outcome.status.value, "error_code": record.error_code}
        found[0] = found[0].changed(data={name: value for name, value in data.items() if value is not None})
    return found


def _event(
    record: InvocationRecord, kind: str, summary: str, now: datetime, data: dict[str, Any]
) -> PerceptualEvent:
    return PerceptualEvent(
        event_id=str(uuid7()),
        owner_user_id=record.owner,
        kind=kind,
        skill_id=record.order.function_name,
        invocation_id=record.invocation_id,
        summary=summary,
        at=now,
        data=data,
        labels=Labels(life_areas=tuple(filter(None, record.manifest.life_areas))[:MAX_LIST], tags=("skill",)),
    )


def _summary(record: InvocationRecord, outcome: SkillOutcome) -> str:
    name = record.order.function_name.replace("_", " ")
    ended = {
        InvocationStatus.SUCCESS: "succeeded",
        InvocationStatus.PARTIAL: "did a part",
        InvocationStatus.FAILURE: "failed",
        InvocationStatus.OUTCOME_UNKNOWN: "may or may not have happened",
        InvocationStatus.CANCELLED: "was given up",
        InvocationStatus.EXPIRED: "expired",
    }[outcome.status]
    error = outcome.error
    said = f"{error.code}: {error.message}" if error is not None else outcome.message or ""
    return clipped(f"{name} {ended}. {said}".strip(), 1_000)


def _assert(connection: Connection, record: InvocationRecord, hint: Mapping[str, Any], now: datetime) -> None:
    given = {name: hint[name] for name in _FACT_FIELDS if name in hint}
    source = Provenance(
        skill_id=record.order.function_name,
        invocation_id=record.invocation_id,
        agent_id=record.order.context.agent_id if record.order.context is not None else None,
        at=now,
    )
    try:
        put_fact(connection, FactAssertion.model_validate(given), record.owner, source)
    except (ValidationError, MemoryRefused):
        # A hint that is no fact stays what it is: a hint in the outcome.
        return


def _tell_goal(
    connection: Connection, record: InvocationRecord, outcome: SkillOutcome, now: datetime
) -> None:
    context = record.order.context
    if context is None or context.goal_id is None:
        return
    satisfied = [
        one.name for one in outcome.observables.effects if one.state is ObservedEffectState.SATISFIED
    ]
    told = GoalOutcome(
        invocation_id=record.invocation_id,
        skill_id=record.order.function_name,
        status=outcome.status.value,
        satisfied=tuple(satisfied),
        at=now,
    )
    note_outcome(connection, context.goal_id, record.owner, told)
