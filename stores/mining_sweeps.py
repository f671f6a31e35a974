"""The sweeps over what skill mining leaves behind: records of its runs, and candidates that came to nothing."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, exists, select

from contracts.base import rfc3339
from contracts.learning.mining import CandidateState, MiningCandidate
from contracts.learning.mining_runs import MiningRun, MiningRunState
from contracts.maintenance.runs import SweepName
from domain.maintenance.retention import (
    MINING_CANDIDATE_KEPT,
    MINING_RUN_KEPT,
    mining_candidate_due,
    mining_run_due,
)
from stores import tables
from stores.retention_sweeps import LEFT_ALONE, Settled

_RUNS = tables.mining_runs
_CANDIDATES = tables.mining_candidates
_OBSERVATIONS = tables.observations

ENDED = frozenset({CandidateState.DISMISSED, CandidateState.EXPIRED})
"""The states in which nothing comes of a candidate by itself any more."""


class RemoveMiningRuns:
    """Records of mining runs go after 90 days; one that still says it goes on stays."""

    name = SweepName.REMOVE_MINING_RUNS
    batch = 200

    def due(self, connection: Connection, now: datetime, after: str, limit: int) -> Sequence[str]:
        """Run ids in their own order."""
        old = (_RUNS.c.started_at <= rfc3339(now - MINING_RUN_KEPT), _RUNS.c.run_id > after)
        return connection.scalars(
            select(_RUNS.c.run_id).where(*old).order_by(_RUNS.c.run_id).limit(limit)
        ).all()

    def settle(self, connection: Connection, item: str, now: datetime, run_id: str) -> Settled:
        """Removes one record."""
        body = connection.scalar(select(_RUNS.c.body).where(_RUNS.c.run_id == item).with_for_update())
        if body is None:
            return LEFT_ALONE
        run = MiningRun.model_validate_json(body)
        if run.state is MiningRunState.RUNNING or not mining_run_due(run.finished_at or run.started_at, now):
            return LEFT_ALONE
        removed = connection.execute(delete(_RUNS).where(_RUNS.c.run_id == item)).rowcount
        return Settled(done=removed == 1, removed=removed)


class RemoveMiningCandidates:
    """Candidates go 90 days after they were dismissed or expired.

    A dismissed one stays for as long as observations of its captures are kept: it is what keeps them from being
    found again. So does either while a session that was built from it holds any, since copies are no evidence.
    """

    name = SweepName.REMOVE_MINING_CANDIDATES
    batch = 50

    def due(self, connection: Connection, now: datetime, after: str, limit: int) -> Sequence[str]:
        """Candidate ids in their own order."""
        query = select(_CANDIDATES.c.candidate_id).where(
            _CANDIDATES.c.state.in_([state.value for state in ENDED]),
            _CANDIDATES.c.updated_at <= rfc3339(now - MINING_CANDIDATE_KEPT),
            _CANDIDATES.c.candidate_id > after,
        )
        return connection.scalars(query.order_by(_CANDIDATES.c.candidate_id).limit(limit)).all()

    def settle(self, connection: Connection, item: str, now: datetime, run_id: str) -> Settled:
        """Removes one candidate."""
        this = _CANDIDATES.c.candidate_id == item
        body = connection.scalar(select(_CANDIDATES.c.body).where(this).with_for_update())
        if body is None:
            return LEFT_ALONE
        candidate = MiningCandidate.model_validate_json(body)
        if candidate.state not in ENDED or not mining_candidate_due(candidate.updated_at, now):
            return LEFT_ALONE
        if _observed(connection, _guarded(candidate)):
            return LEFT_ALONE
        removed = connection.execute(delete(_CANDIDATES).where(this)).rowcount
        return Settled(done=removed == 1, removed=removed)


def _guarded(candidate: MiningCandidate) -> tuple[str, ...]:
    """The sessions that would count as evidence again without the candidate."""
    built = (*candidate.earlier_session_ids, *filter(None, (candidate.learn_session_id,)))
    shown = candidate.source_session_ids if candidate.state is CandidateState.DISMISSED else ()
    return (*built, *shown)


def _observed(connection: Connection, session_ids: Sequence[str]) -> bool:
    return bool(connection.scalar(select(exists().where(_OBSERVATIONS.c.session_id.in_(session_ids)))))
