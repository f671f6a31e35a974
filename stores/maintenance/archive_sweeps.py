"""The sweeps that put away sessions, their raw observations, and proposals (DOC3 §0C.16D)."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, func, select, update
from uuid_utils import uuid7

from contracts.base import rfc3339
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.lifecycle import (
    LearningLifecycleEvent,
    LearningReceipt,
    LearningReceiptKind,
    LearnSessionEvent,
)
from contracts.learning.proposal import ProposalState, SkillBundleProposal
from contracts.learning.questions import LearningAnswer
from contracts.maintenance.runs import ArchivedProposal, ArchivedSession, SweepName
from contracts.workflow_ids import NIGHTLY_SCHEDULE, learn_session_id
from domain.maintenance.retention import (
    ARCHIVED_PROPOSAL_STATES,
    OBSERVATION_PURGE_AFTER,
    PROPOSAL_ARCHIVE_AFTER,
    SESSION_ARCHIVE_AFTER,
    observation_purge_due,
    proposal_archive_due,
    session_archive_due,
)
from stores.learning.learning_tables import (
    BOUNDARIES,
    PROPOSALS,
    QUESTIONS,
    SESSIONS,
    VALIDATION_RUNS,
    VALIDATION_STEPS,
)
from stores.learning.observations import ObservationLog
from stores.learning.session_reads import OpenReferences, session_refs
from stores.maintenance.sweeps import LEFT_ALONE, Settled
from stores.platform import tables
from stores.platform.canonical import document_bytes
from stores.platform.journal.journal import LIFECYCLE, RECEIPTS, JournalDraft, append
from stores.platform.projection.documents import put_document

_SESSIONS = tables.learn_sessions
_PROPOSALS = tables.proposals

ARCHIVE_REASON = "retention: 30 days at rest"


def archived_session_path(session_id: str) -> str:
    """Where the memory tree keeps an archived session."""
    return f"system/learning/archived/sessions/{session_id}.json"


def archived_proposal_path(proposal_id: str) -> str:
    """Where the memory tree keeps an archived proposal."""
    return f"system/learning/archived/proposals/{proposal_id}.json"


class ArchiveSessions:
    """Sessions 30 days at rest leave the lists; a document and a journal entry say so."""

    name = SweepName.ARCHIVE_SESSIONS
    batch = 10

    def __init__(self, references: OpenReferences) -> None:
        self._references = references

    def due(self, connection: Connection, now: datetime, after: str, limit: int) -> Sequence[str]:
        """Session ids in their own order."""
        return _sessions_due(
            connection,
            _SESSIONS.c.archived_at.is_(None),
            _SESSIONS.c.at_rest_at <= rfc3339(now - SESSION_ARCHIVE_AFTER),
            after,
            limit,
        )

    def settle(self, connection: Connection, item: str, now: datetime, run_id: str) -> Settled:
        """Archives one session."""
        row = connection.execute(
            select(_SESSIONS.c.aggregate, _SESSIONS.c.at_rest_at, _SESSIONS.c.archived_at)
            .where(_SESSIONS.c.session_id == item)
            .with_for_update()
        ).one()
        aggregate = SESSIONS.parse(row.aggregate)
        referenced = bool(session_refs(aggregate) & self._references.ids(connection))
        if row.archived_at is not None or not session_archive_due(
            _time(row.at_rest_at), now, referenced=referenced
        ):
            return LEFT_ALONE
        archived = ArchivedSession(
            archived_at=now,
            aggregate=aggregate,
            boundaries=BOUNDARIES.all(
                connection,
                tables.boundaries.c.session_id == item,
                order_by=(tables.boundaries.c.boundary_id,),
            ),
            observations_held=connection.scalar(
                select(func.count())
                .select_from(tables.observations)
                .where(tables.observations.c.session_id == item, tables.observations.c.retain)
            )
            or 0,
        )
        put_document(connection, "memory", archived_session_path(item), document_bytes(archived))
        connection.execute(
            update(_SESSIONS).where(_SESSIONS.c.session_id == item).values(archived_at=rfc3339(now))
        )
        append(connection, _archive_entries(aggregate, now, run_id))
        return Settled(done=True)


class PurgeObservations:
    """Raw observations go 7 days after their session came to rest, unless they are marked ``retain``."""

    name = SweepName.PURGE_OBSERVATIONS
    batch = 10

    def __init__(self, references: OpenReferences, observations: ObservationLog) -> None:
        self._references = references
        self._observations = observations

    def due(self, connection: Connection, now: datetime, after: str, limit: int) -> Sequence[str]:
        """Session ids in their own order."""
        return _sessions_due(
            connection,
            _SESSIONS.c.observations_purged_at.is_(None),
            _SESSIONS.c.at_rest_at <= rfc3339(now - OBSERVATION_PURGE_AFTER),
            after,
            limit,
        )

    def settle(self, connection: Connection, item: str, now: datetime, run_id: str) -> Settled:
        """Purges one session's observations."""
        row = connection.execute(
            select(_SESSIONS.c.aggregate, _SESSIONS.c.at_rest_at, _SESSIONS.c.observations_purged_at)
            .where(_SESSIONS.c.session_id == item)
            .with_for_update()
        ).one()
        aggregate = SESSIONS.parse(row.aggregate)
        referenced = bool(session_refs(aggregate) & self._references.ids(connection))
        if row.observations_purged_at is not None or not observation_purge_due(
            _time(row.at_rest_at), now, referenced=referenced
        ):
            return LEFT_ALONE
        removed = self._observations.purge(connection, item)
        connection.execute(
            update(_SESSIONS)
            .where(_SESSIONS.c.session_id == item)
            .values(observations_purged_at=rfc3339(now))
        )
        return Settled(done=True, removed=removed)


class ArchiveProposals:
    """Cancelled and rejected proposals leave the lists after 14 days, with their validation runs."""

    name = SweepName.ARCHIVE_PROPOSALS
    batch = 10

    def __init__(self, references: OpenReferences) -> None:
        self._references = references

    def due(self, connection: Connection, now: datetime, after: str, limit: int) -> Sequence[str]:
        """Proposal ids in their own order."""
        query = (
            select(_PROPOSALS.c.proposal_id)
            .where(
                _PROPOSALS.c.archived_at.is_(None),
                _PROPOSALS.c.state.in_([state.value for state in ARCHIVED_PROPOSAL_STATES]),
                _PROPOSALS.c.updated_at <= rfc3339(now - PROPOSAL_ARCHIVE_AFTER),
                _PROPOSALS.c.proposal_id > after,
            )
            .order_by(_PROPOSALS.c.proposal_id)
            .limit(limit)
        )
        return connection.scalars(query).all()

    def settle(self, connection: Connection, item: str, now: datetime, run_id: str) -> Settled:
        """Archives one proposal."""
        row = connection.execute(
            select(_PROPOSALS).where(_PROPOSALS.c.proposal_id == item).with_for_update()
        ).one()
        proposal = PROPOSALS.parse(row.body)
        referenced = item in self._references.ids(connection)
        if row.archived_at is not None or not proposal_archive_due(
            ProposalState(row.state), _time(row.updated_at), now, referenced=referenced
        ):
            return LEFT_ALONE
        archived = _archived_proposal(connection, proposal, now)
        put_document(connection, "memory", archived_proposal_path(item), document_bytes(archived))
        connection.execute(
            update(_PROPOSALS).where(_PROPOSALS.c.proposal_id == item).values(archived_at=rfc3339(now))
        )
        return Settled(done=True)


def _sessions_due(
    connection: Connection,
    pending: ColumnElement[bool],
    old_enough: ColumnElement[bool],
    after: str,
    limit: int,
) -> Sequence[str]:
    query = (
        select(_SESSIONS.c.session_id)
        .where(pending, old_enough, _SESSIONS.c.session_id > after)
        .order_by(_SESSIONS.c.session_id)
        .limit(limit)
    )
    return connection.scalars(query).all()


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text is not None else None


def _archived_proposal(
    connection: Connection, proposal: SkillBundleProposal, now: datetime
) -> ArchivedProposal:
    asked, runs, steps = tables.questions, tables.validation_runs, tables.validation_steps
    questions = connection.execute(
        select(asked.c.body, asked.c.answer)
        .where(asked.c.proposal_id == proposal.proposal_id)
        .order_by(asked.c.question_id)
    ).all()
    of_proposal = select(runs.c.run_id).where(runs.c.proposal_id == proposal.proposal_id)
    return ArchivedProposal(
        archived_at=now,
        proposal=proposal,
        questions=tuple(QUESTIONS.parse(row.body) for row in questions),
        answers=tuple(
            LearningAnswer.model_validate_json(row.answer) for row in questions if row.answer is not None
        ),
        validation_runs=VALIDATION_RUNS.all(
            connection, runs.c.proposal_id == proposal.proposal_id, order_by=(runs.c.run_id,)
        ),
        validation_steps=VALIDATION_STEPS.all(
            connection, steps.c.run_id.in_(of_proposal), order_by=(steps.c.run_id, steps.c.test_case_id)
        ),
    )


def _archive_entries(
    aggregate: LearnSessionAggregate, now: datetime, run_id: str
) -> tuple[JournalDraft, JournalDraft]:
    session = aggregate.session
    correlation_id = f"{NIGHTLY_SCHEDULE}/{run_id}"
    event = LearnSessionEvent(
        event_kind=LearningLifecycleEvent.SESSION_ARCHIVED.value,
        session_id=session.learn_session_id,
        payload={"state": session.state.value, "reason": ARCHIVE_REASON},
        timestamp=now,
    )
    receipt = LearningReceipt(
        receipt_id=str(uuid7()),
        learn_session_id=session.learn_session_id,
        proposal_id=session.proposal_id,
        event_kind=LearningReceiptKind.ARCHIVED,
        reason=ARCHIVE_REASON,
        correlation_id=correlation_id,
        created_at=now,
    )

    def entry(stream: str, document: LearnSessionEvent | LearningReceipt) -> JournalDraft:
        return JournalDraft(
            stream=stream,
            aggregate=learn_session_id(session.learn_session_id),
            owner=session.owner_user_id,
            correlation_id=correlation_id,
            created_at=rfc3339(now),
            document=document.model_dump(mode="json", exclude_none=True),
            session_id=session.learn_session_id,
            proposal_id=session.proposal_id,
            ability_id=session.ability_id,
        )

    return entry(LIFECYCLE, event), entry(RECEIPTS, receipt)
