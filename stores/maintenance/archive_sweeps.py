"""The sweeps that put away sessions, their raw observations, and proposals (DOC3 §0C.16D)."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, select, update

from contracts.base import rfc3339
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.lifecycle import LearningLifecycleEvent, LearningReceiptKind
from contracts.learning.proposal import ProposalState, SkillBundleProposal
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
    OBSERVATIONS,
    PROPOSALS,
    SESSIONS,
    VALIDATION_RUNS,
    VALIDATION_STEPS,
    questions_of,
)
from stores.learning.observations import ObservationLog
from stores.learning.session_reads import OpenReferences, session_refs
from stores.maintenance.sweeps import LEFT_ALONE, Settled, keys_after
from stores.platform import tables
from stores.platform.canonical import document_bytes
from stores.platform.journal.journal import JournalDraft, JournalEntries, append
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


class HeldSession(NamedTuple):
    """A session whose row is locked, and what the retention rules look at."""

    aggregate: LearnSessionAggregate
    at_rest_at: str | None
    archived: bool
    purged: bool
    referenced: bool


def held_session(connection: Connection, session_id: str, references: OpenReferences) -> HeldSession | None:
    """The session, its row locked until the transaction ends; ``referenced`` by an open session or not."""
    beside = (_SESSIONS.c.at_rest_at, _SESSIONS.c.archived_at, _SESSIONS.c.observations_purged_at)
    query = SESSIONS.select(_SESSIONS.c.session_id == session_id, also=beside, lock=True)
    row = connection.execute(query).one_or_none()
    if row is None:
        return None
    aggregate = SESSIONS.parse(row.aggregate)
    referenced = bool(session_refs(aggregate) & references.ids(connection))
    archived, purged = row.archived_at is not None, row.observations_purged_at is not None
    return HeldSession(aggregate, row.at_rest_at, archived, purged, referenced)


class ArchiveSessions:
    """Sessions 30 days at rest leave the lists; a document and a journal entry say so."""

    name = SweepName.ARCHIVE_SESSIONS
    batch = 10

    def __init__(self, references: OpenReferences) -> None:
        self._references = references

    def due(self, connection: Connection, now: datetime, after: str, limit: int) -> Sequence[str]:
        """Session ids in their own order."""
        old = _SESSIONS.c.at_rest_at <= rfc3339(now - SESSION_ARCHIVE_AFTER)
        pending = _SESSIONS.c.archived_at.is_(None)
        return keys_after(connection, _SESSIONS.c.session_id, after, limit, pending, old)

    def settle(self, connection: Connection, item: str, now: datetime, run_id: str) -> Settled:
        """Archives one session."""
        held = held_session(connection, item, self._references)
        if (
            held is None
            or held.archived
            or not session_archive_due(_time(held.at_rest_at), now, referenced=held.referenced)
        ):
            return LEFT_ALONE
        archived = ArchivedSession(
            archived_at=now,
            aggregate=held.aggregate,
            boundaries=BOUNDARIES.all(
                connection,
                tables.boundaries.c.session_id == item,
                order_by=(tables.boundaries.c.boundary_id,),
            ),
            observations_held=OBSERVATIONS.count(
                connection, tables.observations.c.session_id == item, tables.observations.c.retain
            ),
        )
        put_document(connection, "memory", archived_session_path(item), document_bytes(archived))
        connection.execute(
            update(_SESSIONS).where(_SESSIONS.c.session_id == item).values(archived_at=rfc3339(now))
        )
        append(connection, _archive_entries(held.aggregate, now, run_id))
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
        old = _SESSIONS.c.at_rest_at <= rfc3339(now - OBSERVATION_PURGE_AFTER)
        pending = _SESSIONS.c.observations_purged_at.is_(None)
        return keys_after(connection, _SESSIONS.c.session_id, after, limit, pending, old)

    def settle(self, connection: Connection, item: str, now: datetime, run_id: str) -> Settled:
        """Purges one session's observations."""
        held = held_session(connection, item, self._references)
        if (
            held is None
            or held.purged
            or not observation_purge_due(_time(held.at_rest_at), now, referenced=held.referenced)
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
        old = (
            _PROPOSALS.c.archived_at.is_(None),
            _PROPOSALS.c.state.in_([state.value for state in ARCHIVED_PROPOSAL_STATES]),
            _PROPOSALS.c.updated_at <= rfc3339(now - PROPOSAL_ARCHIVE_AFTER),
        )
        return keys_after(connection, _PROPOSALS.c.proposal_id, after, limit, *old)

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


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text is not None else None


def _archived_proposal(
    connection: Connection, proposal: SkillBundleProposal, now: datetime
) -> ArchivedProposal:
    runs, steps = tables.validation_runs, tables.validation_steps
    questions = questions_of(connection, proposal.proposal_id)
    of_proposal = select(runs.c.run_id).where(runs.c.proposal_id == proposal.proposal_id)
    return ArchivedProposal(
        archived_at=now,
        proposal=proposal,
        questions=tuple(question for question, _ in questions),
        answers=tuple(answer for _, answer in questions if answer is not None),
        validation_runs=VALIDATION_RUNS.all(
            connection, runs.c.proposal_id == proposal.proposal_id, order_by=(runs.c.run_id,)
        ),
        validation_steps=VALIDATION_STEPS.all(
            connection, steps.c.run_id.in_(of_proposal), order_by=(steps.c.run_id, steps.c.test_case_id)
        ),
    )


def _archive_entries(aggregate: LearnSessionAggregate, now: datetime, run_id: str) -> list[JournalDraft]:
    session = aggregate.session
    entries = JournalEntries(
        learn_session_id(session.learn_session_id),
        session.owner_user_id,
        f"{NIGHTLY_SCHEDULE}/{run_id}",
        now,
        session.learn_session_id,
        session.proposal_id,
        session.ability_id,
    )
    payload = {"state": session.state.value, "reason": ARCHIVE_REASON}
    entries.event(LearningLifecycleEvent.SESSION_ARCHIVED.value, payload)
    return entries.receipt(LearningReceiptKind.ARCHIVED, ARCHIVE_REASON).drafts
