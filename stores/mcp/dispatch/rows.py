"""The rows of tool calls: read, lock, compare-and-set; their journal entries: receipts and capability use."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select
from uuid_utils import uuid7

from contracts.abilities.capability_health import CapabilityEventName
from contracts.base import clipped, rfc3339
from contracts.mcp.auth import MCPAuthProfile
from contracts.mcp.dispatch import (
    OPEN_DISPATCH_STATUSES,
    AskFirstStatus,
    DispatchStatus,
    MCPAskFirstDispatchRecord,
)
from contracts.mcp.dispatch_work import AskFirstAnswer, DispatchRecord, DispatchStanding, EndOrder
from contracts.mcp.receipts import MCPReceiptKind, MCPReceiptStatus
from contracts.workflow_ids import mcp_dispatch_id
from domain.mcp.use_receipts import use_receipt, use_trace
from stores.mcp.mcp_tables import DISPATCHES, mcp_servers
from stores.mcp.mcp_tables import mcp_dispatches as table
from stores.mcp.receipts import ReceiptContext, receipt
from stores.platform.journal.journal import TRACES, JournalDraft, JournalEntries

OPEN_STATUSES = tuple(status.value for status in OPEN_DISPATCH_STATUSES)


@dataclass(frozen=True)
class StoredDispatch:
    """A call and the version of its row."""

    record: DispatchRecord
    version: int

    def standing(self, *, notify: bool = False) -> DispatchStanding:
        """The call's state for its workflow."""
        record = self.record
        waits = record.status is DispatchStatus.PENDING_APPROVAL and record.ask_first is not None
        return DispatchStanding(
            dispatch_id=record.dispatch_id,
            status=record.status,
            version=self.version,
            attempts=record.attempts,
            timeout_ms=record.order.timeout_ms,
            auth_profile_id=record.auth_profile_id,
            expires_at=record.ask_first.expires_at if waits and record.ask_first is not None else None,
            waits_until=record.waits_until,
            answer=_answer(record.ask_first),
            notify=notify and waits,
            watched=record.order.learn_session_id is not None,
            error_code=record.error_code,
            since=record.updated_at,
        )


def _answer(asked: MCPAskFirstDispatchRecord | None) -> AskFirstAnswer | None:
    if asked is None or asked.status is AskFirstStatus.PENDING:
        return None
    return AskFirstAnswer(status=asked.status, by=asked.approved_by, at=asked.decided_at or asked.updated_at)


def read_dispatch(
    connection: Connection, dispatch_id: str, owner: str | None = None, *, lock: bool = False
) -> StoredDispatch:
    """A call; with ``owner``, only that owner's. ``lock`` keeps its row locked until the transaction ends.

    Raises:
        Refusal: ``MCP_DISPATCH_NOT_FOUND``.
    """
    found = find_dispatch(connection, dispatch_id, lock=lock)
    if found is None or (owner is not None and found.record.owner != owner):
        raise DISPATCHES.not_found()
    return found


def find_dispatch(connection: Connection, dispatch_id: str, *, lock: bool = False) -> StoredDispatch | None:
    """A call, if there is one; ``lock`` as in ``read_dispatch``."""
    found = DISPATCHES.find_with_version(connection, dispatch_id, lock=lock)
    return StoredDispatch(*found) if found is not None else None


def add_dispatch(connection: Connection, record: DispatchRecord) -> StoredDispatch:
    """Inserts the row of a new call; where there is one already, that one counts."""
    if DISPATCHES.add_if_absent(connection, record, version=1):
        return StoredDispatch(record, 1)
    return read_dispatch(connection, record.dispatch_id, lock=True)


def change_dispatch(connection: Connection, kept: StoredDispatch, changed: DispatchRecord) -> StoredDispatch:
    """Updates a call unless its version has changed (compare-and-set).

    Raises:
        Refusal: ``CONFLICT``.
    """
    return StoredDispatch(changed, DISPATCHES.compare_and_set(connection, changed, kept.version))


def open_count(connection: Connection, owner: str) -> int:
    """How many calls of a user run or wait."""
    return DISPATCHES.count(connection, table.c.owner == owner, table.c.status.in_(OPEN_STATUSES))


def waiting_ids(
    connection: Connection,
    owner: str,
    *,
    server_id: str,
    tool_name: str,
    now: datetime,
    limit: int,
) -> tuple[str, ...]:
    """The owner's pending calls of a tool whose approval has not expired, the oldest first."""
    query = select(table.c.dispatch_id).where(
        table.c.owner == owner,
        table.c.status == DispatchStatus.PENDING_APPROVAL.value,
        table.c.expires_at > rfc3339(now),
        table.c.server_id == server_id,
        table.c.tool_name == tool_name,
    )
    return tuple(connection.scalars(query.order_by(table.c.created_at, table.c.dispatch_id).limit(limit)))


def paused_records(connection: Connection, server_id: str) -> tuple[DispatchRecord, ...]:
    """The running calls of a server that wait before their next attempt, the oldest first."""
    # A server is called by its owner alone, whose calls have an index.
    owner = select(mcp_servers.c.owner).where(mcp_servers.c.server_id == server_id).scalar_subquery()
    running = DISPATCHES.all(
        connection,
        table.c.owner == owner,
        table.c.status == DispatchStatus.RUNNING.value,
        table.c.server_id == server_id,
        order_by=(table.c.created_at, table.c.dispatch_id),
    )
    return tuple(record for record in running if record.waits_until is not None)


def open_ids_of_ability(connection: Connection, ability_id: str, until: str | None = None) -> tuple[str, ...]:
    """The open calls of an ability, of every owner, created until then."""
    query = select(table.c.dispatch_id).where(
        table.c.ability_id == ability_id, table.c.status.in_(OPEN_STATUSES)
    )
    if until is not None:
        query = query.where(table.c.created_at <= until)
    return tuple(connection.scalars(query.order_by(table.c.dispatch_id)))


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


def receipt_context(record: DispatchRecord, at: datetime, actor: str | None = None) -> ReceiptContext:
    """The context of a call's receipts, which form one chain of the journal."""
    order = record.order
    return ReceiptContext(
        aggregate=mcp_dispatch_id(order.dispatch_id),
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
        receipt_context(record, at, actor),
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
    *,
    traced: bool = True,
) -> tuple[str, list[JournalDraft]]:
    """The journal entries of an ended call: its receipt, whose id comes first, the receipt of the use and its trace.

    ``given_up`` has the actor and the reason of a cancelled call; ``traced`` is whether its capability keeps traces.
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
    trace_id = str(uuid7()) if traced and record.attempts > 0 else None
    use = use_receipt(record, str(uuid7()), profile, trace_id)
    trace = use_trace(record, use)
    order = record.order
    used = JournalEntries(
        mcp_dispatch_id(order.dispatch_id),
        record.owner,
        order.correlation_id,
        at,
        ability_id=order.ability_id,
    )
    used.add(USES, use)
    if trace is not None:
        used.add(TRACES, trace)
    used.capability_event(
        CapabilityEventName.MCP_RECEIPT_CREATED,
        capability_id=use.capability_id,
        ability_id=order.ability_id,
        server_id=order.server_id,
        receipt_id=receipt_id,
    )
    return receipt_id, [dispatch, *used.drafts]


def _named(record: DispatchRecord) -> str:
    return f"{record.order.tool_name} at {record.order.server_id}"
