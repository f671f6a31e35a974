"""Candidates of skill mining: each change is one transaction with its journal entries."""

from datetime import datetime

from sqlalchemy import Connection, insert, select, update
from uuid_utils import uuid7

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.lifecycle import LearningReceiptKind as Receipt
from contracts.learning.mining import (
    BUILDS_BY_ITSELF,
    CandidateAction,
    CandidateFeedbackKind,
    CandidateState,
    MiningCandidate,
)
from contracts.learning.mining_runs import CandidateBuild, CandidateGivenUp
from domain.learning.allowed_actions import CandidateFacts, candidate_refusal
from stores import tables
from stores.canonical import canonical_json
from stores.database import Database
from stores.journal import append
from stores.mining_entries import CandidateEntries
from stores.mining_reads import candidate_facts, read_candidate
from stores.mining_settings import settings_of

TABLE = tables.mining_candidates
_BEGUN = frozenset({CandidateState.BUILDING, CandidateState.BUILT})


class CandidateStore:
    """The durable side of what becomes of a candidate. Each method may be repeated without harm."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin_build(self, build: CandidateBuild) -> MiningCandidate:
        """Marks the candidate as being built; one that is or was built already is returned as it is.

        Raises:
            Refusal: ``NOT_FOUND``; ``CONFLICT`` when it was dismissed, has expired, one of its traces is in
                another proposal by now, or its owner lets nothing be built unasked any more;
                ``LEARN_SESSION_ALREADY_ACTIVE`` while its owner has an open session.
        """
        with self._database.write() as connection:
            found = read_candidate(connection, build.candidate_id, build.owner_user_id, lock=True)
            if found.state in _BEGUN:
                return found
            if build.asked_by is None:
                _refuse_by_itself(connection, found)
            _refuse_unbuildable(connection, found)
            earlier = (*found.earlier_session_ids, *filter(None, (found.learn_session_id,)))
            changed = _changed(
                found,
                build.now,
                state=CandidateState.BUILDING,
                attempt=found.attempt + 1,
                reason=None,
                learn_session_id=str(uuid7()),
                proposal_id=None,
                earlier_session_ids=earlier,
            )
            _write(connection, changed)
            entries = CandidateEntries(changed, build.correlation_id, build.now).cluster()
            if build.asked_by is not None:
                entries.feedback(CandidateFeedbackKind.ACCEPTED, build.reason)
                entries.receipt(Receipt.CANDIDATE_ACCEPTED, build.reason)
            append(connection, entries.drafts)
        return changed

    def opened(self, candidate_id: str, correlation_id: str, now: datetime) -> MiningCandidate:
        """Records the proposal that came of the candidate's session."""
        with self._database.write() as connection:
            found = read_candidate(connection, candidate_id, lock=True)
            if found.state is not CandidateState.BUILDING:
                return found
            body = connection.scalar(
                select(tables.learn_sessions.c.aggregate).where(
                    tables.learn_sessions.c.session_id == found.learn_session_id
                )
            )
            aggregate = LearnSessionAggregate.model_validate_json(body or "{}")
            changed = _changed(
                found,
                now,
                state=CandidateState.BUILT,
                proposal_id=aggregate.session.proposal_id,
            )
            _write(connection, changed)
            entries = CandidateEntries(changed, correlation_id, now).cluster()
            entries.receipt(Receipt.CANDIDATE_BUILT, f"candidate {candidate_id}")
            if aggregate.proposal is not None:
                entries.bundle(aggregate.proposal)
            append(connection, entries.drafts)
        return changed

    def give_up(self, given_up: CandidateGivenUp, correlation_id: str) -> MiningCandidate:
        """Records that a build came to nothing; a deferred one is open again."""
        with self._database.write() as connection:
            found = read_candidate(connection, given_up.candidate_id, lock=True)
            state = CandidateState.OPEN if given_up.deferred else CandidateState.FAILED
            if found.state not in _BEGUN:
                return found
            changed = _changed(found, given_up.now, state=state, reason=given_up.reason)
            _write(connection, changed)
            append(connection, CandidateEntries(changed, correlation_id, given_up.now).cluster().drafts)
        return changed

    def dismiss(
        self, candidate_id: str, owner: str, reason: str | None, correlation_id: str, now: datetime
    ) -> MiningCandidate:
        """Puts the candidate aside for good: its traces do not count again.

        Raises:
            Refusal: ``NOT_FOUND``; ``CONFLICT`` once it is being built.
        """
        with self._database.write() as connection:
            found = read_candidate(connection, candidate_id, owner, lock=True)
            if found.state is CandidateState.DISMISSED:
                return found
            if (refusal := candidate_refusal(CandidateFacts(found), CandidateAction.DISMISS)) is not None:
                raise refusal
            changed = _changed(found, now, state=CandidateState.DISMISSED, reason=reason)
            _write(connection, changed)
            entries = CandidateEntries(changed, correlation_id, now).cluster()
            entries.feedback(CandidateFeedbackKind.DISMISSED, reason)
            entries.receipt(Receipt.CANDIDATE_DISMISSED, reason)
            append(connection, entries.drafts)
        return changed


def write_candidate(connection: Connection, candidate: MiningCandidate) -> None:
    """Inserts a candidate or replaces the one of its id."""
    if not _write(connection, candidate):
        connection.execute(
            insert(TABLE).values(
                candidate_id=candidate.candidate_id,
                owner=candidate.owner_user_id,
                state=candidate.state.value,
                created_at=rfc3339(candidate.created_at),
                updated_at=rfc3339(candidate.updated_at),
                body=canonical_json(candidate),
            )
        )


def _write(connection: Connection, candidate: MiningCandidate) -> bool:
    done = connection.execute(
        update(TABLE)
        .where(TABLE.c.candidate_id == candidate.candidate_id)
        .values(
            state=candidate.state.value,
            updated_at=rfc3339(candidate.updated_at),
            body=canonical_json(candidate),
        )
    )
    return done.rowcount == 1


def _changed(candidate: MiningCandidate, now: datetime, **fields: object) -> MiningCandidate:
    return candidate.model_copy(update={**fields, "updated_at": now})


def _refuse_by_itself(connection: Connection, found: MiningCandidate) -> None:
    if settings_of(connection, found.owner_user_id).mode not in BUILDS_BY_ITSELF:
        raise Refusal(
            ErrorCode.CONFLICT, "Its owner lets nothing be built unasked any more; the candidate stays open."
        )


def _refuse_unbuildable(connection: Connection, found: MiningCandidate) -> None:
    refusal = candidate_refusal(candidate_facts(connection, [found])[0], CandidateAction.ACCEPT)
    if refusal is not None:
        raise refusal
