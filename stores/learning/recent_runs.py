"""Captured runs to learn from: listed, chosen, copied into the session that trims them (DOC3 §0A.5, SL-06)."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, insert
from uuid_utils import uuid7

from contracts.base import clipped, rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.observation import (
    BoundaryKind,
    BoundarySource,
    ObservedActionEvent,
    WorkflowBoundary,
)
from contracts.learning.proposal import ProposalState
from contracts.learning.responses import RecentRun, RecentRunsResponse
from contracts.learning.session import SourceRun
from contracts.learning.state_machine import AT_REST
from domain.learning.commands.command_line import programs_in
from domain.learning.comparison.demonstrations import CapturedPart, captured_parts, compared
from domain.learning.interpretation.lasting_names import LastingNames
from domain.learning.interpretation.naming import title_from_goal
from domain.learning.interpretation.steps import DemonstratedStep, all_events, captured_steps, within_capture
from domain.learning.interpretation.titles import inferred_title
from domain.learning.session.allowed_actions import compatible, success_share, why_not
from stores.learning.learning_tables import (
    BOUNDARIES,
    OBSERVATIONS,
    PROPOSALS,
    SESSIONS,
    boundaries_of,
    captures_of,
    observed_in,
)
from stores.learning.starting_states import copy_state
from stores.platform import tables
from stores.platform.database import Database, PageRequest
from stores.platform.tables import learn_sessions, proposals

_COPIED_MARKS = frozenset({BoundaryKind.MARK_GOAL, BoundaryKind.MARK_STEP})


def runs_of(connection: Connection, aggregate: LearnSessionAggregate) -> tuple[tuple[str, CapturedPart], ...]:
    """The runs that a session holds: trace ids with what counts of their capture, empty ones left out."""
    session_id = aggregate.session.learn_session_id
    return _runs_in(aggregate, observed_in(connection, session_id), boundaries_of(connection, session_id))


def _runs_in(
    aggregate: LearnSessionAggregate,
    events: Sequence[ObservedActionEvent],
    marks: Sequence[WorkflowBoundary],
) -> tuple[tuple[str, CapturedPart], ...]:
    traces = aggregate.session.active_trace_ids
    parts = captured_parts(events, marks)
    if len(parts) != len(traces):
        # Of several traces one may have been emptied since; which one is not known any more.
        return ()
    found = (
        (trace, CapturedPart(tuple(within_capture(part.events, part.marks)), part.marks))
        for trace, part in zip(traces, parts, strict=True)
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
        adapters.update(dict.fromkeys(event.adapter_kind.value for event in part.events))
        own = (event.changed(learn_session_id=session_id) for event in part.events)
        copied += OBSERVATIONS.add_all(connection, own)
        BOUNDARIES.add_all(connection, _copied_marks(part, session_id))
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
    aggregate = SESSIONS.find(connection, source.learn_session_id)
    runs = dict(runs_of(connection, aggregate)) if aggregate is not None else {}
    if source.trace_id not in runs:
        raise Refusal(
            ErrorCode.RUN_NOT_ELIGIBLE,
            f"What was captured of the run {source.trace_id} is no longer there; choose another run.",
            reasons={source.trace_id: "purged"},
        )
    return runs[source.trace_id]


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
        shown = found[wanted.offset : wanted.offset + wanted.page_size]
        runs = tuple(_view(run, shown) for run in shown)
        return RecentRunsResponse(runs=runs, **wanted.counts(len(found)))

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
        captured = (learn_sessions.c.owner == owner, learn_sessions.c.observations_purged_at.is_(None))
        newest_first = (learn_sessions.c.session_id.desc(),)
        with self._database.read() as connection:
            sessions = SESSIONS.all(connection, *captured, order_by=newest_first, limit=SESSIONS_READ)
            resting_on = _proposals_by_trace(connection, owner, sessions)
            busy = {
                trace
                for aggregate in sessions
                if aggregate.session.state not in AT_REST
                for trace in aggregate.session.active_trace_ids
            }
            captures = captures_of(connection, [one.session.learn_session_id for one in sessions])
            found: dict[str, _Found] = {}
            for aggregate in sessions:
                for trace, part in _runs_in(aggregate, *captures[aggregate.session.learn_session_id]):
                    steps = captured_steps(part.events, part.marks)
                    reason = why_not(part.events, steps, resting_on[trace], in_open_session=trace in busy)
                    source = SourceRun(trace_id=trace, learn_session_id=aggregate.session.learn_session_id)
                    # An older session overwrites a newer one: the original counts, not a copy of it.
                    found[trace] = _Found(source, part, steps, reason)
        return sorted(found.values(), key=lambda run: run.part.events[-1].created_at, reverse=True)


def _proposals_by_trace(
    connection: Connection, owner: str, sessions: Sequence[LearnSessionAggregate]
) -> defaultdict[str, list[ProposalState]]:
    """The states of the proposals that rest on the runs of ``sessions``, the newest of them first."""
    found: defaultdict[str, list[ProposalState]] = defaultdict(list)
    if not sessions:
        return found
    # Ids of sessions rise with time, and what was learned from a run was learned after it.
    oldest = sessions[-1].session.learn_session_id
    since = (proposals.c.owner == owner, proposals.c.session_id >= oldest)
    for proposal in PROPOSALS.all(connection, *since, order_by=()):
        for trace in proposal.source_trace_ids:
            found[trace].append(proposal.proposal_state)
    return found


def _view(run: _Found, others: Sequence[_Found]) -> RecentRun:
    events = run.part.events
    counted = all_events(run.steps)
    programs = (p for e in counted if e.terminal for p in programs_in(e.terminal.command))
    goals = [mark.label for mark in run.part.marks if mark.kind is BoundaryKind.MARK_GOAL and mark.label]
    told = title_from_goal(goals[-1]) if goals else ""
    return RecentRun(
        trace_id=run.source.trace_id,
        learn_session_id=run.source.learn_session_id,
        title=clipped(told or inferred_title(run.steps, LastingNames(run.steps)), 200),
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
