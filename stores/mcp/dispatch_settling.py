"""How a call ends: its final row, its receipts, and what its ability's health learns, in one transaction."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID, uuid5

from sqlalchemy import Connection, select

from contracts.base import clipped
from contracts.capabilities.outcome import CapabilityOutcome, OutcomeKind
from contracts.errors import ErrorCode, Refusal
from contracts.learning.tool_receipt import ToolCallReceipt, ToolEffect, ToolOutcome
from contracts.mcp.auth_profile import MCPAuthProfile
from contracts.mcp.dispatch import DispatchStatus
from contracts.mcp.dispatch_record import DispatchRecord
from contracts.mcp.dispatch_work import EndOrder
from domain.mcp.use_receipts import identity_of
from stores.capability_health_effects import apply_outcome
from stores.journal import JournalDraft, append
from stores.mcp.dispatch_entries import end_entries
from stores.mcp.dispatch_rows import KeptDispatch, change_dispatch
from stores.mcp.server_rows import profile_of
from stores.tables import capabilities

_OUTCOMES = UUID("2c0f6d1e-6f3f-4d6e-9b0a-6d7f2f6a9c41")
"""The namespace of the ids of the outcomes that calls report of their ability's capability."""

_TRIED = frozenset({DispatchStatus.COMPLETED, DispatchStatus.FAILED, DispatchStatus.OUTCOME_UNKNOWN})

_THE_SERVERS_OWN = frozenset({ErrorCode.MCP_RATE_LIMITED.value, ErrorCode.MCP_SERVER_UNREACHABLE.value})
"""Ends in which nothing was executed, for reasons of the server: its own health tells the capabilities that need it,
and patience that it asks for quarantines nothing (DOC3 §9.18)."""


def settle(
    connection: Connection,
    kept: KeptDispatch,
    ended: DispatchRecord,
    now: datetime,
    entries: Sequence[JournalDraft] = (),
    *,
    given_up: EndOrder | None = None,
) -> KeptDispatch:
    """Writes how a call ended; ``entries`` are told together with it.

    A call that was ``given_up`` says nothing about how its ability is doing: its health learns nothing of it.

    Raises:
        Refusal: ``CONFLICT`` when somebody else was first.
    """
    final = ended.model_copy(
        update={"updated_at": now, "completed_at": now, "held_since": None, "waits_until": None}
    )
    profile = _profile(connection, final)
    if final.attempts > 0:
        kind, ref = identity_of(final, profile)
        final = final.model_copy(update={"identity_asserted_kind": kind, "identity_asserted_ref": ref})
    receipt_id, told = end_entries(final, now, profile, given_up)
    settled = change_dispatch(connection, kept, final.model_copy(update={"receipt_id": receipt_id}))
    learned = _outcome(connection, final, now) if given_up is None else ()
    append(connection, [*entries, *told, *learned])
    return settled


def failed_record(
    record: DispatchRecord, status: DispatchStatus, code: ErrorCode, message: str, next_action: str | None
) -> DispatchRecord:
    """The record with its end and what to do about it."""
    return record.model_copy(
        update={
            "status": status,
            "error_code": code.value,
            "error_message": clipped(message, 1_000),
            "next_action": next_action,
        }
    )


def tool_call_receipt(record: DispatchRecord) -> ToolCallReceipt | None:
    """What a watching session may see of a call; ``None`` where none watches or the call has not ended."""
    if record.order.learn_session_id is None or record.completed_at is None:
        return None
    return ToolCallReceipt(
        receipt_id=record.dispatch_id,
        server_id=clipped(record.order.server_id, 80),
        tool_name=record.order.tool_name,
        effect=record.effect or ToolEffect.UPDATE,
        outcome=_seen(record),
        argument_names=record.order.argument_names,
        finished_at=record.completed_at,
    )


def _seen(record: DispatchRecord) -> ToolOutcome:
    match record.status:
        case DispatchStatus.COMPLETED if not record.is_error:
            return ToolOutcome.OK
        case (
            DispatchStatus.BLOCKED | DispatchStatus.DENIED | DispatchStatus.EXPIRED | DispatchStatus.CANCELLED
        ):
            return ToolOutcome.BLOCKED
        case _:
            return ToolOutcome.FAILED


def _profile(connection: Connection, record: DispatchRecord) -> MCPAuthProfile | None:
    if record.auth_profile_id is None:
        return None
    try:
        return profile_of(connection, record.auth_profile_id, record.owner)
    except Refusal:
        return None


def _outcome(connection: Connection, record: DispatchRecord, now: datetime) -> tuple[JournalDraft, ...]:
    """What the health of the ability's capability learns; nothing where nothing was tried."""
    ability_id = record.order.ability_id
    if ability_id is None or record.status not in _TRIED or record.error_code in _THE_SERVERS_OWN:
        return ()
    query = select(capabilities.c.capability_id).where(capabilities.c.ability_id == ability_id)
    capability_id = connection.scalar(query)
    if capability_id is None:
        return ()
    success = record.status is DispatchStatus.COMPLETED and not record.is_error
    outcome = CapabilityOutcome(
        outcome_id=str(uuid5(_OUTCOMES, record.dispatch_id)),
        capability_id=capability_id,
        kind=OutcomeKind.USE,
        success=success,
        failure_fingerprint=None if success else _fingerprint(record),
        summary=clipped(f"{record.order.tool_name} at {record.order.server_id}: {record.status.value}", 500),
        reported_by=record.owner,
        happened_at=now,
    )
    return apply_outcome(connection, outcome, record.order.correlation_id)


def _fingerprint(record: DispatchRecord) -> str:
    return clipped(
        f"{record.order.server_id}/{record.order.tool_name}:{record.error_code or 'is_error'}", 160
    )
