"""Answers that came too late: whoever audits a call sees everybody who answered, not only who won."""

from datetime import datetime

from contracts.errors import Refusal
from contracts.mcp.dispatch import AskFirstDecision
from contracts.mcp.receipts import MCPReceiptKind, MCPReceiptStatus
from stores.database import Database
from stores.journal import append
from stores.mcp.dispatch_entries import told_of
from stores.mcp.dispatch_rows import read_dispatch
from stores.mcp.receipts import receipt


def note_late(
    database: Database,
    dispatch_id: str,
    decision: AskFirstDecision,
    by: str,
    refusal: Refusal,
    at: datetime,
) -> None:
    """Puts on record what ``by`` answered, and why it did not count; nothing where there is no such call."""
    with database.write() as connection:
        kept = read_dispatch(connection, dispatch_id)
        if kept is None:
            return
        wanted = decision.value.replace("_", " ")
        _, entry = receipt(
            told_of(kept.record, at, by),
            MCPReceiptKind.ASK_FIRST_LATE,
            MCPReceiptStatus.BLOCKED,
            f"Came too late: {by} answered {wanted!r}. {refusal.message}",
            server_id=kept.record.order.server_id,
            dispatch_id=dispatch_id,
        )
        append(connection, [entry])
