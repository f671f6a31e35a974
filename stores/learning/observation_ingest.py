"""Ingest of observations: filtered, redacted and encoded on the caller's thread, written by one group-commit thread.

This is the hot path of a recording: facts are looked up once a session or once a group, and the long statements are
prepared for the driver rather than composed per group.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain

import orjson
from sqlalchemy import Connection, insert, select, update

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.learning.observation import (
    IngestObservationsResponse,
    ObservationAdapterKind,
    ObservedActionEvent,
)
from contracts.learning.session import LearnSessionState, ObservationMode
from domain.learning.interpretation.meaningful import is_meaningful, is_on_target
from domain.learning.redaction.redaction import (
    always_redacted,
    joined,
    may_hold_secret,
    may_need_redaction,
    redact_event,
    texts_of,
)
from stores.learning.learning_tables import SESSIONS
from stores.platform.canonical import canonical_json
from stores.platform.database import Database
from stores.platform.journal.group_commit import GroupCommitWriter
from stores.platform.tables import observation_counters

ROWS_A_STATEMENT = (100, 10, 1)
"""How many rows one statement inserts: few sizes, as the driver keeps each statement that it has parsed once."""

ObservationRow = tuple[str, str, bool, str]
"""Session, event, whether it is kept past the purge, and the redacted event as JSON."""

Addition = tuple[int, int, int, str, str]
"""How many more were accepted, off target and not meaningful; when; in which session."""


class IngestStatements:
    """The statements in one database's spelling."""

    def __init__(self, *, is_sqlite: bool) -> None:
        self._placeholder = one = "?" if is_sqlite else "%s"
        row = f"({', '.join([one] * 4)})"
        # Row by row, the driver gives the interpreter lock away as many times.
        self._insert = {
            size: "INSERT INTO observations (session_id, event_id, retain, body)"  # noqa: S608 - placeholders only
            f" VALUES {', '.join([row] * size)} ON CONFLICT (session_id, event_id) DO NOTHING"
            for size in ROWS_A_STATEMENT
        }
        # SQLite's writer is alone anyway.
        self._lock = "" if is_sqlite else " FOR UPDATE"
        self._add = (
            f"UPDATE observation_counters SET accepted = accepted + {one}, off_target = off_target + {one},"  # noqa: S608 - placeholders only
            f" not_meaningful = not_meaningful + {one}, updated_at = {one} WHERE session_id = {one}"
        )

    def locked_states(
        self, connection: Connection, session_ids: Sequence[str]
    ) -> dict[str, LearnSessionState]:
        """The states of the sessions that exist, locked to the end of the transaction.

        So no session stops between the check and the write; the locks are taken in one order everywhere, so
        two processes never wait for each other.
        """
        wanted = ", ".join([self._placeholder] * len(session_ids))
        rows = connection.exec_driver_sql(
            f"SELECT session_id, state FROM learn_sessions WHERE session_id IN ({wanted})"  # noqa: S608 - placeholders only
            f" ORDER BY session_id{self._lock}",
            tuple(session_ids),
        )
        return {session_id: LearnSessionState(state) for session_id, state in rows}

    def insert(self, connection: Connection, rows: Sequence[ObservationRow]) -> int:
        """Inserts the rows that are new and returns how many those were."""
        inserted = start = 0
        for size, statement in self._insert.items():
            while start + size <= len(rows):
                values = tuple(chain.from_iterable(rows[start : start + size]))
                inserted += connection.exec_driver_sql(statement, values).rowcount
                start += size
        return inserted

    def add_counts(self, connection: Connection, additions: list[Addition]) -> None:
        """Adds to the counters of sessions that have some."""
        if additions:
            connection.exec_driver_sql(self._add, additions)


OBSERVING: frozenset[LearnSessionState] = frozenset({LearnSessionState.ARMED, LearnSessionState.CAPTURING})
"""The states in which a session takes observations."""

_SESSIONS_REMEMBERED = 1024


@dataclass(slots=True)
class _KnownSession:
    """What never changes of a session, and whether it has counters and which adapters those name already."""

    mode: ObservationMode
    whitelist: tuple[str, ...]
    adapters: frozenset[str] = frozenset()
    counted: bool = False


@dataclass(frozen=True, slots=True)
class _Batch:
    session_id: str
    rows: list[ObservationRow]
    adapters: frozenset[str]
    new_adapters: bool
    off_target: int
    not_meaningful: int


class _RepeatedEvents(Exception):
    """Some rows of a group were there already: each batch has to count its own."""


class ObservationIngest:
    """The writing half of the observation log. Safe to share between threads; close it once."""

    def __init__(self, database: Database, capacity: int) -> None:
        self._database = database
        self._sql = IngestStatements(is_sqlite=database.is_sqlite)
        self._known: dict[str, _KnownSession] = {}
        self._writer = GroupCommitWriter[_Batch, IngestObservationsResponse](
            database, self._apply, capacity=capacity
        )

    def close(self) -> None:
        """Writes the batches that wait and ends the writer."""
        self._writer.close()

    def ingest(self, session_id: str, events: Sequence[ObservedActionEvent]) -> IngestObservationsResponse:
        """See ``ObservationLog.ingest``."""
        known = self._known.get(session_id) or self._look_up(session_id)
        batch = _prepare(session_id, known, events)
        answer = self._writer.write(batch)
        if answer.accepted or not batch.rows:
            known.counted = True
            known.adapters |= batch.adapters
        return answer

    def _look_up(self, session_id: str) -> _KnownSession:
        with self._database.read() as connection:
            aggregate = SESSIONS.find(connection, session_id)
        if aggregate is None:
            raise not_found()
        session = aggregate.session
        refuse_unless(OBSERVING, session.state, _NOT_OBSERVING)
        mode = session.observation_mode
        if mode is ObservationMode.NONE:
            raise Refusal(
                ErrorCode.FORBIDDEN,
                "This session observes nothing: to be watched is opt-in. Create one with an observation_mode.",
                observation_mode=mode.value,
            )
        known = _KnownSession(mode, session.target_app_whitelist)
        if len(self._known) >= _SESSIONS_REMEMBERED:
            self._known.clear()
        self._known[session_id] = known
        return known

    def _apply(
        self, connection: Connection, batches: Sequence[_Batch]
    ) -> list[IngestObservationsResponse | Refusal]:
        states = self._sql.locked_states(connection, sorted({batch.session_id for batch in batches}))
        verdicts = [_verdict(states.get(batch.session_id)) for batch in batches]
        taken = [b for b, verdict in zip(batches, verdicts, strict=True) if not isinstance(verdict, Refusal)]
        rows = [row for batch in taken for row in batch.rows]
        inserted = self._sql.insert(connection, rows)
        if inserted < len(rows) and len(taken) > 1:
            raise _RepeatedEvents
        # From here on either nothing was a repetition, or there is one batch, and it brought what was inserted.
        self._count(connection, [(b, min(inserted, len(b.rows))) for b in taken if inserted or not b.rows])
        return [
            verdict
            if isinstance(verdict, Refusal)
            else _answer(batch, min(inserted, len(batch.rows)), verdict)
            for batch, verdict in zip(batches, verdicts, strict=True)
        ]

    def _count(self, connection: Connection, accepted: Sequence[tuple[_Batch, int]]) -> None:
        now = rfc3339(datetime.now(UTC))
        for batch, _ in accepted:
            if batch.new_adapters:
                _name_adapters(connection, batch, now)
        self._sql.add_counts(
            connection,
            [(count, b.off_target, b.not_meaningful, now, b.session_id) for b, count in accepted],
        )


_NOT_OBSERVING = "Observations are taken only while a session is armed or capturing."


def not_found() -> Refusal:
    """The refusal for a session that is not there."""
    return Refusal(ErrorCode.LEARN_SESSION_NOT_FOUND, "There is no learning session of this id.")


def refuse_unless(allowed: frozenset[LearnSessionState], state: LearnSessionState, message: str) -> None:
    """Raises ``INVALID_LEARN_STATE_TRANSITION``, naming the state, unless ``state`` is one of ``allowed``."""
    if state not in allowed:
        raise Refusal(
            ErrorCode.INVALID_LEARN_STATE_TRANSITION, f"{message} It is {state}.", current_state=state.value
        )


def _prepare(session_id: str, known: _KnownSession, events: Sequence[ObservedActionEvent]) -> _Batch:
    # One pass: an event read again after all the others is read from slower memory.
    off_target = 0
    meaningful: list[ObservedActionEvent] = []
    rows: list[ObservationRow] = []
    texts: list[str | None] = []
    kinds: list[ObservationAdapterKind] = []
    for index, event in enumerate(events):
        if event.learn_session_id != session_id:
            raise _belongs_elsewhere(index)
        if known.whitelist and not is_on_target(event, known.mode, known.whitelist):
            off_target += 1
        elif is_meaningful(event):
            meaningful.append(event)
            rows.append(_row(session_id, redact_event(event) if always_redacted(event) else event))
            texts += texts_of(event)
            if event.adapter_kind not in kinds:
                kinds.append(event.adapter_kind)
    if may_hold_secret(joined(texts)):
        rows = [
            _row(session_id, redact_event(event) if may_need_redaction(event) else event)
            for event in meaningful
        ]
    adapters = frozenset(kind.value for kind in kinds)
    return _Batch(
        session_id,
        rows,
        adapters,
        new_adapters=not known.counted or not adapters <= known.adapters,
        off_target=off_target,
        not_meaningful=len(events) - off_target - len(meaningful),
    )


def _belongs_elsewhere(index: int) -> Refusal:
    return Refusal(
        ErrorCode.VALIDATION_FAILED,
        f"Event {index} belongs to another session than the one addressed.",
        fields=[f"events.{index}.learn_session_id"],
    )


def _row(session_id: str, event: ObservedActionEvent) -> ObservationRow:
    # A model's values are in its __dict__; orjson takes a quarter of the time that pydantic's own writer takes.
    body = orjson.dumps(vars(event), vars, orjson.OPT_UTC_Z).decode()
    return session_id, event.event_id, event.retain, body


def _verdict(state: LearnSessionState | None) -> LearnSessionState | Refusal:
    if state is None:
        return not_found()
    try:
        refuse_unless(OBSERVING, state, _NOT_OBSERVING)
    except Refusal as refusal:
        return refusal
    return state


def _answer(batch: _Batch, accepted: int, state: LearnSessionState) -> IngestObservationsResponse:
    return IngestObservationsResponse(
        accepted=accepted,
        dropped_off_target=batch.off_target,
        dropped_not_meaningful=batch.not_meaningful,
        duplicate=len(batch.rows) - accepted,
        session_state=state,
    )


def _name_adapters(connection: Connection, batch: _Batch, now: str) -> None:
    """Sees to it that the session has counters, and that they name the batch's adapters."""
    of_session = observation_counters.c.session_id == batch.session_id
    named = connection.execute(select(observation_counters.c.adapters).where(of_session)).scalar()
    adapters = canonical_json(sorted(batch.adapters.union(json.loads(named) if named else ())))
    if named is None:
        connection.execute(
            insert(observation_counters).values(
                session_id=batch.session_id,
                accepted=0,
                off_target=0,
                not_meaningful=0,
                adapters=adapters,
                updated_at=now,
            )
        )
    elif named != adapters:
        connection.execute(update(observation_counters).where(of_session).values(adapters=adapters))
