"""Store of learning sessions: commits of their workflow, one transaction each, and receipts by idempotency key.

A commit writes the aggregate with its parts, the journal entries (events, receipts, records) and the projected
documents (runtime snapshot, observation scope; DOC3 §0C.7-§0C.9).
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import BaseModel
from sqlalchemy import Connection, select, update
from sqlalchemy.exc import IntegrityError

from contracts.abilities.capability_health import CapabilityEventName
from contracts.abilities.capability_manifest import HealthStatus
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import (
    CommandReceipt,
    CommitResult,
    LearnSessionAggregate,
    SessionCommit,
)
from contracts.learning.lifecycle import LearningLifecycleEvent, LifecycleChange
from contracts.learning.observation import ObservationAdapterKind, ObservationScopeRuntime, RedactionMode
from contracts.learning.responses import LearningRuntimeSnapshot
from contracts.learning.session import LearnSessionState
from contracts.platform.commands import CommitKey
from contracts.workflow_ids import learn_session_id
from domain.learning.interpretation.meaningful import watches_the_agent
from domain.learning.session.account import observation_scope, runtime_snapshot
from domain.learning.session.allowed_actions import already_active
from domain.learning.session.feedback import feedback_of
from stores.abilities.ability_rows import entry_of, own_health, tell_capability
from stores.learning.learning_tables import BOUNDARIES, PROPOSALS, QUESTIONS, SESSIONS, VALIDATION_RUNS
from stores.learning.proposals import keep_round
from stores.learning.recent_runs import copy_runs
from stores.platform import tables
from stores.platform.answers import recalled, remember
from stores.platform.blobs import get_blob
from stores.platform.canonical import canonical_json, document_bytes
from stores.platform.database import Database
from stores.platform.journal.journal import RECEIPTS, JournalDraft, JournalEntries, append
from stores.platform.projection.documents import put_documents

TABLE = tables.learn_sessions


class SessionStore:
    """The durable side of LearnSessionWorkflow."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def commit(self, commit: SessionCommit) -> CommitResult:
        """Writes one decision, once, however often it is tried.

        Raises:
            Refusal: ``IDEMPOTENCY_KEY_REUSED`` (same key, other request), ``CONFLICT`` (the decision was
                based on an older state), ``LEARN_SESSION_ALREADY_ACTIVE`` (the owner's slot is taken).
        """
        try:
            with self._database.write() as connection:
                earlier = recalled(connection, commit.commit_key, CommandReceipt)
                if earlier is not None:
                    present = SESSIONS.find(connection, commit.aggregate.session.learn_session_id)
                    return CommitResult(receipt=earlier, replayed=True, present=present)
                _write_session(connection, commit)
                if commit.expected_change == 0 and commit.aggregate.source_runs:
                    copy_runs(connection, commit.aggregate)
                _write_parts(connection, commit)
                append(connection, [*entries_of(commit), *_capability_events(connection, commit)])
                project_truth(connection, commit)
                written_at = commit.aggregate.session.updated_at
                remember(connection, commit.commit_key, commit.receipt, written_at)
        except IntegrityError as error:
            raise self._slot_taken(commit.aggregate.session.owner_user_id) or error from error
        return CommitResult(receipt=commit.receipt)

    def recall(self, key: CommitKey) -> CommandReceipt | None:
        """The receipt of an earlier request with this key, with the response body if one was kept.

        Raises:
            Refusal: ``IDEMPOTENCY_KEY_REUSED``.
        """
        with self._database.read() as connection:
            receipt = recalled(connection, key, CommandReceipt)
            if receipt is None:
                return None
            response = connection.scalar(_commit_row(key, tables.commits.c.response))
        return receipt.changed(kept_response=response)

    def keep_response(self, key: CommitKey, response: str) -> str:
        """Keeps the body first answered under this key; returns the one that counts."""
        commits = tables.commits
        with self._database.write() as connection:
            connection.execute(
                update(commits)
                .where(
                    commits.c.owner == key.owner_user_id,
                    commits.c.key == key.key,
                    commits.c.response.is_(None),
                )
                .values(response=response)
            )
            kept = connection.scalar(_commit_row(key, commits.c.response))
        return kept or response

    def owned(self, session_id: str, owner: str) -> LearnSessionAggregate:
        """The session as last committed.

        Raises:
            Refusal: ``LEARN_SESSION_NOT_FOUND``, also for another owner's.
        """
        with self._database.read() as connection:
            return SESSIONS.owned(connection, session_id, owner)

    def find(self, session_id: str) -> LearnSessionAggregate | None:
        """A session of any owner as last committed."""
        with self._database.read() as connection:
            return SESSIONS.find(connection, session_id)

    def active_session_id(self, owner: str) -> str | None:
        """The session that holds the owner's slot."""
        with self._database.read() as connection:
            return connection.scalar(
                select(TABLE.c.session_id).where(TABLE.c.owner == owner, tables.HOLDS_SLOT)
            )

    def watching_the_agent(self, owner: str) -> str | None:
        """The owner's session that is shown what their agents do now, if there is one."""
        with self._database.read() as connection:
            found = SESSIONS.first(connection, TABLE.c.owner == owner, tables.HOLDS_SLOT)
        if found is None or not watches_the_agent(found.session):
            return None
        return found.session.learn_session_id

    def _slot_taken(self, owner: str) -> Refusal | None:
        with self._database.read() as connection:
            active = SESSIONS.first(connection, TABLE.c.owner == owner, tables.HOLDS_SLOT)
        return already_active(active) if active is not None else None


def _commit_row(key: CommitKey, *columns: Any) -> Any:
    commits = tables.commits
    return select(*columns).where(commits.c.owner == key.owner_user_id, commits.c.key == key.key)


def _write_session(connection: Connection, commit: SessionCommit) -> None:
    if commit.expected_change == 0:
        SESSIONS.add(connection, commit.aggregate)
    elif not SESSIONS.replace(connection, commit.aggregate, TABLE.c.change == commit.expected_change):
        raise Refusal(
            ErrorCode.CONFLICT, "The session has changed meanwhile; read it again and repeat the command."
        )


def _write_parts(connection: Connection, commit: SessionCommit) -> None:
    aggregate = commit.aggregate
    if commit.boundary is not None:
        BOUNDARIES.add(connection, commit.boundary)
    _write_proposal(connection, commit)
    for question in aggregate.questions:
        QUESTIONS.put(connection, question)
    for answer in commit.answers:
        connection.execute(
            update(tables.questions)
            .where(tables.questions.c.question_id == answer.question_id)
            .values(answer=canonical_json(answer))
        )
    for run in (aggregate.validation, commit.finished_run):
        if run is not None:
            VALIDATION_RUNS.put(connection, run)


def _write_proposal(connection: Connection, commit: SessionCommit) -> None:
    proposal = commit.aggregate.proposal
    if proposal is None:
        return
    columns = {"session_id": commit.aggregate.session.learn_session_id}
    if commit.staged is not None:
        columns["staged"] = canonical_json(commit.staged)
        keep_round(connection, proposal, commit.staged)
    if not PROPOSALS.replace(connection, proposal, **columns):
        PROPOSALS.add(connection, proposal, **columns)


SESSION_RECORDS = "system/learning/sessions"
PROPOSAL_RECORDS = "system/learning/proposals"
QUESTION_RECORDS = "system/learning/questions"
ANSWER_RECORDS = "system/learning/answers"
RUN_RECORDS = "system/learning/validation_runs"
STEP_RESULTS = "system/learning/validation_step_results"
REPORT_RECORDS = "system/learning/validation_reports"
BOUNDARY_RECORDS = "system/learning/boundaries"
FEEDBACK_RECORDS = "system/capabilities/skill_proposal_feedback"


def entries_of(commit: SessionCommit) -> tuple[JournalDraft, ...]:
    """Everything the journal is to hold of this decision, in the order it happened."""
    entries = _entries(commit)
    for change in commit.changes:
        payload: dict[str, Any] = {**change.payload, "state": change.state.value}
        if change.reason is not None:
            payload["reason"] = change.reason
        entries.event(change.event.value, payload, change.ability_id)
        if change.receipt is not None:
            entries.receipt(change.receipt, change.reason, change.ability_id)
    for stream, record in _records(commit):
        entries.add(stream, record)
    return tuple(entries.drafts)


def _entries(commit: SessionCommit) -> JournalEntries:
    session = commit.aggregate.session
    return JournalEntries(
        learn_session_id(session.learn_session_id),
        session.owner_user_id,
        commit.correlation_id,
        session.updated_at,
        session.learn_session_id,
        session.proposal_id,
    )


def _capability_events(connection: Connection, commit: SessionCommit) -> tuple[JournalDraft, ...]:
    """What a decision means for capabilities (DOC3 L4620-4636); of an install, once it can be undone no more."""
    entries = _entries(commit)
    session = commit.aggregate.session
    for change in commit.changes:
        submitted = change.state is LearnSessionState.READY_FOR_REVIEW
        match change.event:
            case LearningLifecycleEvent.SESSION_STARTED:
                name = CapabilityEventName.TEACH_SESSION_CREATED
            case LearningLifecycleEvent.SESSION_CANCELLED:
                name = CapabilityEventName.TEACH_SESSION_CANCELLED
            case LearningLifecycleEvent.VALIDATION_COMPLETED if submitted:
                name = CapabilityEventName.TEACH_PROPOSAL_SUBMITTED
            case LearningLifecycleEvent.INSTALL_COMPLETED:
                _tell_install(connection, entries, change)
                continue
            case _:
                continue
        entries.capability_event(
            name, learn_session_id=session.learn_session_id, proposal_id=session.proposal_id
        )
    return tuple(entries.drafts)


def _tell_install(connection: Connection, entries: JournalEntries, change: LifecycleChange) -> None:
    sagas = tables.install_sagas
    plan = connection.scalar(select(sagas.c.plan).where(sagas.c.saga_id == change.payload["saga_id"]))
    prior = json.loads(plan).get("prior_capability") if plan is not None else None
    before = HealthStatus(prior["health"]) if prior is not None else None
    names = [CapabilityEventName.MANIFEST_CREATED]
    if prior is not None:
        names = [CapabilityEventName.MANIFEST_UPDATED]
        if own_health(connection, prior["capability_id"]) is not before:
            names.append(CapabilityEventName.HEALTH_CHANGED)
    tell_capability(connection, entries, names, change.ability_id or "", before)


def _records(commit: SessionCommit) -> Iterator[tuple[str, BaseModel]]:
    """The records that this decision wrote anew, each with the stream it belongs to."""
    aggregate = commit.aggregate
    session, proposal, started = aggregate.session, aggregate.proposal, aggregate.validation
    yield SESSION_RECORDS, session
    if commit.boundary is not None:
        yield BOUNDARY_RECORDS, commit.boundary
    if proposal is not None and proposal.updated_at == session.updated_at:
        yield PROPOSAL_RECORDS, proposal
    if commit.staged is not None and aggregate.questions_due_at is not None:
        yield from ((QUESTION_RECORDS, question) for question in aggregate.questions)
    yield from ((ANSWER_RECORDS, answer) for answer in commit.answers)
    if started is not None and started.started_at == session.updated_at:
        yield RUN_RECORDS, started
    if commit.finished_run is not None:
        yield RUN_RECORDS, commit.finished_run
    if commit.report is not None:
        yield REPORT_RECORDS, commit.report
    yield from ((FEEDBACK_RECORDS, given) for given in feedback_of(commit))


RUNTIME = "system/learning/runtime/current.json"
SCOPE = "system/learning/runtime/observation_scope_current.json"
LATEST_RECEIPTS = 10


def project_truth(connection: Connection, commit: SessionCommit) -> None:
    """Rewrites the runtime snapshot and the observation scope, and the interpretation if there is a new one."""
    aggregate = commit.aggregate
    session = aggregate.session
    observed = _observed(connection, session.learn_session_id)
    truth = {
        RUNTIME: document_bytes(_snapshot(connection, aggregate, observed)),
        SCOPE: document_bytes(_scope(aggregate, observed)),
    }
    if commit.staged is not None and session.interpretation_id is not None:
        interpretation = json.loads(get_blob(connection, commit.staged.interpretation_blob))
        truth[f"system/learning/interpretations/{session.interpretation_id}.json"] = document_bytes(
            interpretation
        )
    put_documents(connection, "memory", truth)


def snapshot_of(connection: Connection, aggregate: LearnSessionAggregate) -> LearningRuntimeSnapshot:
    """The session at work: what is observed, its newest receipts, its proposal and ability (DOC3 §0C.7)."""
    return _snapshot(connection, aggregate, _observed(connection, aggregate.session.learn_session_id))


def scope_of(connection: Connection, aggregate: LearnSessionAggregate) -> ObservationScopeRuntime:
    """What the session observes, with the counters as they are now."""
    return _scope(aggregate, _observed(connection, aggregate.session.learn_session_id))


class _Observed(NamedTuple):
    """What was observed so far."""

    off_target: int
    """Events that were left out."""

    adapters: dict[ObservationAdapterKind, RedactionMode]
    """Those that have reported: each masks texts before they are kept."""


def _snapshot(
    connection: Connection, aggregate: LearnSessionAggregate, observed: _Observed
) -> LearningRuntimeSnapshot:
    session = aggregate.session
    return runtime_snapshot(
        session,
        proposal=aggregate.proposal,
        observed_data_classes=observed.adapters,
        latest_receipt_ids=latest_receipt_ids(connection, session.learn_session_id),
        ability_entry=entry_of(connection, session.ability_id) if session.ability_id else None,
        now=session.updated_at,
    )


def _scope(aggregate: LearnSessionAggregate, observed: _Observed) -> ObservationScopeRuntime:
    return observation_scope(
        aggregate.session,
        dropped_off_target=observed.off_target,
        adapters=observed.adapters,
        data_classes=observed.adapters,
        started_at=aggregate.state_since,
    )


def _observed(connection: Connection, session_id: str) -> _Observed:
    table = tables.observation_counters
    row = connection.execute(
        select(table.c.off_target, table.c.adapters).where(table.c.session_id == session_id)
    ).one_or_none()
    names: list[str] = json.loads(row.adapters) if row is not None else []
    masked = {ObservationAdapterKind(name): RedactionMode.MASK_TEXT for name in names}
    return _Observed(row.off_target if row is not None else 0, masked)


def latest_receipt_ids(connection: Connection, session_id: str) -> tuple[str, ...]:
    """The newest receipts of a session, newest first."""
    rows = connection.execute(
        select(tables.journal.c.document)
        .where(tables.journal.c.session_id == session_id, tables.journal.c.stream == RECEIPTS)
        .order_by(tables.journal.c.seq.desc())
        .limit(LATEST_RECEIPTS)
    )
    return tuple(json.loads(row.document)["receipt_id"] for row in rows)
