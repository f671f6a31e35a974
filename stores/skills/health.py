"""Health of skills: runs are counted in the transaction that ends them, and quarantine binds at once.

A script of a learned ability counts for that ability's capability, which has its health by the same rules (ADR 72).
"""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import Connection

from contracts.abilities.capability_health import CapabilityHealthRecord
from contracts.learning.observation import ToolEffect
from contracts.skills.catalog import SkillRecord, SkillRoot, SkillState
from contracts.skills.health import SkillHealth
from contracts.skills.invocation_work import InvocationRecord
from domain.abilities.execution_traces import SeenStep, run_trace
from domain.skills.health import after, outcome_of_run, quarantine_reason
from stores.abilities.ability_rows import present_version, standing_of
from stores.abilities.capability_health import apply_outcome, hold_ability
from stores.platform.database import advisory_lock
from stores.platform.journal.journal import JournalDraft
from stores.skills.skill_tables import HEALTH, SKILLS, skill_health, skills

_OF_HEALTH = (SkillState.READY, SkillState.QUARANTINED)
"""The states of a folder that its health decides between."""


def hold_health(connection: Connection) -> None:
    """Nobody else changes the health of a skill, or the catalog by it, until the transaction ends."""
    advisory_lock(connection, "skill-health")


def count_outcome(connection: Connection, record: InvocationRecord) -> SkillHealth | None:
    """Counts what an ended invocation says of its skill; the health, where it has become another."""
    outcome = outcome_of_run(record)
    if outcome is None:
        return None
    order = record.order
    hold_health(connection)
    before = HEALTH.first(connection, skill_health.c.key == order.skill_key)
    if order.recheck and (before is None or before.digest != order.digest):
        return None  # The folder has another content by now: the recheck was of the old one.
    if before is None or before.digest != order.digest:
        fresh = CapabilityHealthRecord(capability_id=outcome.capability_id)
        before = SkillHealth(
            key=order.skill_key,
            name=order.skill,
            digest=order.digest,
            record=fresh,
            updated_at=outcome.happened_at,
        )
    now = after(before, outcome)
    if not outcome.success and not outcome.not_run and order.effect is ToolEffect.READ:
        now = now.changed(failed_run=record.invocation_id)
    HEALTH.put(connection, now)
    if now.status is before.status:
        return None
    for found in SKILLS.all(connection, skills.c.key == now.key, order_by=(skills.c.key,)):
        SKILLS.put(connection, with_health(found, {now.key: now}))
    return now


def count_use(connection: Connection, record: InvocationRecord) -> tuple[JournalDraft, ...]:
    """Counts the run of a script for the ability that it belongs to; the journal entries for the caller to append.

    Nothing where the ability has another version by now: the run was of the old one.
    """
    outcome, learned = outcome_of_run(record), record.order.learned
    if outcome is None or learned is None or hold_ability(connection, learned.ability_id) is None:
        return ()
    version = present_version(connection, learned.ability_id)
    standing = standing_of(connection, ability_id=learned.ability_id)
    if standing is None or version is None or version.version != learned.version:
        return ()
    begun = record.attempts[-1].started_at
    trace = run_trace(
        standing.manifest,
        record.invocation_id,
        (SeenStep("script", "ran a script", outcome.success),),
        created_at=outcome.happened_at,
        elapsed_ms=max(0, round((outcome.happened_at - begun).total_seconds() * 1000)),
    )
    used = outcome.changed(capability_id=standing.manifest.capability_id)
    return apply_outcome(connection, used, record.order.correlation_id, trace)


def all_health(connection: Connection) -> Mapping[str, SkillHealth]:
    """The health of every folder against which anything speaks, by its key in the catalog."""
    return {one.key: one for one in HEALTH.all(connection, order_by=(skill_health.c.key,))}


def with_health(record: SkillRecord, health: Mapping[str, SkillHealth]) -> SkillRecord:
    """A folder as it is in the catalog: quarantined where the health of its present content says so."""
    found = health.get(record.key)
    if record.state not in _OF_HEALTH or found is None or found.digest != record.digest:
        return record
    reason = quarantine_reason(found)
    if reason is None and record.state is SkillState.QUARANTINED:
        return record.changed(state=SkillState.READY, reason=None)
    return record if reason is None else record.changed(state=SkillState.QUARANTINED, reason=reason)


def forget_failures(connection: Connection, root: SkillRoot, name: str, now: datetime) -> None:
    """A person approves the skill again: what spoke against it counts no more."""
    for found in HEALTH.all(connection, skill_health.c.name == name, order_by=(skill_health.c.key,)):
        if found.key.startswith(f"{root.value}/"):
            clean = CapabilityHealthRecord(capability_id=found.record.capability_id)
            HEALTH.put(
                connection,
                SkillHealth(
                    key=found.key, name=found.name, digest=found.digest, record=clean, updated_at=now
                ),
            )
