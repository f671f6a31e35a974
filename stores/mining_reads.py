"""Reading candidates: one, a page of them, and what their owner's earlier decisions have taken out of the running."""

from collections.abc import Sequence

from sqlalchemy import Connection, select

from contracts.errors import ErrorCode, Refusal
from contracts.learning.mining import (
    CandidateState,
    MiningCandidate,
    MiningCandidatesResponse,
    MiningCandidateView,
)
from contracts.learning.proposal import SkillBundleProposal
from contracts.learning.session import LearnSessionState
from stores import tables
from stores.database import Database
from stores.paging import PageRequest, fetch_page

TABLE = tables.mining_candidates
_SETTLED = frozenset({CandidateState.BUILDING, CandidateState.BUILT, CandidateState.DISMISSED})


class CandidateReads:
    """What clients read about candidates. Somebody else's candidate is not found."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def owned(self, candidate_id: str, owner: str) -> MiningCandidate:
        """One candidate.

        Raises:
            Refusal: ``NOT_FOUND``.
        """
        with self._database.read() as connection:
            return read_candidate(connection, candidate_id, owner)

    def view(self, candidate_id: str, owner: str) -> MiningCandidateView:
        """One candidate with how far it has come.

        Raises:
            Refusal: ``NOT_FOUND``.
        """
        with self._database.read() as connection:
            return _view(connection, read_candidate(connection, candidate_id, owner))

    def page(
        self, owner: str, wanted: PageRequest, state: CandidateState | None = None
    ) -> MiningCandidatesResponse:
        """A page of the owner's candidates, newest first."""
        query = select(TABLE.c.body).where(TABLE.c.owner == owner)
        if state is not None:
            query = query.where(TABLE.c.state == state.value)
        with self._database.read() as connection:
            found = fetch_page(connection, query.order_by(TABLE.c.candidate_id.desc()), wanted)
            views = tuple(
                _view(connection, MiningCandidate.model_validate_json(row.body)) for row in found.rows
            )
        return MiningCandidatesResponse(
            candidates=views, total=found.total, page=wanted.page, page_size=wanted.page_size
        )


def read_candidate(
    connection: Connection, candidate_id: str, owner: str | None = None, *, lock: bool = False
) -> MiningCandidate:
    """One candidate inside a transaction; with ``owner`` only one of that person's own.

    Raises:
        Refusal: ``NOT_FOUND``.
    """
    query = select(TABLE.c.body).where(TABLE.c.candidate_id == candidate_id)
    if owner is not None:
        query = query.where(TABLE.c.owner == owner)
    body = connection.scalar(query.with_for_update() if lock else query)
    if body is None:
        raise Refusal(
            ErrorCode.NOT_FOUND,
            f"There is no candidate {candidate_id} of yours; list them with GET /api/learn/mining/candidates.",
        )
    return MiningCandidate.model_validate_json(body)


def candidates_of(connection: Connection, owner: str) -> tuple[MiningCandidate, ...]:
    """All of the owner's candidates, oldest first."""
    rows = connection.scalars(
        select(TABLE.c.body).where(TABLE.c.owner == owner).order_by(TABLE.c.candidate_id)
    )
    return tuple(MiningCandidate.model_validate_json(body) for body in rows)


def settled_sources(candidates: Sequence[MiningCandidate]) -> frozenset[str]:
    """The sessions whose traces are spent: they belong to a candidate that was built or dismissed."""
    return frozenset(
        session_id for one in candidates if one.state in _SETTLED for session_id in one.source_session_ids
    )


def sessions_of_builds(candidates: Sequence[MiningCandidate]) -> frozenset[str]:
    """The sessions that builds have opened: copies, which are evidence of nothing."""
    newest = {one.learn_session_id for one in candidates if one.learn_session_id is not None}
    return frozenset(newest.union(*(one.earlier_session_ids for one in candidates)))


def proposed_traces(connection: Connection, owner: str, apart_from: frozenset[str]) -> frozenset[str]:
    """The traces that the owner's proposals rest on, whatever became of those; not of ``apart_from`` sessions."""
    table = tables.proposals
    query = select(table.c.body).where(table.c.owner == owner, table.c.session_id.not_in(apart_from))
    found = (SkillBundleProposal.model_validate_json(body) for body in connection.scalars(query))
    return frozenset(trace for proposal in found for trace in proposal.source_trace_ids)


def _view(connection: Connection, candidate: MiningCandidate) -> MiningCandidateView:
    sessions, proposals = tables.learn_sessions, tables.proposals
    state = connection.scalar(
        select(sessions.c.state).where(sessions.c.session_id == candidate.learn_session_id)
    )
    body = connection.scalar(select(proposals.c.body).where(proposals.c.proposal_id == candidate.proposal_id))
    return MiningCandidateView(
        candidate=candidate,
        session_state=LearnSessionState(state) if state is not None else None,
        install_lane=SkillBundleProposal.model_validate_json(body).install_lane if body is not None else None,
    )
