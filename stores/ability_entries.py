"""The journal entries of a command on an ability: events, receipts, activation history (DOC3 §0C.12, §0C.13)."""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel
from uuid_utils import uuid7

from contracts.abilities.life import AbilityOrder, AbilityReceipt
from contracts.abilities.lifecycle_command import AbilityLifecycleAction as Action
from contracts.abilities.lifecycle_command import AbilityLifecycleCommand, AbilityState
from contracts.base import rfc3339
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.lifecycle import LearningLifecycleEvent as Event
from contracts.learning.lifecycle import LearningReceipt, LearnSessionEvent
from contracts.learning.lifecycle import LearningReceiptKind as Receipt
from stores.journal import JournalDraft
from stores.session_entries import LIFECYCLE, RECEIPTS

ACTIVATION_HISTORY = "system/abilities/activation_history"

_OF_ACTION: Mapping[Action, tuple[Event, Receipt]] = MappingProxyType(
    {
        Action.ACTIVATE: (Event.ABILITY_ACTIVATED, Receipt.ACTIVATED),
        Action.DEACTIVATE: (Event.ABILITY_DEACTIVATED, Receipt.DEACTIVATED),
        Action.QUARANTINE: (Event.ABILITY_QUARANTINED, Receipt.QUARANTINED),
        Action.UNQUARANTINE: (Event.ABILITY_UNQUARANTINED, Receipt.UNQUARANTINED),
        Action.PROMOTE_SHARED: (Event.ABILITY_PROMOTED, Receipt.PROMOTED),
        Action.DEMOTE_PRIVATE: (Event.ABILITY_DEMOTED, Receipt.DEMOTED),
        Action.ARCHIVE: (Event.ABILITY_ARCHIVED, Receipt.ARCHIVED),
        Action.ROLLBACK: (Event.ABILITY_ROLLED_BACK, Receipt.ROLLED_BACK),
    }
)


class AbilityEntries:
    """Collects what the journal is to hold of one command."""

    def __init__(
        self,
        order: AbilityOrder,
        owner: str,
        proposal_id: str,
        session: LearnSessionAggregate | None,
        now: datetime,
    ) -> None:
        self._order = order
        self._owner = owner
        self._proposal_id = proposal_id
        self._session = session
        self._now = now
        self.drafts: list[JournalDraft] = []

    def tell(self, receipt: AbilityReceipt, set_aside: tuple[str, ...]) -> None:
        """The command, and what follows from every command: the bridge and the snapshot anew."""
        order = self._order
        event, kind = _OF_ACTION[order.action]
        facts: dict[str, Any] = {
            "install_lane": receipt.install_lane.value,
            "ability_state": receipt.state.value,
            "version": receipt.version,
        }
        if receipt.restored_from is not None:
            facts["restored_from"] = receipt.restored_from
        if set_aside:
            facts["set_aside"] = list(set_aside)
        self._event(event, kind, order.reason, facts)
        self._event(Event.BRIDGE_REBUILD_STARTED)
        self._event(Event.BRIDGE_REBUILD_COMPLETED, Receipt.BRIDGE_REBUILT)
        self._event(Event.ABILITY_SNAPSHOT_UPDATED, Receipt.AVAILABILITY_UPDATED)
        if receipt.state is AbilityState.ACTIVE and order.action in (Action.ACTIVATE, Action.UNQUARANTINE):
            self._event(Event.ABILITY_ROUTE_ENABLED)
        command = AbilityLifecycleCommand(
            ability_id=order.ability_id,
            action=order.action,
            reason=order.reason,
            requested_by=order.requested_by,
            created_at=self._now,
        )
        self._add(ACTIVATION_HISTORY, command)

    def _event(
        self,
        event: Event,
        receipt: Receipt | None = None,
        reason: str | None = None,
        facts: dict[str, Any] | None = None,
    ) -> None:
        session = self._session.session if self._session is not None else None
        if session is not None:
            payload = {"state": session.state.value, "ability_id": self._order.ability_id, **(facts or {})}
            if reason is not None:
                payload["reason"] = reason
            self._add(
                LIFECYCLE,
                LearnSessionEvent(
                    event_kind=event.value,
                    session_id=session.learn_session_id,
                    payload=payload,
                    timestamp=self._now,
                ),
            )
        if receipt is not None:
            self._add(
                RECEIPTS,
                LearningReceipt(
                    receipt_id=str(uuid7()),
                    learn_session_id=session.learn_session_id if session is not None else None,
                    proposal_id=self._proposal_id,
                    ability_id=self._order.ability_id,
                    event_kind=receipt,
                    reason=reason,
                    correlation_id=self._order.correlation_id,
                    created_at=self._now,
                ),
            )

    def _add(self, stream: str, document: BaseModel) -> None:
        self.drafts.append(
            JournalDraft(
                stream=stream,
                aggregate=f"ability/{self._order.ability_id}",
                owner=self._owner,
                correlation_id=self._order.correlation_id,
                created_at=rfc3339(self._now),
                document=document.model_dump(mode="json", exclude_none=True),
                session_id=self._session.session.learn_session_id if self._session is not None else None,
                proposal_id=self._proposal_id,
                ability_id=self._order.ability_id,
            )
        )
