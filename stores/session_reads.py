"""Read models of sessions: lists, history, receipts, the runtime snapshot. Never asks Temporal."""

from sqlalchemy import select

from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.allowed_actions import LearnSessionView
from contracts.learning.checkpoint import CheckpointVerificationReceipt
from contracts.learning.lifecycle import LearningReceipt, LearningReceiptKind
from contracts.learning.observation import ObservationScopeRuntime
from contracts.learning.responses import (
    LearnCheckpointReceiptsResponse,
    LearnHistoryItem,
    LearnHistoryResponse,
    LearnReceiptsResponse,
    LearnSessionsListResponse,
)
from contracts.learning.runtime_snapshot import LearningRuntimeSnapshot
from contracts.learning.session import LearnSessionState
from contracts.learning.state_machine import AT_REST
from domain.learning.runtime_truth import history_outcome, observation_scope, runtime_snapshot
from stores import tables
from stores.ability_rows import entry_of
from stores.allowed_actions import AllowedActions
from stores.database import Database
from stores.paging import PageRequest, fetch_page
from stores.session_entries import RECEIPTS
from stores.session_truth import latest_receipt_ids, observed_adapters
from stores.text_search import containing

CHECKPOINT_RECEIPTS = "system/learning/checkpoint_receipts"

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
        state: LearnSessionState | None = None,
        search: str | None = None,
    ) -> LearnSessionsListResponse:
        """The owner's sessions that are not archived, newest first.

        ``search`` finds those whose skill, application or project is called so.
        """
        query = select(_SESSIONS.c.aggregate).where(
            _SESSIONS.c.owner == owner, _SESSIONS.c.archived_at.is_(None)
        )
        if state is not None:
            query = query.where(_SESSIONS.c.state == state.value)
        with self._database.read() as connection:
            if search:
                query = query.where(containing(connection, _SESSIONS.c.aggregate, _SEARCHED, search))
            found = fetch_page(connection, query.order_by(_SESSIONS.c.session_id.desc()), wanted)
        return LearnSessionsListResponse(
            sessions=self._actions.of_sessions(
                [LearnSessionAggregate.model_validate_json(r.aggregate) for r in found.rows]
            ),
            total=found.total,
            page=wanted.page,
            page_size=wanted.page_size,
        )

    def history(self, owner: str, wanted: PageRequest, search: str | None = None) -> LearnHistoryResponse:
        """All the owner's sessions, archived ones included; ``search`` as for ``sessions``."""
        query = select(_SESSIONS.c.aggregate).where(_SESSIONS.c.owner == owner)
        with self._database.read() as connection:
            if search:
                query = query.where(containing(connection, _SESSIONS.c.aggregate, _SEARCHED, search))
            found = fetch_page(connection, query.order_by(_SESSIONS.c.session_id.desc()), wanted)
        items = tuple(
            _history_item(LearnSessionAggregate.model_validate_json(r.aggregate)) for r in found.rows
        )
        return LearnHistoryResponse(
            items=items, total=found.total, page=wanted.page, page_size=wanted.page_size
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
            found = fetch_page(connection, query.order_by(journal.c.seq.desc()), wanted)
        return LearnReceiptsResponse(
            receipts=tuple(LearningReceipt.model_validate_json(row.document) for row in found.rows),
            total=found.total,
            page=wanted.page,
            page_size=wanted.page_size,
        )

    def checkpoint_receipts(self, session_id: str, wanted: PageRequest) -> LearnCheckpointReceiptsResponse:
        """Checkpoint receipts of a session, newest first."""
        journal = tables.journal
        query = (
            select(journal.c.document)
            .where(journal.c.session_id == session_id, journal.c.stream == CHECKPOINT_RECEIPTS)
            .order_by(journal.c.seq.desc())
        )
        with self._database.read() as connection:
            found = fetch_page(connection, query, wanted)
        return LearnCheckpointReceiptsResponse(
            receipts=tuple(CheckpointVerificationReceipt.model_validate_json(r.document) for r in found.rows),
            total=found.total,
            page=wanted.page,
            page_size=wanted.page_size,
        )

    def observation_scope(self, aggregate: LearnSessionAggregate) -> ObservationScopeRuntime:
        """What the session observes, with the counters as they are now."""
        session = aggregate.session
        counters = tables.observation_counters
        with self._database.read() as connection:
            row = connection.execute(
                select(counters).where(counters.c.session_id == session.learn_session_id)
            ).one_or_none()
        adapters = observed_adapters(row.adapters if row is not None else None)
        return observation_scope(
            session,
            dropped_off_target=row.off_target if row is not None else 0,
            adapters=adapters,
            data_classes=adapters,
            started_at=aggregate.state_since,
        )

    def runtime_current(self, owner: str) -> LearningRuntimeSnapshot:
        """The owner's active session, or else the one changed last.

        Raises:
            Refusal: ``LEARN_SESSION_NOT_FOUND`` when there never was one.
        """
        query = (
            select(_SESSIONS.c.aggregate)
            .where(_SESSIONS.c.owner == owner)
            .order_by(_SESSIONS.c.holds_slot.desc(), _SESSIONS.c.updated_at.desc())
            .limit(1)
        )
        with self._database.read() as connection:
            body = connection.scalar(query)
            if body is None:
                raise Refusal(
                    ErrorCode.LEARN_SESSION_NOT_FOUND,
                    "Nothing has been learned yet; start with POST /api/learn/sessions.",
                )
            aggregate = LearnSessionAggregate.model_validate_json(body)
            session = aggregate.session
            counters = tables.observation_counters
            adapters = connection.scalar(
                select(counters.c.adapters).where(counters.c.session_id == session.learn_session_id)
            )
            return runtime_snapshot(
                session,
                proposal=aggregate.proposal,
                observed_data_classes=observed_adapters(adapters),
                latest_receipt_ids=latest_receipt_ids(connection, session.learn_session_id),
                ability_entry=entry_of(connection, session.ability_id) if session.ability_id else None,
                now=session.updated_at,
            )


def _history_item(aggregate: LearnSessionAggregate) -> LearnHistoryItem:
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
    )
