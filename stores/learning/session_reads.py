"""Read models of sessions: lists, history, receipts, runtime snapshot; open sessions and what they refer to.

An open session is one that is not at rest: its workflow should be running, and maintenance deletes nothing that
it refers to (DOC3 §0C.16D). Nothing here calls Temporal.
"""

from collections.abc import Collection, Sequence

from sqlalchemy import ColumnElement, Connection, func, select

from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.lifecycle import LearningReceipt, LearningReceiptKind
from contracts.learning.observation import ObservationScopeRuntime
from contracts.learning.responses import (
    LearnCheckpointReceiptsResponse,
    LearnHistoryItem,
    LearnHistoryResponse,
    LearningRuntimeSnapshot,
    LearnReceiptsResponse,
    LearnSessionsListResponse,
)
from contracts.learning.session import LearnSessionState
from contracts.learning.state_machine import AT_REST
from contracts.learning.views.allowed_actions import LearnSessionView
from domain.learning.session.account import history_outcome
from domain.maintenance.retention import ids_in_use
from stores.learning.checkpoints import receipts_page
from stores.learning.learning_tables import SESSIONS
from stores.learning.proposals import AllowedActions, lifted_quarantines
from stores.learning.sessions import scope_of, snapshot_of
from stores.platform import tables
from stores.platform.database import Database, PageRequest, containing
from stores.platform.document_table import DocumentPage, document_page
from stores.platform.journal.journal import RECEIPTS

_SESSIONS = tables.learn_sessions
_SEARCHED = (
    "proposal.title",
    "proposal.proposed_skill_slug",
    "session.target_skill_id",
    "session.target_app_family",
    "session.project_id",
    "session.ability_id",
)


class SessionReads:
    """What clients read about sessions."""

    def __init__(self, database: Database, actions: AllowedActions) -> None:
        self._database = database
        self._actions = actions

    def view(self, aggregate: LearnSessionAggregate) -> LearnSessionView:
        """One session with what it takes now."""
        return self._actions.of_sessions([aggregate])[0]

    def sessions(
        self,
        owner: str,
        wanted: PageRequest,
        states: Sequence[LearnSessionState] = (),
        search: str | None = None,
    ) -> LearnSessionsListResponse:
        """The owner's sessions that are not archived, newest first; in one of ``states``, if any are given.

        ``search`` finds those whose skill, application or project is called so.
        """
        found = self._page(owner, wanted, states, search, _SESSIONS.c.archived_at.is_(None))
        return LearnSessionsListResponse(sessions=self._actions.of_sessions(found.documents), **found.counts)

    def history(
        self,
        owner: str,
        wanted: PageRequest,
        states: Sequence[LearnSessionState] = (),
        search: str | None = None,
    ) -> LearnHistoryResponse:
        """All the owner's sessions, archived ones included; ``states`` and ``search`` as for ``sessions``."""
        found = self._page(owner, wanted, states, search)
        with self._database.read() as connection:
            lifted = lifted_quarantines(connection, found.documents)
        items = tuple(_history_item(one, lifted) for one in found.documents)
        return LearnHistoryResponse(items=items, **found.counts)

    def _page(
        self,
        owner: str,
        wanted: PageRequest,
        states: Sequence[LearnSessionState],
        search: str | None,
        *where: ColumnElement[bool],
    ) -> DocumentPage[LearnSessionAggregate]:
        if states:
            where = (*where, _SESSIONS.c.state.in_([state.value for state in states]))
        with self._database.read() as connection:
            if search:
                where = (*where, containing(connection, _SESSIONS.c.aggregate, _SEARCHED, search))
            newest_first = (_SESSIONS.c.session_id.desc(),)
            return SESSIONS.page(
                connection, wanted, _SESSIONS.c.owner == owner, *where, order_by=newest_first
            )

    def receipts(
        self,
        owner: str,
        wanted: PageRequest,
        session_id: str | None = None,
        kind: LearningReceiptKind | None = None,
    ) -> LearnReceiptsResponse:
        """The owner's learning receipts, newest first."""
        journal = tables.journal
        query = select(journal.c.document).where(journal.c.owner == owner, journal.c.stream == RECEIPTS)
        if session_id is not None:
            query = query.where(journal.c.session_id == session_id)
        if kind is not None:
            query = query.where(journal.c.document.contains(f'"event_kind":"{kind.value}"'))
        with self._database.read() as connection:
            found = document_page(connection, query.order_by(journal.c.seq.desc()), wanted, LearningReceipt)
        return LearnReceiptsResponse(receipts=found.documents, **found.counts)

    def checkpoint_receipts(self, session_id: str, wanted: PageRequest) -> LearnCheckpointReceiptsResponse:
        """Checkpoint receipts of a session, newest first."""
        with self._database.read() as connection:
            return receipts_page(connection, wanted, tables.journal.c.session_id == session_id)

    def observation_scope(self, aggregate: LearnSessionAggregate) -> ObservationScopeRuntime:
        """What the session observes, with the counters as they are now."""
        with self._database.read() as connection:
            return scope_of(connection, aggregate)

    def runtime_current(self, owner: str) -> LearningRuntimeSnapshot:
        """The owner's active session, or else the one changed last.

        Raises:
            Refusal: ``LEARN_SESSION_NOT_FOUND`` when there never was one.
        """
        of_owner = _SESSIONS.c.owner == owner
        newest = (_SESSIONS.c.updated_at.desc(),)
        with self._database.read() as connection:
            aggregate = SESSIONS.first(connection, of_owner, tables.HOLDS_SLOT)
            aggregate = aggregate or SESSIONS.first(connection, of_owner, order_by=newest)
            if aggregate is None:
                raise Refusal(
                    ErrorCode.LEARN_SESSION_NOT_FOUND,
                    "Nothing has been learned yet; start with POST /api/learn/sessions.",
                )
            return snapshot_of(connection, aggregate)


def _history_item(aggregate: LearnSessionAggregate, lifted: Collection[str]) -> LearnHistoryItem:
    session = aggregate.session
    return LearnHistoryItem(
        learn_session_id=session.learn_session_id,
        entry_mode=session.entry_mode.value,
        state=session.state.value,
        title=aggregate.proposal.title if aggregate.proposal else None,
        created_at=session.created_at,
        completed_at=aggregate.state_since if session.state in AT_REST else None,
        proposal_id=session.proposal_id,
        ability_id=session.ability_id,
        outcome=history_outcome(session.state),
        quarantine_lifted=session.learn_session_id in lifted,
    )


class OpenSessions:
    """Reads them as last committed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def ids(self) -> tuple[str, ...]:
        """Every session that is not at rest, oldest first; an owner has at most one."""
        query = select(_SESSIONS.c.session_id).where(tables.HOLDS_SLOT).order_by(_SESSIONS.c.created_at)
        with self._database.read() as connection:
            return tuple(connection.scalars(query))

    def one(self, session_id: str) -> LearnSessionAggregate | None:
        """The session, unless it has come to rest meanwhile."""
        with self._database.read() as connection:
            return SESSIONS.first(connection, _SESSIONS.c.session_id == session_id, tables.HOLDS_SLOT)


class OpenReferences:
    """The ids in use, read again only when an open session has changed."""

    def __init__(self) -> None:
        self._read: tuple[tuple[object, ...], frozenset[str]] = ((), frozenset())

    def ids(self, connection: Connection) -> frozenset[str]:
        """Every id that an open session refers to, as the caller's transaction sees it."""
        signature = tuple(
            connection.execute(
                select(
                    func.count(),
                    func.sum(_SESSIONS.c.change),
                    func.min(_SESSIONS.c.session_id),
                    func.max(_SESSIONS.c.session_id),
                ).where(tables.HOLDS_SLOT)
            ).one()
        )
        known, ids = self._read
        if signature != known:
            # The order of the partial index, in which an owner is once.
            by_owner = (_SESSIONS.c.owner,)
            ids = _ids_of(SESSIONS.all(connection, tables.HOLDS_SLOT, order_by=by_owner))
            self._read = (signature, ids)
        return ids


def session_refs(aggregate: LearnSessionAggregate) -> frozenset[str]:
    """The names under which other sessions may refer to this one."""
    session = aggregate.session
    named = {session.learn_session_id, *session.active_trace_ids, *session.active_observation_batch_ids}
    if session.proposal_id is not None:
        named.add(session.proposal_id)
    return frozenset(named)


def _ids_of(aggregates: Sequence[LearnSessionAggregate]) -> frozenset[str]:
    traces = {
        trace
        for aggregate in aggregates
        if aggregate.proposal is not None
        for trace in aggregate.proposal.source_trace_ids
    }
    return ids_in_use(aggregate.session for aggregate in aggregates) | traces
