"""The journal entries of a verified checkpoint: its receipt, the live event, what is handed over."""

from typing import Any

from pydantic import BaseModel
from uuid_utils import uuid7

from contracts.base import rfc3339
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.checkpoint import (
    CheckpointStatus,
    CheckpointVerificationReceipt,
    FrictionEvent,
    RepairCandidate,
)
from contracts.learning.lifecycle import LearnSessionEvent
from domain.abilities.checkpoint_health import failure_fingerprint
from stores.journal import JournalDraft
from stores.session_entries import LIFECYCLE
from stores.session_reads import CHECKPOINT_RECEIPTS

FRICTION_EVENTS = "system/learning/friction_events"
REPAIR_CANDIDATES = "system/learning/repair_candidates"


def dispatch_aggregate(dispatch_id: str) -> str:
    """The chain that a dispatch's receipts belong to."""
    return f"mcp-dispatch/{dispatch_id}"


def aggregate_of(receipt: CheckpointVerificationReceipt) -> str:
    """The chain that a receipt belongs to: the dispatch's, else the session's, else the ability's."""
    if receipt.dispatch_id is not None:
        return dispatch_aggregate(receipt.dispatch_id)
    if receipt.learn_session_id is not None:
        return f"learn-session/{receipt.learn_session_id}"
    return f"ability/{receipt.ability_id}"


def entries_of(
    receipt: CheckpointVerificationReceipt,
    reporter: str,
    correlation_id: str,
    session: LearnSessionAggregate | None,
) -> tuple[JournalDraft, ...]:
    """The receipt; the session's live event; a friction event or a repair candidate where there is cause."""

    def draft(stream: str, aggregate: str, document: BaseModel) -> JournalDraft:
        return JournalDraft(
            stream=stream,
            aggregate=aggregate,
            owner=reporter,
            correlation_id=correlation_id,
            created_at=rfc3339(receipt.created_at),
            document=document.model_dump(mode="json", exclude_none=True),
            session_id=receipt.learn_session_id,
            proposal_id=session.session.proposal_id if session is not None else None,
            ability_id=receipt.ability_id,
        )

    aggregate = aggregate_of(receipt)
    drafts = [draft(CHECKPOINT_RECEIPTS, aggregate, receipt)]
    if session is not None:
        chain = f"learn-session/{session.session.learn_session_id}"
        drafts.append(draft(LIFECYCLE, chain, _event(receipt, session)))
    if receipt.status is CheckpointStatus.SKIPPED:
        friction = FrictionEvent(friction_event_id=str(uuid7()), **_shared(receipt))
        drafts.append(draft(FRICTION_EVENTS, aggregate, friction))
    if receipt.status is CheckpointStatus.FAILED:
        candidate = RepairCandidate(
            repair_candidate_id=str(uuid7()),
            failure_fingerprint=failure_fingerprint(receipt.checkpoint_id),
            **_shared(receipt),
        )
        drafts.append(draft(REPAIR_CANDIDATES, aggregate, candidate))
    return tuple(drafts)


def _shared(receipt: CheckpointVerificationReceipt) -> dict[str, Any]:
    return receipt.model_dump(exclude={"status", "schema_version"})


def _event(receipt: CheckpointVerificationReceipt, session: LearnSessionAggregate) -> LearnSessionEvent:
    """``checkpoint.reached``, ``.skipped`` or ``.failed`` (DOC3 L1632); the session's state stays what it is."""
    payload = receipt.model_dump(
        mode="json",
        exclude_none=True,
        include={"receipt_id", "checkpoint_id", "evidence", "reason", "dispatch_id", "ability_id"},
    )
    return LearnSessionEvent(
        event_kind=f"checkpoint.{receipt.status.value}",
        session_id=session.session.learn_session_id,
        payload=payload,
        timestamp=receipt.created_at,
    )
