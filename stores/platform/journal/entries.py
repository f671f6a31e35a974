"""Builds journal entries of one change: documents, lifecycle events and learning receipts that share their context."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel
from uuid_utils import uuid7

from contracts.base import clipped, rfc3339
from contracts.learning.lifecycle import LearningReceipt, LearningReceiptKind, LearnSessionEvent
from stores.platform.journal.journal import LIFECYCLE, RECEIPTS, JournalDraft


@dataclass
class JournalEntries:
    """Collects the drafts of one change, which have aggregate, owner, correlation id, time and subjects in common."""

    aggregate: str
    owner: str
    correlation_id: str
    at: datetime
    session_id: str | None = None
    proposal_id: str | None = None
    ability_id: str | None = None
    drafts: list[JournalDraft] = field(default_factory=list[JournalDraft])

    def draft(
        self, stream: str, document: BaseModel | Mapping[str, Any], ability_id: str | None = None
    ) -> JournalDraft:
        """One entry, not collected; fields of a model that are None are left out."""
        model = isinstance(document, BaseModel)
        return JournalDraft(
            stream=stream,
            aggregate=self.aggregate,
            owner=self.owner,
            correlation_id=self.correlation_id,
            created_at=rfc3339(self.at),
            document=document.model_dump(mode="json", exclude_none=True) if model else document,
            session_id=self.session_id,
            proposal_id=self.proposal_id,
            ability_id=ability_id or self.ability_id,
        )

    def add(
        self, stream: str, document: BaseModel | Mapping[str, Any], ability_id: str | None = None
    ) -> Self:
        """Collects one entry."""
        self.drafts.append(self.draft(stream, document, ability_id))
        return self

    def event(self, kind: str, payload: Mapping[str, Any], ability_id: str | None = None) -> Self:
        """Collects a lifecycle event of the session.

        Raises:
            ValidationError: there is no session.
        """
        event = LearnSessionEvent(
            event_kind=kind, session_id=self.session_id or "", payload=dict(payload), timestamp=self.at
        )
        return self.add(LIFECYCLE, event, ability_id)

    def receipt(
        self,
        kind: LearningReceiptKind,
        reason: str | None = None,
        ability_id: str | None = None,
        *,
        named: str | None = None,
    ) -> Self:
        """Collects a learning receipt (DOC3 §0C.12); ``reason`` is clipped, ``named`` is the ability it names."""
        receipt = LearningReceipt(
            receipt_id=str(uuid7()),
            learn_session_id=self.session_id,
            proposal_id=self.proposal_id,
            ability_id=named,
            event_kind=kind,
            reason=clipped(reason, 240) if reason is not None else None,
            correlation_id=self.correlation_id,
            created_at=self.at,
        )
        return self.add(RECEIPTS, receipt, ability_id)
