"""Rechecks of skills that failed: the failed run is asked again, as an invocation, where it only reads (ADR 42)."""

from datetime import datetime

from sqlalchemy import Connection

from contracts.abilities.capability_health import CanaryResult, CanaryTask, ReprobeSelection
from contracts.skills.health import SkillHealth
from contracts.skills.invocation import OPEN_INVOCATION_STATUSES, InvocationStatus
from contracts.skills.invocation_work import InvocationRecord
from domain.abilities.capability_health import is_due
from stores.platform.database import Database
from stores.platform.journal.journal import append
from stores.skills.health import hold_health
from stores.skills.invocation_rows import add_invocation, audit, entries_of, find_invocation
from stores.skills.skill_tables import HEALTH, skill_health

SKILL = "skill:"
"""Before the key of a skill's folder, where capabilities and skills are named side by side."""

MOST_AT_ONCE = 20


class SkillRechecks:
    """The schedule's side of the health of skills. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def due(self, selection: ReprobeSelection) -> tuple[str, ...]:
        """The skills to recheck: degraded or quarantined ones whose cooldown is over and of which no recheck runs."""
        if selection.capability_id is not None or selection.ability_id is not None:
            return ()
        with self._database.read() as connection:
            rows = HEALTH.all(connection, order_by=(skill_health.c.key,))
            found = [
                SKILL + one.key
                for one in rows
                if is_due(one.status, one.record, selection.now) and not _rechecked(connection, one)
            ]
        return tuple(found[:MOST_AT_ONCE])

    def ask(self, task: CanaryTask, now: datetime) -> CanaryResult | None:
        """Asks the run that failed last once more, for the same owner; its end counts as a canary. Repeated, it is one.

        None where the skill has no health any more, or its failed run cannot be repeated because it acts.
        """
        with self._database.write() as connection:
            hold_health(connection)
            health = HEALTH.find(connection, task.capability_id.removeprefix(SKILL))
            failed = _failed_run(connection, health) if health is not None else None
            if health is None or failed is None:
                return None
            if find_invocation(connection, task.outcome_id) is None:
                _add(connection, failed, task, now)
                HEALTH.put(connection, health.changed(rechecked_by=task.outcome_id))
        return CanaryResult(
            capability_id=task.capability_id,
            success=False,
            not_run=True,
            health_status=health.status,
            good_canaries=health.record.good_canaries,
            summary=f"asked again as the invocation {task.outcome_id}",
        )


def _rechecked(connection: Connection, health: SkillHealth) -> bool:
    """Whether a recheck of the skill is under way."""
    found = find_invocation(connection, health.rechecked_by) if health.rechecked_by is not None else None
    return found is not None and found.record.status in OPEN_INVOCATION_STATUSES


def _failed_run(connection: Connection, health: SkillHealth) -> InvocationRecord | None:
    """The run that is asked again; none where no run of this content only read, or it is not kept any more."""
    found = find_invocation(connection, health.failed_run) if health.failed_run is not None else None
    return found.record if found is not None else None


def _add(connection: Connection, failed: InvocationRecord, task: CanaryTask, now: datetime) -> None:
    order = failed.order.changed(
        invocation_id=task.outcome_id,
        correlation_id=task.correlation_id,
        context=None,
        asks=False,
        cache_key=None,
        request_digest=None,
        recheck=True,
        warnings=(*failed.order.warnings, f"A recheck of the run {failed.invocation_id}."),
        created_at=now,
    )
    # The worker starts what was let in and not begun.
    add_invocation(
        connection,
        InvocationRecord(
            order=order, manifest=failed.manifest, status=InvocationStatus.QUEUED, updated_at=now
        ),
    )
    entries = entries_of(order, now)
    audit(entries, order, "recheck", {"of": failed.invocation_id, "requested_by": task.requested_by})
    append(connection, entries.drafts)
