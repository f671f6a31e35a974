"""Captured runs to learn from: listed, chosen, copied into the session that trims them (DOC3 §0A.5, SL-06)."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, insert, select
from uuid_utils import uuid7

from contracts.base import clipped, rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.observation import BoundaryKind, BoundarySource, ObservedActionEvent, WorkflowBoundary
from contracts.learning.proposal import ProposalState, SkillBundleProposal
from contracts.learning.responses import RecentRun, RecentRunsResponse
from contracts.learning.session import SourceRun
from contracts.learning.state_machine import AT_REST
from domain.learning.commands.command_line import programs_in
from domain.learning.comparison.demonstrations import CapturedPart, captured_parts, compared
from domain.learning.interpretation.inference import inferred_title
from domain.learning.interpretation.naming import title_from_goal
from domain.learning.interpretation.steps import DemonstratedStep, all_events, captured_steps, within_capture
from domain.learning.session.allowed_actions import compatible, success_share, why_not
from stores.learning.starting_states import copy_state
from stores.platform import tables
from stores.platform.canonical import canonical_json
from stores.platform.database import Database, PageRequest
from stores.platform.tables import learn_sessions, proposals

_COPIED_MARKS = frozenset({BoundaryKind.MARK_GOAL, BoundaryKind.MARK_STEP})


def runs_of(connection: Connection, aggregate: LearnSessionAggregate) -> tuple[tuple[str, CapturedPart], ...]:
    """The runs that a session holds: trace ids with what counts of their capture, empty ones left out."""
    session = aggregate.session
    parts = captured_parts(
        _events(connection, session.learn_session_id), _marks(connection, session.learn_session_id)
    )
    if len(parts) != len(session.active_trace_ids):
        # Of several traces one may have been emptied since; which one is not known any more.
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
        copy_state(
            connection, source.learn_session_id, session_id, part.events[0].created_at, new_id=str(uuid7())
        )
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
    own = event.changed(learn_session_id=session_id)
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
        yield mark.changed(
            boundary_id=str(uuid7()), learn_session_id=session_id, source_event_id=event_id or first.event_id
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


SESSIONS_READ = 200
"""The newest sessions whose captures are looked at; older ones are purged long before."""

_MOST_PROGRAMS = 12


@dataclass(frozen=True)
class _Found:
    source: SourceRun
    part: CapturedPart
    steps: tuple[DemonstratedStep, ...]
    why_not: str | None


class RecentRuns:
    """One person's captured runs. What was purged is gone; reading never blocks a recorder."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def listing(self, owner: str, wanted: PageRequest) -> RecentRunsResponse:
        """One page of the runs that can be learned from, newest first."""
        found = [run for run in self._found(owner) if run.why_not is None]
        start = (wanted.page - 1) * wanted.page_size
        shown = found[start : start + wanted.page_size]
        return RecentRunsResponse(
            runs=tuple(_view(run, shown) for run in shown),
            total=len(found),
            page=wanted.page,
            page_size=wanted.page_size,
        )

    def choose(self, owner: str, trace_ids: Sequence[str]) -> tuple[SourceRun, ...]:
        """The runs of these traces, in the order given, each once.

        Raises:
            Refusal: ``RUN_NOT_ELIGIBLE`` with ``reasons`` by trace; ``INCOMPATIBLE_TRACES`` when they do not
                show one task.
        """
        known = {run.source.trace_id: run for run in self._found(owner)}
        wanted = tuple(dict.fromkeys(trace_ids))
        reasons = {
            trace: known[trace].why_not if trace in known else "There is no such run of yours."
            for trace in wanted
            if trace not in known or known[trace].why_not is not None
        }
        if reasons:
            trace, reason = next(iter(reasons.items()))
            raise Refusal(
                ErrorCode.RUN_NOT_ELIGIBLE,
                f"The run {trace} cannot be learned from: {reason} See GET /api/learn/recent-runs.",
                reasons=reasons,
            )
        runs = [known[trace] for trace in wanted]
        compared([run.steps for run in runs])
        return tuple(run.source for run in runs)

    def _found(self, owner: str) -> list[_Found]:
        query = (
            select(learn_sessions.c.aggregate)
            .where(learn_sessions.c.owner == owner, learn_sessions.c.observations_purged_at.is_(None))
            .order_by(learn_sessions.c.session_id.desc())
            .limit(SESSIONS_READ)
        )
        with self._database.read() as connection:
            sessions = [LearnSessionAggregate.model_validate_json(b) for b in connection.scalars(query)]
            resting_on = _proposals_by_trace(connection, owner)
            busy = {
                trace
                for aggregate in sessions
                if aggregate.session.state not in AT_REST
                for trace in aggregate.session.active_trace_ids
            }
            found: dict[str, _Found] = {}
            for aggregate in sessions:
                for trace, part in runs_of(connection, aggregate):
                    steps = captured_steps(part.events, part.marks)
                    reason = why_not(part.events, steps, resting_on[trace], in_open_session=trace in busy)
                    source = SourceRun(trace_id=trace, learn_session_id=aggregate.session.learn_session_id)
                    # An older session overwrites a newer one: the original counts, not a copy of it.
                    found[trace] = _Found(source, part, steps, reason)
        return sorted(found.values(), key=lambda run: run.part.events[-1].created_at, reverse=True)


def _proposals_by_trace(connection: Connection, owner: str) -> defaultdict[str, list[ProposalState]]:
    found: defaultdict[str, list[ProposalState]] = defaultdict(list)
    for body in connection.scalars(select(proposals.c.body).where(proposals.c.owner == owner)):
        proposal = SkillBundleProposal.model_validate_json(body)
        for trace in proposal.source_trace_ids:
            found[trace].append(proposal.proposal_state)
    return found


def _view(run: _Found, others: Sequence[_Found]) -> RecentRun:
    events = run.part.events
    counted = all_events(run.steps)
    programs = (p for e in counted if e.terminal for p in programs_in(e.terminal.command))
    goals = [mark.label for mark in run.part.marks if mark.kind is BoundaryKind.MARK_GOAL and mark.label]
    return RecentRun(
        trace_id=run.source.trace_id,
        learn_session_id=run.source.learn_session_id,
        title=clipped((title_from_goal(goals[-1]) if goals else "") or inferred_title(run.steps), 200),
        captured_from=events[0].created_at,
        captured_until=events[-1].created_at,
        actions=len(counted),
        success_share=round(success_share(events), 3),
        adapters=tuple(dict.fromkeys(event.adapter_kind.value for event in events)),
        programs=tuple(dict.fromkeys(clipped(p, 80) for p in programs))[:_MOST_PROGRAMS],
        compatible_with=tuple(
            other.source.trace_id
            for other in others
            if other is not run and compatible(run.steps, other.steps)
        ),
    )
