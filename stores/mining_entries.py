"""The journal entries of skill mining: clusters, people's words on candidates, receipts, proposals that came of it."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel
from uuid_utils import uuid7

from contracts.base import rfc3339
from contracts.learning.lifecycle import LearningReceipt, LearningReceiptKind
from contracts.learning.mining import (
    CandidateFeedback,
    CandidateFeedbackKind,
    MiningCandidate,
    TraceClusterRecord,
)
from stores.journal import JournalDraft
from stores.session_entries import RECEIPTS

CLUSTERS = "system/capabilities/trace_clusters"
FEEDBACK = "system/capabilities/skill_proposal_feedback"
BUNDLES = "system/capabilities/skill_bundle_proposals"


class CandidateEntries:
    """Collects what one decision about a candidate adds to the journal."""

    def __init__(self, candidate: MiningCandidate, correlation_id: str, now: datetime) -> None:
        self._candidate = candidate
        self._correlation_id = correlation_id
        self._now = now
        self.drafts: list[JournalDraft] = []

    def cluster(self) -> "CandidateEntries":
        """The cluster as it stands."""
        found = self._candidate
        record = TraceClusterRecord(candidate_id=found.candidate_id, state=found.state, cluster=found.cluster)
        return self._add(CLUSTERS, record)

    def receipt(self, kind: LearningReceiptKind, reason: str | None = None) -> "CandidateEntries":
        """That it happened, and why."""
        receipt = LearningReceipt(
            receipt_id=str(uuid7()),
            learn_session_id=self._candidate.learn_session_id,
            proposal_id=self._candidate.proposal_id,
            event_kind=kind,
            reason=reason,
            correlation_id=self._correlation_id,
            created_at=self._now,
        )
        return self._add(RECEIPTS, receipt)

    def feedback(self, kind: CandidateFeedbackKind, text: str | None) -> "CandidateEntries":
        """A person's word."""
        return self._add(
            FEEDBACK,
            CandidateFeedback(
                candidate_id=self._candidate.candidate_id,
                feedback_kind=kind,
                feedback_text=text,
                created_at=self._now,
            ),
        )

    def bundle(self, proposal: BaseModel) -> "CandidateEntries":
        """The proposal that the candidate became."""
        return self._add(BUNDLES, proposal)

    def _add(self, stream: str, document: BaseModel) -> "CandidateEntries":
        body: dict[str, Any] = document.model_dump(mode="json", exclude_none=True)
        self.drafts.append(
            JournalDraft(
                stream=stream,
                aggregate=f"mining/{self._candidate.owner_user_id}",
                owner=self._candidate.owner_user_id,
                correlation_id=self._correlation_id,
                created_at=rfc3339(self._now),
                document=body,
                session_id=self._candidate.learn_session_id,
                proposal_id=self._candidate.proposal_id,
            )
        )
        return self
