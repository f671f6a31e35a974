"""Read models of mining candidates, and the traces and sessions that earlier decisions on them exclude."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, select

from contracts.errors import ErrorCode, Refusal
from contracts.learning.session import LearnSessionState
from contracts.mining.candidates import (
    CandidateState,
    MiningCandidate,
    MiningCandidatesResponse,
    MiningCandidateView,
)
from domain.learning.session.allowed_actions import CandidateFacts, candidate_actions
from stores.learning.learning_tables import PROPOSALS, SESSIONS
from stores.platform import tables
from stores.platform.database import Database, PageRequest
from stores.platform.document_table import DocumentTable

TABLE = tables.mining_candidates
CANDIDATES = DocumentTable(
    TABLE,
    MiningCandidate,
    message="There is no candidate {key} of yours; list them with GET /api/learn/mining/candidates.",
)
_SETTLED = frozenset({CandidateState.BUILDING, CandidateState.BUILT, CandidateState.DISMISSED})


class CandidateReads:
    """Candidates as their owner reads them; another owner's is not found."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def owned(self, candidate_id: str, owner: str) -> MiningCandidate:
        """One candidate.

        Raises:
            Refusal: ``NOT_FOUND``.
        """
        with self._database.read() as connection:
            return CANDIDATES.owned(connection, candidate_id, owner)

    def of_cluster(self, cluster_id: str, owner: str) -> MiningCandidate:
        """The newest candidate that was made of a trace cluster.

        Raises:
            Refusal: ``NOT_FOUND``.
        """
        named = (TABLE.c.owner == owner, TABLE.c.body.contains(cluster_id))
        with self._database.read() as connection:
            found = CANDIDATES.all(connection, *named, order_by=(TABLE.c.candidate_id.desc(),))
        for candidate in found:
            if candidate.cluster.cluster_id == cluster_id:
                return candidate
        raise Refusal(ErrorCode.NOT_FOUND, f"No candidate of yours was made of the cluster {cluster_id}.")

    def view(self, candidate_id: str, owner: str) -> MiningCandidateView:
        """One candidate with how far it has come.

        Raises:
            Refusal: ``NOT_FOUND``.
        """
        with self._database.read() as connection:
            return _views(connection, [CANDIDATES.owned(connection, candidate_id, owner)])[0]

    def page(
        self, owner: str, wanted: PageRequest, state: CandidateState | None = None
    ) -> MiningCandidatesResponse:
        """A page of the owner's candidates, newest first."""
        where = [TABLE.c.owner == owner]
        if state is not None:
            where.append(TABLE.c.state == state.value)
        with self._database.read() as connection:
            found = CANDIDATES.page(connection, wanted, *where, order_by=(TABLE.c.candidate_id.desc(),))
            views = _views(connection, found.documents)
        return MiningCandidatesResponse(candidates=views, **found.counts)


def candidates_of(connection: Connection, owner: str) -> tuple[MiningCandidate, ...]:
    """All of the owner's candidates, oldest first."""
    return CANDIDATES.all(connection, TABLE.c.owner == owner, order_by=(TABLE.c.candidate_id,))


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
    return _of_others(_traces_by_session(connection, owner), apart_from)


def candidate_facts(
    connection: Connection, candidates: Sequence[MiningCandidate]
) -> tuple[CandidateFacts, ...]:
    """What the rules on candidates of one owner look at; two queries however many they are."""
    if not candidates:
        return ()
    owner = candidates[0].owner_user_id
    active = SESSIONS.first(connection, tables.learn_sessions.c.owner == owner, tables.HOLDS_SLOT)
    proposed = _traces_by_session(connection, owner)
    return tuple(
        CandidateFacts(
            candidate=one,
            active_session=active,
            traces_spent=bool(
                _of_others(proposed, sessions_of_builds([one])) & set(one.cluster.successful_trace_ids)
            ),
        )
        for one in candidates
    )


def _traces_by_session(connection: Connection, owner: str) -> dict[str, frozenset[str]]:
    table = tables.proposals
    rows = connection.execute(select(table.c.session_id, table.c.body).where(table.c.owner == owner))
    found: dict[str, frozenset[str]] = {}
    for row in rows:
        traces = PROPOSALS.parse(row.body).source_trace_ids
        found[row.session_id] = found.get(row.session_id, frozenset()).union(traces)
    return found


def _of_others(by_session: Mapping[str, frozenset[str]], apart_from: frozenset[str]) -> frozenset[str]:
    return frozenset(
        trace for session, traces in by_session.items() if session not in apart_from for trace in traces
    )


def _views(connection: Connection, candidates: Sequence[MiningCandidate]) -> tuple[MiningCandidateView, ...]:
    return tuple(_view(connection, facts) for facts in candidate_facts(connection, candidates))


def _view(connection: Connection, facts: CandidateFacts) -> MiningCandidateView:
    candidate, actions = facts.candidate, candidate_actions(facts)
    sessions = tables.learn_sessions
    of_build = select(sessions.c.state).where(sessions.c.session_id == candidate.learn_session_id)
    state = connection.scalar(of_build) if candidate.learn_session_id is not None else None
    proposal = PROPOSALS.find(connection, candidate.proposal_id) if candidate.proposal_id else None
    return MiningCandidateView(
        candidate=candidate,
        session_state=LearnSessionState(state) if state is not None else None,
        install_lane=proposal.install_lane if proposal is not None else None,
        allowed_actions=actions.allowed_actions,
        refused_actions=actions.refused_actions,
    )
