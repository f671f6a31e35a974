"""The observation log: what recorders saw, redacted before it is written, durable when it is acknowledged.

Observations never pass through a workflow (design, "How truth flows" 6). Routes: routes.md, DOC3 §0C.22.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, delete, select, update

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.learning.observation import (
    IngestObservationsResponse,
    ObservationListResponse,
    ObservedActionEvent,
    WorkflowBoundary,
)
from contracts.learning.session import LearnSessionState
from domain.learning.comparison.demonstrations import captured_parts
from domain.learning.lesson_folders import lesson_folders, re_rooted
from stores.learning.learning_tables import LESSON_EVIDENCE, OBSERVATIONS, REMOVED, boundaries_of, observed_in
from stores.learning.observation_ingest import OBSERVING, ObservationIngest, not_found, refuse_unless
from stores.learning.starting_states import purge_states
from stores.platform.database import Database, PageRequest
from stores.platform.journal.group_commit import CAPACITY
from stores.platform.tables import learn_sessions, observation_counters, observations

EDITABLE: frozenset[LearnSessionState] = OBSERVING | {
    LearnSessionState.PAUSED,
    LearnSessionState.STOPPED,
    LearnSessionState.REVIEWING,
}
"""The states in which one observation may be taken out: no draft rests on it yet."""


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


class ObservationLog:
    """The observations of all sessions. Safe to share between threads; close it once."""

    def __init__(self, database: Database, *, capacity: int = CAPACITY) -> None:
        """``capacity`` is how many batches may wait for the disk before further ones are refused."""
        self._database = database
        self._ingest = ObservationIngest(database, capacity)

    def close(self) -> None:
        """Writes the batches that wait and ends the writer."""
        self._ingest.close()

    def ingest(self, session_id: str, events: Sequence[ObservedActionEvent]) -> IngestObservationsResponse:
        """Keeps the events that matter, redacted, and returns once they are durable. Blocks.

        Events of applications outside the session's whitelist and events without meaning are dropped; an
        event id that the session has seen before changes nothing.

        Raises:
            Refusal: ``VALIDATION_FAILED`` when an event names another session; ``LEARN_SESSION_NOT_FOUND``;
                ``INVALID_LEARN_STATE_TRANSITION`` unless the session is armed or capturing;
                ``TOO_MANY_REQUESTS``; ``STORAGE_FULL``. Nothing of the batch was kept.
        """
        return self._ingest.ingest(session_id, events)

    def page(self, session_id: str, page: int, page_size: int) -> ObservationListResponse:
        """One page of what is held, oldest first; ``page`` counts from 1."""
        this = observations.c.session_id == session_id
        wanted, in_order = PageRequest(page, page_size), (observations.c.seq,)
        with self._database.read() as connection:
            found = OBSERVATIONS.page(connection, wanted, this, order_by=in_order)
        return ObservationListResponse(observations=found.documents, **found.counts)

    def all_of(self, session_id: str) -> tuple[ObservedActionEvent, ...]:
        """Everything held of a session, in the order in which it was written.

        Paths of a demonstration in several folders are relative to the root of all of them, in all of its events.
        """
        with self._database.read() as connection:
            events = observed_in(connection, session_id)
            if not lesson_folders(events):
                return events
            parts = captured_parts(events, boundaries_of(connection, session_id))
        moved = {one.event_id: one for part in parts for one in re_rooted(part.events)}
        return tuple(moved.get(event.event_id, event) for event in events)

    def has(self, session_id: str, event_id: str) -> bool:
        """Whether the event is held of this session."""
        this = (observations.c.session_id == session_id, observations.c.event_id == event_id)
        with self._database.read() as connection:
            return OBSERVATIONS.first(connection, *this) is not None

    def boundaries_of(self, session_id: str) -> tuple[WorkflowBoundary, ...]:
        """The marks in a session's capture, oldest first."""
        with self._database.read() as connection:
            return boundaries_of(connection, session_id)

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
            refuse_unless(
                EDITABLE,
                _state(connection, session_id),
                "An observation can be removed only before a proposal is drafted.",
            )
            removed = connection.execute(
                update(observations)
                .where(
                    observations.c.session_id == session_id,
                    observations.c.event_id == event_id,
                    *OBSERVATIONS.where,
                )
                .values(body=REMOVED, retain=False)
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

        The starting states of its demonstrations go with them, and what their replay showed. Returns how many
        observations and states went. The counters stay.
        """
        LESSON_EVIDENCE.delete(connection, session_id)
        deleted = connection.execute(
            delete(observations).where(
                observations.c.session_id == session_id, observations.c.retain.is_(False)
            )
        )
        return deleted.rowcount + purge_states(connection, session_id)


def _state(connection: Connection, session_id: str) -> LearnSessionState:
    # Locked to the end of the transaction, so that drafting cannot begin meanwhile.
    state = connection.execute(
        select(learn_sessions.c.state).where(learn_sessions.c.session_id == session_id).with_for_update()
    ).scalar()
    if state is None:
        raise not_found()
    return LearnSessionState(state)


def _counters(connection: Connection, session_id: str) -> ObservationCounters:
    row = connection.execute(
        select(observation_counters).where(observation_counters.c.session_id == session_id)
    ).one_or_none()
    if row is None:
        return ObservationCounters()
    return ObservationCounters(
        row.accepted, row.off_target, row.not_meaningful, tuple(json.loads(row.adapters))
    )


def _now() -> str:
    return rfc3339(datetime.now(UTC))
