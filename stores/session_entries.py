"""The journal entries of a decision: lifecycle events, receipts and the records of what changed."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel
from uuid_utils import uuid7

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
    aggregate = commit.aggregate
    entries.add(SESSIONS, aggregate.session)
    if commit.boundary is not None:
        entries.add(BOUNDARIES, commit.boundary)
    if aggregate.proposal is not None and aggregate.proposal.updated_at == aggregate.session.updated_at:
        entries.add(PROPOSALS, aggregate.proposal)
    if commit.staged is not None and aggregate.questions_due_at is not None:
        for question in aggregate.questions:
            entries.add(QUESTIONS, question)
    for answer in commit.answers:
        entries.add(ANSWERS, answer)
    started = aggregate.validation
    if started is not None and started.started_at == aggregate.session.updated_at:
        entries.add(RUNS, started)
    if commit.finished_run is not None:
        entries.add(RUNS, commit.finished_run)
    if commit.report is not None:
        entries.add(REPORTS, commit.report)
    return tuple(entries.drafts)


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
                created_at=now,
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
