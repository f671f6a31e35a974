"""Copying captured runs into the session that learns from them, so that it may trim them (DOC3 §0A.5)."""

import json
from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, insert, select
from uuid_utils import uuid7

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.observation import (
    BoundaryKind,
    BoundarySource,
    ObservedActionEvent,
    WorkflowBoundary,
)
from contracts.learning.source_run import SourceRun
from domain.learning.demonstrations import CapturedPart, captured_parts
from domain.learning.steps import within_capture
from stores import tables
from stores.canonical import canonical_json

_COPIED_MARKS = frozenset({BoundaryKind.MARK_GOAL, BoundaryKind.MARK_STEP})


def runs_of(connection: Connection, aggregate: LearnSessionAggregate) -> tuple[tuple[str, CapturedPart], ...]:
    """The runs that a session holds: trace ids with what counts of their capture, empty ones left out."""
    session = aggregate.session
    parts = captured_parts(
        _events(connection, session.learn_session_id), _marks(connection, session.learn_session_id)
    )
    if len(parts) != len(session.active_trace_ids):
        # Of several traces one may have been emptied since; which one is no longer told.
        return ()
    found = (
        (trace, CapturedPart(tuple(within_capture(part.events, part.marks)), part.marks))
        for trace, part in zip(session.active_trace_ids, parts, strict=True)
    )
    return tuple((trace, part) for trace, part in found if part.events)


def copy_runs(connection: Connection, aggregate: LearnSessionAggregate) -> None:
    """Copies what counts of the source runs into the new session, in the caller's transaction.

    Raises:
        Refusal: ``RUN_NOT_ELIGIBLE`` when a run's capture has been purged since it was chosen.
    """
    session_id = aggregate.session.learn_session_id
    adapters: dict[str, None] = {}
    copied = 0
    for source in aggregate.source_runs:
        part = _part(connection, source)
        rows = [_copy(event, session_id) for event in part.events]
        adapters.update(dict.fromkeys(event.adapter_kind.value for event in part.events))
        connection.execute(insert(tables.observations), rows)
        connection.execute(
            insert(tables.boundaries),
            [
                {"boundary_id": mark.boundary_id, "session_id": session_id, "body": canonical_json(mark)}
                for mark in _copied_marks(part, session_id)
            ],
        )
        copied += len(rows)
    connection.execute(
        insert(tables.observation_counters).values(
            session_id=session_id,
            accepted=copied,
            off_target=0,
            not_meaningful=0,
            adapters=json.dumps(list(adapters)),
            updated_at=rfc3339(aggregate.session.updated_at),
        )
    )


def _part(connection: Connection, source: SourceRun) -> CapturedPart:
    body = connection.scalar(
        select(tables.learn_sessions.c.aggregate).where(
            tables.learn_sessions.c.session_id == source.learn_session_id
        )
    )
    runs = dict(runs_of(connection, LearnSessionAggregate.model_validate_json(body))) if body else {}
    if source.trace_id not in runs:
        raise Refusal(
            ErrorCode.RUN_NOT_ELIGIBLE,
            f"What was captured of the run {source.trace_id} is no longer there; choose another run.",
            reasons={source.trace_id: "purged"},
        )
    return runs[source.trace_id]


def _copy(event: ObservedActionEvent, session_id: str) -> dict[str, object]:
    own = event.model_copy(update={"learn_session_id": session_id})
    return {
        "session_id": session_id,
        "event_id": event.event_id,
        "retain": event.retain,
        "body": canonical_json(own),
    }


def _copied_marks(part: CapturedPart, session_id: str) -> Iterator[WorkflowBoundary]:
    """A start mark at the first event, and the goals and steps that a person marked, on their events."""
    first = part.events[0]
    yield WorkflowBoundary(
        boundary_id=str(uuid7()),
        learn_session_id=session_id,
        kind=BoundaryKind.START,
        source=BoundarySource.SYSTEM_INFERRED,
        source_event_id=first.event_id,
        created_at=first.created_at,
    )
    kept = {event.event_id for event in part.events}
    for mark in part.marks:
        if mark.kind not in _COPIED_MARKS:
            continue
        event_id = mark.source_event_id
        if event_id not in kept:
            later = (event.event_id for event in part.events if event.created_at >= mark.created_at)
            event_id = next(later, None)
        if event_id is None and mark.kind is BoundaryKind.MARK_STEP:
            continue
        yield mark.model_copy(
            update={
                "boundary_id": str(uuid7()),
                "learn_session_id": session_id,
                "source_event_id": event_id or first.event_id,
            }
        )


def _events(connection: Connection, session_id: str) -> tuple[ObservedActionEvent, ...]:
    table = tables.observations
    bodies: Sequence[str] = (
        connection.execute(
            select(table.c.body)
            .where(table.c.session_id == session_id, table.c.body != "")
            .order_by(table.c.seq)
        )
        .scalars()
        .all()
    )
    return tuple(ObservedActionEvent.model_validate_json(body) for body in bodies)


def _marks(connection: Connection, session_id: str) -> tuple[WorkflowBoundary, ...]:
    table = tables.boundaries
    bodies = connection.execute(select(table.c.body).where(table.c.session_id == session_id)).scalars()
    return tuple(WorkflowBoundary.model_validate_json(body) for body in bodies)
