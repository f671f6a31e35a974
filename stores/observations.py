"""The observation log: what recorders saw, redacted before it is written, durable when it is acknowledged.

Observations never pass through a workflow (design, "How truth flows" 6). Routes: routes.md, DOC3 §0C.22.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain

from sqlalchemy import Connection, and_, delete, func, insert, select, update

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.learning.observation import (
    IngestObservationsResponse,
    ObservationListResponse,
    ObservedActionEvent,
    WorkflowBoundary,
)
from contracts.learning.session import LearnSessionState, ObservationMode
from domain.learning.meaningful import is_meaningful, is_on_target
from domain.learning.redaction import redact_event
from domain.learning.redaction_screen import may_need_redaction
from stores.canonical import canonical_json
from stores.database import Database
from stores.group_commit import CAPACITY, GroupCommitWriter
from stores.tables import boundaries, learn_sessions, observation_counters, observations

OBSERVING: frozenset[LearnSessionState] = frozenset({LearnSessionState.ARMED, LearnSessionState.CAPTURING})
"""The states in which a session takes observations."""

EDITABLE: frozenset[LearnSessionState] = OBSERVING | {
    LearnSessionState.PAUSED,
    LearnSessionState.STOPPED,
    LearnSessionState.REVIEWING,
}
"""The states in which one observation may be taken out: no draft rests on it yet."""

_REMOVED = ""
# A removed event keeps its id with an empty body, so that a recorder's retry does not bring it back.
_HELD = observations.c.body != _REMOVED


_Row = tuple[str, str, bool, str]


@dataclass(frozen=True, slots=True)
class ObservationCounters:
    """What became of a session's events.

    ``accepted`` is the number of events held, or held until the purge. ``off_target`` and ``not_meaningful``
    count drops. A batch that only repeats events already held is taken for a recorder's retry and counts
    nothing; a batch of which nothing at all was kept leaves no trace to know a retry by and counts each time.
    """

    accepted: int = 0
    off_target: int = 0
    not_meaningful: int = 0
    adapters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Scope:
    mode: ObservationMode
    whitelist: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Batch:
    session_id: str
    rows: list[_Row]
    adapters: frozenset[str]
    off_target: int
    not_meaningful: int


class ObservationLog:
    """The observations of all sessions. Safe to share between threads; close it once."""

    def __init__(self, database: Database, *, capacity: int = CAPACITY) -> None:
        """``capacity`` is how many batches may wait for the disk before further ones are refused."""
        self._database = database
        self._placeholder = "?" if database.is_sqlite else "%s"
        self._writer = GroupCommitWriter[_Batch, IngestObservationsResponse](
            database, self._apply, lambda batch: batch.session_id, capacity=capacity
        )

    def close(self) -> None:
        """Writes the batches that wait and ends the writer."""
        self._writer.close()

    def ingest(self, session_id: str, events: Sequence[ObservedActionEvent]) -> IngestObservationsResponse:
        """Keeps the events that matter, redacted, and returns once they are durable. Blocks.

        Events of applications outside the session's whitelist and events without meaning are dropped; an
        event id that the session has seen before changes nothing.

        Raises:
            Refusal: ``VALIDATION_FAILED`` when an event names another session; ``LEARN_SESSION_NOT_FOUND``;
                ``INVALID_LEARN_STATE_TRANSITION`` unless the session is armed or capturing;
                ``TOO_MANY_REQUESTS``; ``STORAGE_FULL``. Nothing of the batch was kept.
        """
        for index, event in enumerate(events):
            if event.learn_session_id != session_id:
                raise Refusal(
                    ErrorCode.VALIDATION_FAILED,
                    f"Event {index} belongs to another session than the one addressed.",
                    fields=[f"events.{index}.learn_session_id"],
                )
        with self._database.read() as connection:
            scope = _observing_scope(connection, session_id)
        return self._writer.write(_prepare(session_id, scope, events))

    def page(self, session_id: str, page: int, page_size: int) -> ObservationListResponse:
        """One page of what is held, oldest first; ``page`` counts from 1."""
        held = and_(observations.c.session_id == session_id, _HELD)
        with self._database.read() as connection:
            total = connection.execute(
                select(func.count()).select_from(observations).where(held)
            ).scalar_one()
            bodies = connection.execute(
                select(observations.c.body)
                .where(held)
                .order_by(observations.c.seq)
                .limit(page_size)
                .offset((page - 1) * page_size)
            ).scalars()
            events = tuple(ObservedActionEvent.model_validate_json(body) for body in bodies)
        return ObservationListResponse(observations=events, total=total, page=page, page_size=page_size)

    def all_of(self, session_id: str) -> tuple[ObservedActionEvent, ...]:
        """Everything held of a session, in the order in which it was written."""
        statement = (
            select(observations.c.body)
            .where(observations.c.session_id == session_id, _HELD)
            .order_by(observations.c.seq)
        )
        with self._database.read() as connection:
            bodies = connection.execute(statement).scalars()
            return tuple(ObservedActionEvent.model_validate_json(body) for body in bodies)

    def boundaries_of(self, session_id: str) -> tuple[WorkflowBoundary, ...]:
        """The marks in a session's capture, oldest first."""
        with self._database.read() as connection:
            bodies = connection.execute(
                select(boundaries.c.body).where(boundaries.c.session_id == session_id)
            ).scalars()
            marks = [WorkflowBoundary.model_validate_json(body) for body in bodies]
        return tuple(sorted(marks, key=lambda mark: (mark.created_at, mark.boundary_id)))

    def counters(self, session_id: str) -> ObservationCounters:
        """The session's counts; all zero when nothing has come in."""
        with self._database.read() as connection:
            return _counters(connection, session_id)

    def remove(self, session_id: str, event_id: str) -> None:
        """Takes one observation out of the capture, for good: sent again it is a duplicate.

        Raises:
            Refusal: ``LEARN_SESSION_NOT_FOUND``; ``INVALID_LEARN_STATE_TRANSITION`` once drafting has begun;
                ``OBSERVATION_NOT_FOUND``.
        """
        with self._database.write() as connection:
            state, _ = _session_row(connection, session_id, lock=True)
            _refuse_unless(
                state, EDITABLE, "An observation can be removed only before a proposal is drafted."
            )
            removed = connection.execute(
                update(observations)
                .where(observations.c.session_id == session_id, observations.c.event_id == event_id, _HELD)
                .values(body=_REMOVED, retain=False)
            )
            if not removed.rowcount:
                raise Refusal(ErrorCode.OBSERVATION_NOT_FOUND, "The session holds no observation of this id.")
            connection.execute(
                update(observation_counters)
                .where(observation_counters.c.session_id == session_id)
                .values(accepted=observation_counters.c.accepted - 1, updated_at=_now())
            )

    def purge(self, connection: Connection, session_id: str) -> int:
        """Deletes a session's observations in the caller's transaction, except those marked ``retain``.

        Returns how many went. The counters stay.
        """
        deleted = connection.execute(
            delete(observations).where(
                observations.c.session_id == session_id, observations.c.retain.is_(False)
            )
        )
        return deleted.rowcount

    def _insert(self, connection: Connection, rows: Sequence[_Row]) -> int:
        # One statement for all rows: run row by row, the driver hands the interpreter lock round as often.
        row = "({0}, {0}, {0}, {0})".format(self._placeholder)
        statement = (
            f"INSERT INTO observations (session_id, event_id, retain, body) VALUES {', '.join([row] * len(rows))}"  # noqa: S608
            " ON CONFLICT (session_id, event_id) DO NOTHING"
        )
        return connection.exec_driver_sql(statement, tuple(chain.from_iterable(rows))).rowcount

    def _apply(self, connection: Connection, batch: _Batch) -> IngestObservationsResponse:
        state, _ = _session_row(connection, batch.session_id, lock=True)
        _refuse_unless(state, OBSERVING, _NOT_OBSERVING)
        accepted = self._insert(connection, batch.rows) if batch.rows else 0
        if accepted or not batch.rows:
            _count(connection, batch, accepted)
        return IngestObservationsResponse(
            accepted=accepted,
            dropped_off_target=batch.off_target,
            dropped_not_meaningful=batch.not_meaningful,
            duplicate=len(batch.rows) - accepted,
            session_state=state,
        )


_NOT_OBSERVING = "Observations are taken only while a session is armed or capturing."


def _prepare(session_id: str, scope: _Scope, events: Sequence[ObservedActionEvent]) -> _Batch:
    on_target = [event for event in events if is_on_target(event, scope.mode, scope.whitelist)]
    meaningful = [event for event in on_target if is_meaningful(event)]
    return _Batch(
        session_id,
        [(session_id, event.event_id, event.retain, _body(event)) for event in meaningful],
        frozenset(event.adapter_kind.value for event in meaningful),
        off_target=len(events) - len(on_target),
        not_meaningful=len(on_target) - len(meaningful),
    )


def _body(event: ObservedActionEvent) -> str:
    redacted = redact_event(event) if may_need_redaction(event) else event
    return redacted.model_dump_json(exclude_none=True)


def _session_row(connection: Connection, session_id: str, *, lock: bool) -> tuple[LearnSessionState, str]:
    statement = select(learn_sessions.c.state, learn_sessions.c.aggregate).where(
        learn_sessions.c.session_id == session_id
    )
    # Held to the end of the transaction, so that a session cannot stop between the check and the write.
    row = connection.execute(statement.with_for_update() if lock else statement).one_or_none()
    if row is None:
        raise Refusal(ErrorCode.LEARN_SESSION_NOT_FOUND, "There is no learning session of this id.")
    return LearnSessionState(row.state), row.aggregate


def _observing_scope(connection: Connection, session_id: str) -> _Scope:
    state, aggregate = _session_row(connection, session_id, lock=False)
    _refuse_unless(state, OBSERVING, _NOT_OBSERVING)
    session = json.loads(aggregate)["session"]
    return _Scope(ObservationMode(session["observation_mode"]), tuple(session["target_app_whitelist"]))


def _refuse_unless(state: LearnSessionState, allowed: frozenset[LearnSessionState], message: str) -> None:
    if state not in allowed:
        raise Refusal(
            ErrorCode.INVALID_LEARN_STATE_TRANSITION, f"{message} It is {state}.", current_state=state.value
        )


def _counters(connection: Connection, session_id: str) -> ObservationCounters:
    row = connection.execute(
        select(observation_counters).where(observation_counters.c.session_id == session_id)
    ).one_or_none()
    if row is None:
        return ObservationCounters()
    return ObservationCounters(
        row.accepted, row.off_target, row.not_meaningful, tuple(json.loads(row.adapters))
    )


def _count(connection: Connection, batch: _Batch, accepted: int) -> None:
    before = _counters(connection, batch.session_id)
    values = {
        "accepted": before.accepted + accepted,
        "off_target": before.off_target + batch.off_target,
        "not_meaningful": before.not_meaningful + batch.not_meaningful,
        "adapters": canonical_json(sorted(batch.adapters.union(before.adapters))),
        "updated_at": _now(),
    }
    changed = connection.execute(
        update(observation_counters)
        .where(observation_counters.c.session_id == batch.session_id)
        .values(values)
    )
    if not changed.rowcount:
        connection.execute(insert(observation_counters).values(session_id=batch.session_id, **values))


def _now() -> str:
    return rfc3339(datetime.now(UTC))
