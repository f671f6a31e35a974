"""The journal entries of a decision: lifecycle events, receipts and the records of what changed."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from pydantic import BaseModel
from uuid_utils import uuid7

from contracts.base import rfc3339
from contracts.learning.aggregate import SessionCommit
from contracts.learning.lifecycle import LearningReceipt, LearnSessionEvent, LifecycleChange
from stores.journal import JournalDraft

LIFECYCLE = "system/learning/lifecycle_events"
RECEIPTS = "system/learning/receipts"
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
                aggregate=f"learn-session/{session.learn_session_id}",
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
