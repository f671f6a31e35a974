"""Practice on record: one document a session, with its journal entries and receipts written along."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from pydantic import BaseModel
from sqlalchemy import Connection
from uuid_utils import uuid7

from contracts.base import clipped, rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.learning.lifecycle import (
    LearningLifecycleEvent,
    LearningReceipt,
    LearningReceiptKind,
    LearnSessionEvent,
)
from contracts.learning.practice import (
    AttemptNoted,
    PracticeClosing,
    PracticeRun,
    PracticeState,
    StartPracticeRequest,
)
from stores.blobs import get_blob, put_blob
from stores.canonical import canonical_json, digest_of, document_bytes
from stores.database import Database
from stores.documents import put_document, read_document, remove_document
from stores.journal import JournalDraft, append
from stores.session_entries import LIFECYCLE, RECEIPTS

FOLDER = "system/learning/practice"


class PracticeStore:
    """The durable side of PracticeWorkflow. Every change may be tried again."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open(self, run: PracticeRun, request: StartPracticeRequest) -> PracticeRun:
        """Puts a practice on record, or finds the same one there.

        Raises:
            Refusal: ``CONFLICT`` when the session practises, or has practised, something else.
        """
        body = canonical_json(request).encode()
        with self._database.write() as connection:
            digest = put_blob(connection, body, run.started_at)
            known = _read(connection, run.learn_session_id)
            if known is not None:
                if known.request_blob == digest:
                    return known
                raise Refusal(
                    ErrorCode.CONFLICT,
                    "This session has a practice already; read it, or practise in a new session.",
                )
            opened = run.model_copy(update={"request_blob": digest})
            _write(connection, opened)
            _record(connection, opened, LearningLifecycleEvent.PRACTICE_STARTED, goal=run.goal)
            return opened

    def forget(self, session_id: str) -> None:
        """Takes a practice that was never started off the record."""
        with self._database.write() as connection:
            remove_document(connection, "memory", _path(session_id))

    def get(self, session_id: str) -> PracticeRun:
        """The practice of a session.

        Raises:
            Refusal: ``NOT_FOUND``.
        """
        with self._database.read() as connection:
            run = _read(connection, session_id)
        return _there(run)

    def known(self, session_id: str, request: StartPracticeRequest) -> PracticeRun | None:
        """The session's practice where it is of this very request."""
        with self._database.read() as connection:
            run = _read(connection, session_id)
        digest = digest_of(canonical_json(request).encode())
        return run if run is not None and run.request_blob == digest else None

    def request_of(self, run: PracticeRun) -> StartPracticeRequest:
        """The whole request, start files included."""
        with self._database.read() as connection:
            return StartPracticeRequest.model_validate_json(get_blob(connection, run.request_blob))

    def note(self, noted: AttemptNoted) -> PracticeRun:
        """Adds an attempt, once."""
        attempt = noted.attempt

        def added(run: PracticeRun) -> PracticeRun:
            if any(known.number == attempt.number for known in run.attempts):
                return run
            return run.model_copy(
                update={
                    "attempts": (*run.attempts, attempt),
                    "actions_used": run.actions_used + len(attempt.actions),
                }
            )

        facts: dict[str, object] = {
            "attempt": attempt.number,
            "actions": len(attempt.actions),
            "reached": attempt.reached,
            "outcome": attempt.outcome,
        }
        return self._change(
            noted.ref.learn_session_id, added, LearningLifecycleEvent.PRACTICE_ATTEMPTED, noted.now, facts
        )

    def close(self, closing: PracticeClosing) -> PracticeRun:
        """Records how practice ended; the first end stands."""

        def closed(run: PracticeRun) -> PracticeRun:
            if run.state is not PracticeState.RUNNING:
                return run
            return run.model_copy(
                update={
                    "state": closing.state,
                    "note": closing.note,
                    "question": closing.question,
                    "finished_at": closing.now,
                }
            )

        facts: dict[str, object] = {"practice_state": closing.state.value, "note": closing.note}
        return self._change(
            closing.ref.learn_session_id, closed, LearningLifecycleEvent.PRACTICE_ENDED, closing.now, facts
        )

    def _change(
        self,
        session_id: str,
        change: Callable[[PracticeRun], PracticeRun],
        event: LearningLifecycleEvent,
        now: datetime,
        facts: dict[str, object],
    ) -> PracticeRun:
        with self._database.write() as connection:
            before = _there(_read(connection, session_id))
            after = change(before)
            if after == before:
                return before
            after = after.model_copy(update={"updated_at": now})
            _write(connection, after)
            _record(connection, after, event, **facts)
        return after


def _record(connection: Connection, run: PracticeRun, event: LearningLifecycleEvent, **facts: object) -> None:
    """The journal's entry of a change; beginning and end get a receipt that says what was tried."""
    told = LearnSessionEvent(
        event_kind=event.value,
        session_id=run.learn_session_id,
        payload={**facts, "actions_used": run.actions_used},
        timestamp=run.updated_at,
    )
    drafts = [_draft(run, LIFECYCLE, told)]
    kinds = {
        LearningLifecycleEvent.PRACTICE_STARTED: LearningReceiptKind.PRACTICE_STARTED,
        LearningLifecycleEvent.PRACTICE_ENDED: LearningReceiptKind.PRACTICE_ENDED,
    }
    if event in kinds:
        receipt = LearningReceipt(
            receipt_id=str(uuid7()),
            learn_session_id=run.learn_session_id,
            event_kind=kinds[event],
            reason=clipped(_summary(run), 240),
            correlation_id=run.correlation_id,
            created_at=run.updated_at,
        )
        drafts.append(_draft(run, RECEIPTS, receipt))
    append(connection, drafts)


def _summary(run: PracticeRun) -> str:
    if run.state is PracticeState.RUNNING:
        return f"practises: {run.goal}"
    tried = "; ".join(" && ".join(step.command for step in one.idea.steps) for one in run.attempts)
    head = f"{run.state.value}: {len(run.attempts)} attempt(s), {run.actions_used} action(s). {run.note}"
    return f"{head} Tried: {tried}" if tried else head


def _draft(run: PracticeRun, stream: str, document: BaseModel) -> JournalDraft:
    body: dict[str, Any] = document.model_dump(mode="json", exclude_none=True)
    return JournalDraft(
        stream=stream,
        aggregate=f"practice/{run.learn_session_id}",
        owner=run.owner_user_id,
        correlation_id=run.correlation_id,
        created_at=rfc3339(run.updated_at),
        document=body,
        session_id=run.learn_session_id,
    )


def _path(session_id: str) -> str:
    return f"{FOLDER}/{session_id}.json"


def _read(connection: Connection, session_id: str) -> PracticeRun | None:
    content = read_document(connection, "memory", _path(session_id))
    return PracticeRun.model_validate_json(content) if content is not None else None


def _write(connection: Connection, run: PracticeRun) -> None:
    put_document(connection, "memory", _path(run.learn_session_id), document_bytes(run))


def _there(run: PracticeRun | None) -> PracticeRun:
    if run is None:
        raise Refusal(ErrorCode.NOT_FOUND, "This session has no practice; start one with POST …/practice.")
    return run
