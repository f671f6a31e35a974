"""The rows of skill invocations: read, lock, compare-and-set, end; their journal entries: record and audit."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection

from contracts.base import rfc3339
from contracts.skills.errors import WAITING_CODES
from contracts.skills.invocation import (
    OPEN_INVOCATION_STATUSES,
    InvocationStatus,
    InvocationView,
    ObservabilityRecord,
    Observables,
    SkillOutcome,
)
from contracts.skills.invocation_work import InvocationOrder, InvocationRecord, InvocationStanding
from contracts.skills.learned import SkillLane
from contracts.workflow_ids import skill_invocation_id
from domain.skills.call_metrics import counts_of
from stores.platform.blobs import put_blob, read_blob
from stores.platform.canonical import canonical_json, digest_of
from stores.platform.database import insert_or
from stores.platform.journal.journal import JournalEntries, append
from stores.skills.escalations import tell_person
from stores.skills.feedback import feed_back
from stores.skills.health import count_outcome, count_use
from stores.skills.reports.call_metrics import add_counts
from stores.skills.skill_tables import INVOCATIONS, skill_results
from stores.skills.skill_tables import skill_invocations as table

RECORDS = "system/skills/observability"
"""One line for each call, refused and cached ones included (CH-03)."""

AUDIT = "system/skills/audit_log"
"""A line before an effect and a line after it."""


@dataclass(frozen=True)
class StoredInvocation:
    """An invocation and the version of its row."""

    record: InvocationRecord
    version: int

    def standing(self) -> InvocationStanding:
        """The invocation's state for its workflow."""
        record = self.record
        waits = record.status is InvocationStatus.AWAITING_CONFIRMATION
        return InvocationStanding(
            invocation_id=record.invocation_id,
            status=record.status,
            version=self.version,
            attempts=len(record.attempts),
            timeout_ms=record.manifest.timeout_ms,
            asks=record.order.asks and record.confirmation is None,
            has_check=record.manifest.has_check and not record.checked,
            confirmation=record.confirmation,
            expires_at=record.expires_at if waits else None,
            awaits_until=record.awaits_until or record.due_at,
            error_code=record.error_code,
            since=record.updated_at,
        )


def read_invocation(
    connection: Connection, invocation_id: str, owner: str | None = None, *, lock: bool = False
) -> StoredInvocation:
    """An invocation; with ``owner``, only that owner's. ``lock`` keeps its row locked until the transaction ends.

    Raises:
        Refusal: ``SKILL_INVOCATION_NOT_FOUND``.
    """
    found = find_invocation(connection, invocation_id, lock=lock)
    if found is None or (owner is not None and found.record.owner != owner):
        raise INVOCATIONS.not_found()
    return found


def find_invocation(
    connection: Connection, invocation_id: str, *, lock: bool = False
) -> StoredInvocation | None:
    """An invocation, if there is one; ``lock`` as in ``read_invocation``."""
    query = INVOCATIONS.select(table.c.invocation_id == invocation_id, also=(table.c.version,), lock=lock)
    row = connection.execute(query).one_or_none()
    return StoredInvocation(INVOCATIONS.parse(row.body), row.version) if row else None


def add_invocation(connection: Connection, record: InvocationRecord) -> StoredInvocation:
    """Inserts the row of a new invocation.

    Raises:
        sqlalchemy.exc.IntegrityError: the row exists.
    """
    INVOCATIONS.add(connection, record, version=1)
    return StoredInvocation(record, 1)


def change_invocation(
    connection: Connection, kept: StoredInvocation, changed: InvocationRecord
) -> StoredInvocation:
    """Updates an invocation unless its version has changed (compare-and-set).

    Raises:
        Refusal: ``CONFLICT``.
    """
    return StoredInvocation(changed, INVOCATIONS.compare_and_set(connection, changed, kept.version))


def end_invocation(
    connection: Connection,
    kept: StoredInvocation,
    outcome: SkillOutcome,
    now: datetime,
    *,
    actor: str | None = None,
) -> StoredInvocation:
    """Writes how an invocation ended: its outcome, record, audit entry; keeps or drops cached answers."""
    digest = put_blob(connection, canonical_json(outcome).encode(), now)
    ended, seen = _ended(kept.record, outcome, digest, now)
    changed = change_invocation(connection, kept, ended)
    _drop_answers(connection, ended)
    _keep_answer(connection, ended, digest, now)
    entries = recorded(connection, ended.order, seen, now, ended.manifest.errors)
    if ended.attempts:
        facts: dict[str, object] = {
            "outcome": outcome.status.value,
            "error_code": ended.error_code,
            "actor": actor,
        }
        audit(entries, ended.order, "after", facts)
    feed_back(connection, ended, outcome, now)
    tell_person(connection, ended, outcome, now)
    if ended.order.learned is not None:
        append(connection, count_use(connection, ended))
    elif (health := count_outcome(connection, ended)) is not None:
        audit(entries, ended.order, "health", {"status": health.status.value, "error_code": ended.error_code})
    append(connection, entries.drafts)
    return changed


def add_answered(
    connection: Connection,
    record: InvocationRecord,
    outcome: SkillOutcome,
    now: datetime,
    digest: str | None = None,
) -> StoredInvocation:
    """Inserts the row of an invocation that is over without a run: a kept answer, or a dry run.

    ``digest`` is under which the outcome is kept already.
    Its answer is not kept again: a kept one grows no younger by being given, and a dry run answers nothing.

    Raises:
        sqlalchemy.exc.IntegrityError: the row exists.
    """
    digest = digest or put_blob(connection, canonical_json(outcome).encode(), now)
    ended, seen = _ended(record, outcome, digest, now)
    kept = add_invocation(connection, ended)
    append(connection, recorded(connection, ended.order, seen, now, ended.manifest.errors).drafts)
    return kept


def _ended(
    record: InvocationRecord, outcome: SkillOutcome, digest: str, now: datetime
) -> tuple[InvocationRecord, ObservabilityRecord]:
    """An invocation that ended with an outcome, kept under ``digest``, and what is on record of it."""
    started = record.attempts[0].started_at if record.attempts else record.order.created_at
    error = outcome.error.code if outcome.error is not None else None
    seen = observability_record(
        record.order,
        now,
        duration=now - started,
        error_code=error,
        retries=retries_of(record),
        outputs=outcome.outputs,
        success=outcome.status in (InvocationStatus.SUCCESS, InvocationStatus.PARTIAL),
    )
    ended = record.changed(
        status=outcome.status,
        expires_at=None,
        awaits_until=None,
        due_at=None,
        outcome_digest=digest,
        error_code=error,
        warnings=outcome.warnings,
        record=seen,
        updated_at=now,
        completed_at=now,
    )
    return ended, seen


def retries_of(record: InvocationRecord) -> int:
    """How often an attempt was made again; one that ended with a question, or before its time, has not failed."""
    made = [one for one in record.attempts if one.error_code not in WAITING_CODES]
    return max(len(made) - 1, 0)


def recorded(
    connection: Connection,
    order: InvocationOrder,
    seen: ObservabilityRecord,
    now: datetime,
    declared: Collection[str] = (),
) -> JournalEntries:
    """Counts a call for the metrics; the journal entries that begin with its record, to be appended.

    ``declared`` are the error codes that the skill's manifest names. A dry run is no call, and counts nothing.
    """
    if not order.dry_run:
        add_counts(connection, order.function_name, counts_of(seen, declared))
    return entries_of(order, now).add(RECORDS, seen)


def entries_of(order: InvocationOrder, now: datetime) -> JournalEntries:
    """Collects the journal entries of an invocation, which form one chain."""
    return JournalEntries(
        skill_invocation_id(order.invocation_id), order.owner_user_id, order.correlation_id, now
    )


def audit(entries: JournalEntries, order: InvocationOrder, when: str, facts: Mapping[str, object]) -> None:
    """Collects an audit entry: which skill, with which effect, before or after it; never a value."""
    entries.add(
        AUDIT,
        {
            "when": when,
            "invocation_id": order.invocation_id,
            "skill_name": order.function_name,
            "version": order.version,
            "effect": order.effect.value,
            "lane": lane_of(order).value,
            "agent_id": order.context.agent_id if order.context is not None else None,
            "input_hash": order.input_digest,
            "timestamp": rfc3339(entries.at),
            **facts,
        },
    )


def observability_record(
    order: InvocationOrder,
    now: datetime,
    *,
    duration: timedelta,
    error_code: str | None,
    retries: int = 0,
    outputs: dict[str, Any] | None = None,
    success: bool,
) -> ObservabilityRecord:
    """The nine fields of one call (CH-03)."""
    return ObservabilityRecord(
        skill_name=order.function_name,
        agent_id=order.context.agent_id if order.context is not None else None,
        timestamp=now,
        input_hash=order.input_digest,
        output_hash=digest_of(canonical_json(outputs)) if outputs is not None else None,
        duration_ms=max(round(duration / timedelta(milliseconds=1)), 0),
        error_code=error_code,
        retry_count=retries,
        success=success,
    )


def outcome_of_record(connection: Connection, record: InvocationRecord) -> SkillOutcome | None:
    """What came of an invocation, if it has ended."""
    if record.outcome_digest is None:
        return None
    return read_blob(connection, record.outcome_digest, SkillOutcome)


def view_of(connection: Connection, record: InvocationRecord) -> InvocationView:
    """An invocation as its owner sees it."""
    return view_with(record, outcome_of_record(connection, record))


def view_with(record: InvocationRecord, outcome: SkillOutcome | None) -> InvocationView:
    """The same where its outcome, if it has one, is at hand."""
    order = record.order
    waits = record.status is InvocationStatus.AWAITING_CONFIRMATION
    expires_at = record.expires_at if waits else record.awaits_until
    return InvocationView(
        invocation_id=record.invocation_id,
        skill=order.skill,
        function_name=order.function_name,
        version=order.version,
        status=record.status,
        requires_confirmation=waits,
        confirmation_prompt=order.confirmation_prompt if waits else None,
        expires_at=expires_at,
        due_at=record.due_at,
        outputs=outcome.outputs if outcome is not None else None,
        message=outcome.message if outcome is not None else None,
        error=outcome.error if outcome is not None else None,
        warnings=(*order.warnings, *record.warnings),
        observables=outcome.observables if outcome is not None else Observables(),
        attempts=record.attempts,
        cached=record.cached_from is not None,
        dry_run=order.dry_run,
        lane=lane_of(order),
        facts=order.facts,
        record=record.record,
        workflow_id=None if record.cached_from is not None else skill_invocation_id(record.invocation_id),
        created_at=order.created_at,
        updated_at=record.updated_at,
        next_action=_next_action(record),
    )


def lane_of(order: InvocationOrder) -> SkillLane:
    """By what the invocation is carried out."""
    if order.learned is not None:
        return SkillLane.LEARNED_SCRIPT
    return SkillLane.SKILL if order.unapproved_path is None else SkillLane.UNAPPROVED


_NEXT = {
    InvocationStatus.AWAITING_CONFIRMATION: "Confirm it: apprentice skills confirm, or POST …/confirm.",
    InvocationStatus.OUTCOME_UNKNOWN: "It may have happened: look at the far side before you ask again.",
    InvocationStatus.EXPIRED: "Nobody confirmed in time. Ask again if it is still wanted.",
}


def _next_action(record: InvocationRecord) -> str | None:
    if record.awaits_until is not None:
        return "It asks something: apprentice memories answer, or POST /api/inbox/{item_id}/answer."
    if record.due_at is not None:
        return f"It goes on at {rfc3339(record.due_at)}; until then: apprentice skills cancel {record.invocation_id}"
    return _NEXT.get(record.status)


def _drop_answers(connection: Connection, record: InvocationRecord) -> None:
    """Drops the owner's kept answers of skills that a run of this one makes wrong (X-26)."""
    dropped = record.manifest.drops_cache_of
    if dropped and record.attempts:
        connection.execute(
            skill_results.delete().where(
                skill_results.c.owner == record.owner, skill_results.c.skill.in_(dropped)
            )
        )


def _keep_answer(connection: Connection, record: InvocationRecord, digest: str, now: datetime) -> None:
    """Keeps the answer of a run that succeeded for as long as its manifest says, and drops those that are too old."""
    order, manifest = record.order, record.manifest
    if order.cache_key is None or record.status is not InvocationStatus.SUCCESS:
        return
    row = {
        "owner": order.owner_user_id,
        "cache_key": order.cache_key,
        "skill": order.skill,
        "invocation_id": order.invocation_id,
        "outcome_digest": digest,
        "expires_at": rfc3339(now + timedelta(milliseconds=manifest.cache_ttl_ms)),
    }
    connection.execute(skill_results.delete().where(skill_results.c.expires_at <= rfc3339(now)))
    statement = insert_or(connection, skill_results).values(row)
    fresh = {name: statement.excluded[name] for name in ("invocation_id", "outcome_digest", "expires_at")}
    connection.execute(statement.on_conflict_do_update(index_elements=["owner", "cache_key"], set_=fresh))


OPEN_STATUSES = tuple(status.value for status in OPEN_INVOCATION_STATUSES)
