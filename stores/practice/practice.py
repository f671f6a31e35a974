"""Store of practice runs (one document a session, with journal entries), and the commands that a user has taught."""

from collections.abc import Callable, Iterator
from datetime import datetime

from sqlalchemy import Connection

from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.lifecycle import LearningLifecycleEvent, LearningReceiptKind
from contracts.learning.observation import BoundaryKind, ExitClass
from contracts.learning.session import LearnSessionState as S
from contracts.practice.practice import (
    AttemptNoted,
    IdeaSource,
    PracticeClosing,
    PracticeRun,
    PracticeState,
    StartPracticeRequest,
)
from contracts.workflow_ids import practice_id
from domain.practice.commands import KnownCommand
from stores.learning.drafts import load_bundle
from stores.learning.learning_tables import SESSIONS
from stores.learning.observations import ObservationLog
from stores.platform.blobs import BlobNotFoundError, put_blob, read_blob
from stores.platform.canonical import canonical_json, digest_of, document_bytes
from stores.platform.database import Database
from stores.platform.journal.journal import JournalEntries, append
from stores.platform.projection.documents import folder_contents, put_document, read_document
from stores.platform.tables import learn_sessions as table

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
                    retryable=False,
                )
            opened = run.changed(request_blob=digest)
            _write(connection, opened)
            _record(connection, opened, LearningLifecycleEvent.PRACTICE_STARTED, goal=run.goal)
            return opened

    def get(self, session_id: str) -> PracticeRun:
        """The practice of a session.

        Raises:
            Refusal: ``NOT_FOUND``.
        """
        return _there(self.find(session_id))

    def find(self, session_id: str) -> PracticeRun | None:
        """The practice of a session, if it has one."""
        with self._database.read() as connection:
            return _read(connection, session_id)

    def known(self, session_id: str, request: StartPracticeRequest) -> PracticeRun | None:
        """The session's practice where it is of this very request."""
        with self._database.read() as connection:
            run = _read(connection, session_id)
        digest = digest_of(canonical_json(request).encode())
        return run if run is not None and run.request_blob == digest else None

    def unheard(self, until: datetime) -> tuple[PracticeRun, ...]:
        """The practices that have not ended and made no news since ``until``, whatever their sessions do."""
        with self._database.read() as connection:
            found = [
                PracticeRun.model_validate_json(one) for one in folder_contents(connection, "memory", FOLDER)
            ]
        return tuple(run for run in found if run.state is PracticeState.RUNNING and run.updated_at <= until)

    def request_of(self, run: PracticeRun) -> StartPracticeRequest:
        """The whole request, start files included."""
        with self._database.read() as connection:
            return read_blob(connection, run.request_blob, StartPracticeRequest)

    def note(self, noted: AttemptNoted) -> PracticeRun:
        """Adds an attempt, once."""
        attempt = noted.attempt

        def added(run: PracticeRun) -> PracticeRun:
            if any(known.number == attempt.number for known in run.attempts):
                return run
            return run.changed(
                attempts=(*run.attempts, attempt), actions_used=run.actions_used + len(attempt.actions)
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
            return run.changed(
                state=closing.state, note=closing.note, question=closing.question, finished_at=closing.now
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
            after = after.changed(updated_at=now)
            _write(connection, after)
            _record(connection, after, event, **facts)
        return after


def _record(connection: Connection, run: PracticeRun, event: LearningLifecycleEvent, **facts: object) -> None:
    """The journal's entry of a change; beginning and end get a receipt."""
    entries = JournalEntries(
        practice_id(run.learn_session_id),
        run.owner_user_id,
        run.correlation_id,
        run.updated_at,
        run.learn_session_id,
    )
    entries.event(event.value, {**facts, "actions_used": run.actions_used})
    kinds = {
        LearningLifecycleEvent.PRACTICE_STARTED: LearningReceiptKind.PRACTICE_STARTED,
        LearningLifecycleEvent.PRACTICE_ENDED: LearningReceiptKind.PRACTICE_ENDED,
    }
    if event in kinds:
        entries.receipt(kinds[event], _summary(run))
    append(connection, entries.drafts)


def _summary(run: PracticeRun) -> str:
    if run.state is PracticeState.RUNNING:
        return f"practises: {run.goal}"
    tried = "; ".join(" && ".join(step.command for step in one.idea.steps) for one in run.attempts)
    head = f"{run.state.value}: {len(run.attempts)} attempt(s), {run.actions_used} action(s). {run.note}"
    return f"{head} Tried: {tried}" if tried else head


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


_SESSIONS = 50
_MOST = 200
_INSTALLED = frozenset({S.INSTALLED_PRIVATE, S.APPROVED})


class PracticeKnowledge:
    """Read-only. Captures were redacted before they were kept."""

    def __init__(self, database: Database, log: ObservationLog) -> None:
        self._database = database
        self._log = log

    def of(self, owner: str) -> tuple[KnownCommand, ...]:
        """Commands that ``owner`` taught, those of installed abilities first; each once, at most 200."""
        with self._database.read() as connection:
            found = SESSIONS.all(
                connection,
                table.c.owner == owner,
                order_by=(table.c.session_id.desc(),),
                limit=_SESSIONS,
            )
        sessions = sorted(found, key=lambda one: one.session.state not in _INSTALLED)
        known: dict[str, KnownCommand] = {}
        for session in sessions:
            for taught in self._taught_in(session):
                known.setdefault(taught.command, taught)
            if len(known) >= _MOST:
                break
        return tuple(known.values())[:_MOST]

    def _taught_in(self, aggregate: LearnSessionAggregate) -> Iterator[KnownCommand]:
        session = aggregate.session
        events = self._log.all_of(session.learn_session_id)
        made = {
            e.event_id: tuple(f.path for f in e.terminal.produced_files if f.change != "deleted")
            for e in events
            if e.terminal is not None
        }
        if session.state in _INSTALLED and session.proposal_id is not None:
            yield from self._of_ability(session.proposal_id, made)
            return
        about = self._goal_of(session.learn_session_id)
        for event in events:
            terminal = event.terminal
            if terminal and terminal.exit_class is ExitClass.OK and terminal.working_folder in ("", "."):
                yield KnownCommand(terminal.command, made[event.event_id], about, IdeaSource.TRACE)

    def _of_ability(self, proposal_id: str, made: dict[str, tuple[str, ...]]) -> Iterator[KnownCommand]:
        try:
            with self._database.read() as connection:
                _, bundle = load_bundle(connection, proposal_id)
        except BlobNotFoundError:
            return
        about = f"{bundle.draft.title}. {bundle.interpretation.goal_summary}"
        for taught in bundle.draft.rehearsal:
            if taught.working_folder in ("", "."):
                yield KnownCommand(
                    taught.command, made.get(taught.event_id, ()), about[:240], IdeaSource.ABILITY
                )

    def _goal_of(self, session_id: str) -> str:
        marks = self._log.boundaries_of(session_id)
        goals = [mark.label for mark in marks if mark.kind is BoundaryKind.MARK_GOAL and mark.label]
        return goals[-1][:240] if goals else ""
