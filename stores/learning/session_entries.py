"""Journal entries and projected documents of a session commit: events, receipts, records, runtime snapshot.

DOC3 §0C.7-§0C.9.
"""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from pydantic import BaseModel
from sqlalchemy import Connection, select
from uuid_utils import uuid7

from contracts.base import rfc3339
from contracts.learning.aggregate import SessionCommit
from contracts.learning.lifecycle import LearningReceipt, LearnSessionEvent, LifecycleChange
from contracts.learning.observation import ObservationAdapterKind, RedactionMode
from contracts.workflow_ids import learn_session_id
from domain.learning.session.account import observation_scope, runtime_snapshot
from stores.abilities.ability_rows import entry_of
from stores.platform import tables
from stores.platform.blobs import get_blob
from stores.platform.canonical import document_bytes
from stores.platform.journal.journal import LIFECYCLE, RECEIPTS, JournalDraft
from stores.platform.projection.documents import put_document

SESSIONS = "system/learning/sessions"
PROPOSALS = "system/learning/proposals"
QUESTIONS = "system/learning/questions"
ANSWERS = "system/learning/answers"
RUNS = "system/learning/validation_runs"
STEP_RESULTS = "system/learning/validation_step_results"
REPORTS = "system/learning/validation_reports"
BOUNDARIES = "system/learning/boundaries"


def entries_of(commit: SessionCommit) -> tuple[JournalDraft, ...]:
    """Everything the journal is to hold of this decision, in the order it happened."""
    entries = _Entries(commit)
    for change in commit.changes:
        entries.add(LIFECYCLE, _event(commit, change), change.ability_id)
        if change.receipt is not None:
            entries.add(RECEIPTS, _receipt(commit, change), change.ability_id)
    for stream, record in _records(commit):
        entries.add(stream, record)
    return tuple(entries.drafts)


def _records(commit: SessionCommit) -> Iterator[tuple[str, BaseModel]]:
    """The records that this decision wrote anew, each with the stream it belongs to."""
    aggregate = commit.aggregate
    session, proposal, started = aggregate.session, aggregate.proposal, aggregate.validation
    yield SESSIONS, session
    if commit.boundary is not None:
        yield BOUNDARIES, commit.boundary
    if proposal is not None and proposal.updated_at == session.updated_at:
        yield PROPOSALS, proposal
    if commit.staged is not None and aggregate.questions_due_at is not None:
        yield from ((QUESTIONS, question) for question in aggregate.questions)
    yield from ((ANSWERS, answer) for answer in commit.answers)
    if started is not None and started.started_at == session.updated_at:
        yield RUNS, started
    if commit.finished_run is not None:
        yield RUNS, commit.finished_run
    if commit.report is not None:
        yield REPORTS, commit.report


class _Entries:
    def __init__(self, commit: SessionCommit) -> None:
        self._commit = commit
        self.drafts: list[JournalDraft] = []

    def add(self, stream: str, document: BaseModel, ability_id: str | None = None) -> None:
        session = self._commit.aggregate.session
        now: datetime = session.updated_at
        body: dict[str, Any] = document.model_dump(mode="json", exclude_none=True)
        self.drafts.append(
            JournalDraft(
                stream=stream,
                aggregate=learn_session_id(session.learn_session_id),
                owner=session.owner_user_id,
                correlation_id=self._commit.correlation_id,
                created_at=rfc3339(now),
                document=body,
                session_id=session.learn_session_id,
                proposal_id=session.proposal_id,
                ability_id=ability_id,
            )
        )


def _event(commit: SessionCommit, change: LifecycleChange) -> LearnSessionEvent:
    session = commit.aggregate.session
    payload: dict[str, Any] = {**change.payload, "state": change.state.value}
    if change.reason is not None:
        payload["reason"] = change.reason
    return LearnSessionEvent(
        event_kind=change.event.value,
        session_id=session.learn_session_id,
        payload=payload,
        timestamp=session.updated_at,
    )


def _receipt(commit: SessionCommit, change: LifecycleChange) -> LearningReceipt:
    session = commit.aggregate.session
    assert change.receipt is not None, "only called for changes with a receipt"
    return LearningReceipt(
        receipt_id=str(uuid7()),
        learn_session_id=session.learn_session_id,
        proposal_id=session.proposal_id,
        event_kind=change.receipt,
        reason=change.reason,
        correlation_id=commit.correlation_id,
        created_at=session.updated_at,
    )


CURRENT = "system/learning/runtime/current.json"
SCOPE = "system/learning/runtime/observation_scope_current.json"
LATEST_RECEIPTS = 10


def project_truth(connection: Connection, commit: SessionCommit) -> None:
    """Rewrites the runtime snapshot and the observation scope, and the interpretation if there is a new one."""
    aggregate = commit.aggregate
    session = aggregate.session
    counters = connection.execute(
        select(tables.observation_counters).where(
            tables.observation_counters.c.session_id == session.learn_session_id
        )
    ).one_or_none()
    adapters = observed_adapters(counters.adapters if counters is not None else None)
    snapshot = runtime_snapshot(
        session,
        proposal=aggregate.proposal,
        observed_data_classes=adapters,
        latest_receipt_ids=latest_receipt_ids(connection, session.learn_session_id),
        ability_entry=entry_of(connection, session.ability_id) if session.ability_id else None,
        now=session.updated_at,
    )
    put_document(connection, "memory", CURRENT, document_bytes(snapshot))
    scope = observation_scope(
        session,
        dropped_off_target=counters.off_target if counters is not None else 0,
        adapters=adapters,
        data_classes=adapters,
        started_at=aggregate.state_since,
    )
    put_document(connection, "memory", SCOPE, document_bytes(scope))
    if commit.staged is not None and session.interpretation_id is not None:
        interpretation = json.loads(get_blob(connection, commit.staged.interpretation_blob))
        path = f"system/learning/interpretations/{session.interpretation_id}.json"
        put_document(connection, "memory", path, document_bytes(interpretation))


def observed_adapters(kinds: str | None) -> dict[ObservationAdapterKind, RedactionMode]:
    """The adapters that have reported (a JSON list), each masking texts before they are kept."""
    names: list[str] = json.loads(kinds) if kinds else []
    return {ObservationAdapterKind(name): RedactionMode.MASK_TEXT for name in names}


def latest_receipt_ids(connection: Connection, session_id: str) -> tuple[str, ...]:
    """The newest receipts of a session, newest first."""
    rows = connection.execute(
        select(tables.journal.c.document)
        .where(tables.journal.c.session_id == session_id, tables.journal.c.stream == RECEIPTS)
        .order_by(tables.journal.c.seq.desc())
        .limit(LATEST_RECEIPTS)
    )
    return tuple(json.loads(row.document)["receipt_id"] for row in rows)
