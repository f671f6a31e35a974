"""Receipts of the tool gateway: one stream of the journal, written in the transaction they record."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid5

from sqlalchemy import select
from uuid_utils import uuid7

from contracts.abilities.capability_health import IdentityKind
from contracts.base import clipped
from contracts.mcp.receipts import MCPReceiptKind, MCPReceiptListResponse, MCPReceiptStatus, MCPReceiptSummary
from stores.platform.database import Database
from stores.platform.journal.journal import JournalDraft, JournalEntries
from stores.platform.tables import journal

RECEIPTS = "system/mcp/receipts"

_CORRELATIONS = UUID("2f7e1b1c-9a35-4b8e-8f0d-6c4a5d3e2b10")
# Clients choose their correlation ids, and need not choose UUIDs.


@dataclass(frozen=True)
class ReceiptContext:
    """A receipt's aggregate (``mcp-server/{id}``, ``mcp-dispatch/{id}`` …), owner, correlation id, time and actor."""

    aggregate: str
    owner: str
    correlation_id: str
    at: datetime
    actor: str | None = None


def correlation_uuid(correlation_id: str) -> str:
    """A correlation id as receipts spell it: itself where it is a UUID, else the one UUID that stands for it."""
    try:
        return str(UUID(correlation_id))
    except ValueError:
        return str(uuid5(_CORRELATIONS, correlation_id))


def receipt(
    context: ReceiptContext,
    kind: MCPReceiptKind,
    status: MCPReceiptStatus,
    summary: str,
    *,
    server_id: str | None = None,
    dispatch_id: str | None = None,
    auth_profile_id: str | None = None,
    identity: tuple[IdentityKind | None, str | None] = (None, None),
) -> tuple[str, JournalDraft]:
    """A receipt's id and its entry. ``summary`` holds no value of an argument, an answer or a secret."""
    found = MCPReceiptSummary(
        receipt_id=str(uuid7()),
        server_id=server_id,
        receipt_kind=kind,
        status=status,
        created_at=context.at,
        summary=clipped(summary, 500),
        correlation_id=correlation_uuid(context.correlation_id),
        dispatch_id=dispatch_id,
        auth_profile_id=auth_profile_id,
        actor=context.actor,
        identity_asserted_kind=identity[0],
        identity_asserted_ref=identity[1],
    )
    entries = JournalEntries(context.aggregate, context.owner, context.correlation_id, context.at)
    return found.receipt_id, entries.draft(RECEIPTS, found)


class ReceiptReads:
    """The receipts of each owner."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def newest(self, owner: str, limit: int, before: int | None = None) -> MCPReceiptListResponse:
        """Up to ``limit`` receipts, newest first, older than the journal's entry ``before``."""
        query = (
            select(journal.c.seq, journal.c.document)
            .where(journal.c.owner == owner, journal.c.stream == RECEIPTS)
            .order_by(journal.c.seq.desc())
            .limit(limit + 1)
        )
        if before is not None:
            query = query.where(journal.c.seq < before)
        with self._database.read() as connection:
            rows = connection.execute(query).all()
        more = str(rows[limit - 1].seq) if len(rows) > limit else None
        return MCPReceiptListResponse(
            receipts=tuple(MCPReceiptSummary.model_validate_json(row.document) for row in rows[:limit]),
            next_cursor=more,
        )
