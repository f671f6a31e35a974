"""The recent runs that a person may learn from: listed, and chosen (DOC3 §0A.5, rows SL-06)."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.observation import BoundaryKind
from contracts.learning.proposal import ProposalState, SkillBundleProposal
from contracts.learning.recent_runs import RecentRun, RecentRunsResponse
from contracts.learning.source_run import SourceRun
from contracts.learning.state_machine import AT_REST
from domain.learning.command_line import programs_in
from domain.learning.demonstrations import CapturedPart, compared
from domain.learning.inference import inferred_title
from domain.learning.naming import title_from_goal
from domain.learning.run_eligibility import compatible, success_share, why_not
from domain.learning.steps import DemonstratedStep, all_events, captured_steps
from stores.database import Database
from stores.paging import PageRequest
from stores.run_copies import runs_of
from stores.tables import learn_sessions, proposals

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
