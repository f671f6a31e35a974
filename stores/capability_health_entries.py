"""The journal entries of a capability's life: outcomes, events, canary traces, receipts of what changed."""

from datetime import datetime

from pydantic import BaseModel
from uuid_utils import uuid7

from contracts.base import clipped, rfc3339
from contracts.capabilities.bridge import HealthStatus
from contracts.capabilities.outcome import (
    CapabilityEvent,
    CapabilityEventName,
    CapabilityOutcome,
    OutcomeKind,
)
from contracts.learning.lifecycle import LearningReceipt, LearningReceiptKind
from domain.abilities.health import HealthChange, why
from stores.capability_health_rows import Standing
from stores.journal import JournalDraft
from stores.session_entries import RECEIPTS

OUTCOMES = "system/capabilities/outcomes"
EVENTS = "system/capabilities/events"


class HealthEntries:
    """Collects the entries of one outcome; all belong to the ability's chain."""

    def __init__(self, ability_id: str, owner: str, correlation_id: str, now: datetime) -> None:
        self.drafts: list[JournalDraft] = []
        self._ability_id = ability_id
        self._owner = owner
        self._correlation_id = correlation_id
        self._now = now

    def outcome(self, outcome: CapabilityOutcome) -> None:
        """What was reported."""
        self._add(OUTCOMES, outcome)

    def changed(self, before: Standing, after: HealthChange) -> None:
        """That the health is another, and the receipt of a quarantine."""
        if after.status is before.status:
            return
        self.event(CapabilityEventName.HEALTH_CHANGED, before, after)
        if after.status is HealthStatus.QUARANTINED:
            self.event(CapabilityEventName.QUARANTINED, before, after)
            self.receipt(
                LearningReceiptKind.QUARANTINED, f"Its capability was quarantined: {why(after.record)}"
            )

    def canary(self, outcome: CapabilityOutcome, before: Standing, after: HealthChange) -> None:
        """That a recheck went well."""
        if outcome.kind is OutcomeKind.CANARY and outcome.success:
            self.event(CapabilityEventName.REPROBE_SUCCEEDED, before, after)

    def event(self, name: CapabilityEventName, before: Standing, after: HealthChange) -> None:
        """One event of the capability."""
        event = CapabilityEvent(
            event=name,
            capability_id=before.manifest.capability_id,
            ability_id=self._ability_id,
            health_before=before.status,
            health_status=after.status,
            reason_codes=after.record.reason_codes,
            correlation_id=self._correlation_id,
            created_at=self._now,
        )
        self._add(EVENTS, event)

    def receipt(self, kind: LearningReceiptKind, reason: str) -> None:
        """A learning receipt about the ability (DOC3 §0C.12)."""
        receipt = LearningReceipt(
            receipt_id=str(uuid7()),
            event_kind=kind,
            reason=clipped(reason, 240),
            correlation_id=self._correlation_id,
            created_at=self._now,
        )
        self._add(RECEIPTS, receipt)

    def _add(self, stream: str, document: BaseModel) -> None:
        self.drafts.append(
            JournalDraft(
                stream=stream,
                aggregate=f"ability/{self._ability_id}",
                owner=self._owner,
                correlation_id=self._correlation_id,
                created_at=rfc3339(self._now),
                document=document.model_dump(mode="json", exclude_none=True),
                ability_id=self._ability_id,
            )
        )
