"""Store of mining candidates: build, dismiss, give up; each change is one transaction with its journal entries."""

from datetime import datetime
from typing import Self

from sqlalchemy import Connection
from uuid_utils import uuid7

from contracts.errors import ErrorCode, Refusal
from contracts.learning.lifecycle import LearningReceiptKind as Receipt
from contracts.mining.candidates import (
    BUILDS_BY_ITSELF,
    CandidateAction,
    CandidateFeedback,
    CandidateFeedbackKind,
    CandidateState,
    MiningCandidate,
    TraceClusterRecord,
)
from contracts.mining.runs import CandidateBuild, CandidateGivenUp
from domain.learning.session.allowed_actions import CandidateFacts, candidate_refusal
from stores.learning.learning_tables import SESSIONS
from stores.mining.candidate_reads import CANDIDATES, candidate_facts
from stores.mining.runs import settings_of
from stores.platform.database import Database
from stores.platform.journal.journal import JournalEntries, append

CLUSTERS = "system/capabilities/trace_clusters"
FEEDBACK = "system/capabilities/mining_candidate_feedback"
BUNDLES = "system/capabilities/skill_bundle_proposals"


class CandidateEntries(JournalEntries):
    """Collects what one decision about a candidate adds to the journal."""

    def __init__(self, candidate: MiningCandidate, correlation_id: str, now: datetime) -> None:
        owner = candidate.owner_user_id
        super().__init__(
            f"mining/{owner}", owner, correlation_id, now, candidate.learn_session_id, candidate.proposal_id
        )
        self._candidate = candidate

    def cluster(self) -> Self:
        """The cluster as it stands."""
        found = self._candidate
        record = TraceClusterRecord(candidate_id=found.candidate_id, state=found.state, cluster=found.cluster)
        return self.add(CLUSTERS, record)

    def feedback(self, kind: CandidateFeedbackKind, text: str | None) -> Self:
        """A person's word."""
        given = CandidateFeedback(
            candidate_id=self._candidate.candidate_id,
            feedback_kind=kind,
            feedback_text=text,
            created_at=self.at,
        )
        return self.add(FEEDBACK, given)


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
            found = CANDIDATES.owned(connection, build.candidate_id, build.owner_user_id, lock=True)
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
            CANDIDATES.replace(connection, changed)
            entries = CandidateEntries(changed, build.correlation_id, build.now).cluster()
            if build.asked_by is not None:
                entries.feedback(CandidateFeedbackKind.ACCEPTED, build.reason)
                entries.receipt(Receipt.CANDIDATE_ACCEPTED, build.reason)
            append(connection, entries.drafts)
        return changed

    def opened(self, candidate_id: str, correlation_id: str, now: datetime) -> MiningCandidate:
        """Records the proposal that came of the candidate's session."""
        with self._database.write() as connection:
            found = CANDIDATES.get(connection, candidate_id, lock=True)
            if found.state is not CandidateState.BUILDING:
                return found
            aggregate = SESSIONS.get(connection, found.learn_session_id or "")
            changed = _changed(
                found,
                now,
                state=CandidateState.BUILT,
                proposal_id=aggregate.session.proposal_id,
            )
            CANDIDATES.replace(connection, changed)
            entries = CandidateEntries(changed, correlation_id, now).cluster()
            entries.receipt(Receipt.CANDIDATE_BUILT, f"candidate {candidate_id}")
            if aggregate.proposal is not None:
                entries.add(BUNDLES, aggregate.proposal)
            append(connection, entries.drafts)
        return changed

    def give_up(self, given_up: CandidateGivenUp, correlation_id: str) -> MiningCandidate:
        """Records that a build came to nothing; a deferred one is open again."""
        with self._database.write() as connection:
            found = CANDIDATES.get(connection, given_up.candidate_id, lock=True)
            state = CandidateState.OPEN if given_up.deferred else CandidateState.FAILED
            if found.state not in _BEGUN:
                return found
            changed = _changed(found, given_up.now, state=state, reason=given_up.reason)
            CANDIDATES.replace(connection, changed)
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
            found = CANDIDATES.owned(connection, candidate_id, owner, lock=True)
            if found.state is CandidateState.DISMISSED:
                return found
            if (refusal := candidate_refusal(CandidateFacts(found), CandidateAction.DISMISS)) is not None:
                raise refusal
            changed = _changed(found, now, state=CandidateState.DISMISSED, reason=reason)
            CANDIDATES.replace(connection, changed)
            entries = CandidateEntries(changed, correlation_id, now).cluster()
            entries.feedback(CandidateFeedbackKind.DISMISSED, reason)
            entries.receipt(Receipt.CANDIDATE_DISMISSED, reason)
            append(connection, entries.drafts)
        return changed


def _changed(candidate: MiningCandidate, now: datetime, **fields: object) -> MiningCandidate:
    return candidate.changed(**fields, updated_at=now)


def _refuse_by_itself(connection: Connection, found: MiningCandidate) -> None:
    if settings_of(connection, found.owner_user_id).mode not in BUILDS_BY_ITSELF:
        raise Refusal(
            ErrorCode.CONFLICT,
            "Its owner lets nothing be built unasked any more; the candidate stays open.",
            retryable=False,
        )


def _refuse_unbuildable(connection: Connection, found: MiningCandidate) -> None:
    refusal = candidate_refusal(candidate_facts(connection, [found])[0], CandidateAction.ACCEPT)
    if refusal is not None:
        raise refusal
