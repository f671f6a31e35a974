"""What the journal is told of a tool call: its receipts, and the use of the capability it belongs to."""

from datetime import datetime

from uuid_utils import uuid7

from contracts.base import clipped, rfc3339
from contracts.mcp.auth_profile import MCPAuthProfile
from contracts.mcp.dispatch import DispatchStatus
from contracts.mcp.dispatch_record import DispatchRecord
from contracts.mcp.dispatch_work import EndOrder
from contracts.mcp.receipts import MCPReceiptKind, MCPReceiptStatus
from domain.mcp.use_receipts import use_receipt
from stores.journal import JournalDraft
from stores.mcp.receipts import Told, receipt

USES = "system/capabilities/use_receipts"

_STATUS = {
    DispatchStatus.RUNNING: MCPReceiptStatus.OK,
    DispatchStatus.PENDING_APPROVAL: MCPReceiptStatus.OK,
    DispatchStatus.COMPLETED: MCPReceiptStatus.OK,
    DispatchStatus.BLOCKED: MCPReceiptStatus.BLOCKED,
    DispatchStatus.DENIED: MCPReceiptStatus.BLOCKED,
    DispatchStatus.EXPIRED: MCPReceiptStatus.BLOCKED,
    DispatchStatus.CANCELLED: MCPReceiptStatus.BLOCKED,
    DispatchStatus.AUTH_REQUIRED: MCPReceiptStatus.DEGRADED,
    DispatchStatus.FAILED: MCPReceiptStatus.FAILED,
    DispatchStatus.OUTCOME_UNKNOWN: MCPReceiptStatus.FAILED,
}


def told_of(record: DispatchRecord, at: datetime, actor: str | None = None) -> Told:
    """Whose receipts they are: those of one call are one chain of the journal."""
    order = record.order
    return Told(
        aggregate=f"mcp-dispatch/{order.dispatch_id}",
        owner=record.owner,
        correlation_id=order.correlation_id,
        at=at,
        actor=actor,
    )


def dispatch_receipt(
    record: DispatchRecord,
    kind: MCPReceiptKind,
    summary: str,
    at: datetime,
    *,
    actor: str | None = None,
) -> tuple[str, JournalDraft]:
    """A receipt about a call as it now stands: its id, and its entry."""
    return receipt(
        told_of(record, at, actor),
        kind,
        _STATUS[record.status],
        summary,
        server_id=record.order.server_id,
        dispatch_id=record.dispatch_id,
        auth_profile_id=record.auth_profile_id,
        identity=(record.identity_asserted_kind, record.identity_asserted_ref),
    )


def end_entries(
    record: DispatchRecord,
    at: datetime,
    profile: MCPAuthProfile | None,
    given_up: EndOrder | None = None,
) -> tuple[str, list[JournalDraft]]:
    """What is told when a call has ended: its receipt, whose id comes first, and the receipt of the use.

    ``given_up`` says who gave the call up, and why.
    """
    summary = f"{_named(record)}: {record.status.value.replace('_', ' ')}"
    if record.error_code is not None:
        summary += f" ({record.error_code})"
    elif record.is_error:
        summary += " (the tool reported an error)"
    if record.attempts > 1:
        summary += f", after {record.attempts} attempts"
    if given_up is not None and given_up.reason is not None:
        summary = clipped(f"{summary}; given up: {given_up.reason}", 500)
    actor = given_up.by if given_up is not None else None
    receipt_id, dispatch = dispatch_receipt(record, MCPReceiptKind.DISPATCH, summary, at, actor=actor)
    use = use_receipt(record, str(uuid7()), profile)
    order = record.order
    used = JournalDraft(
        stream=USES,
        aggregate=f"mcp-dispatch/{order.dispatch_id}",
        owner=record.owner,
        ability_id=order.ability_id,
        correlation_id=order.correlation_id,
        created_at=rfc3339(at),
        document=use.model_dump(mode="json", exclude_none=True),
    )
    return receipt_id, [dispatch, used]


def _named(record: DispatchRecord) -> str:
    return f"{record.order.tool_name} at {record.order.server_id}"
