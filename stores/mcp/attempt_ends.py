"""What follows from an attempt of a call, written in the caller's transaction: its end, or another attempt."""

import random
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection

from contracts.base import clipped
from contracts.mcp.dispatch_record import DispatchRecord
from contracts.mcp.dispatch_work import CallEnd, EndOrder
from contracts.mcp.health import MCPConnectionOutcome
from domain.mcp.call_holding import pause_before
from domain.mcp.call_outcomes import Again, Ended
from stores.journal import JournalDraft, append
from stores.mcp.dispatch_rows import KeptDispatch, change_dispatch
from stores.mcp.dispatch_settling import failed_record, settle
from stores.mcp.health import TakenIn, take_in_outcome
from stores.mcp.tool_rows import tool_of


def declared_idempotent(connection: Connection, record: DispatchRecord) -> bool:
    """Whether a person said of the tool, as it was judged, that it may be repeated."""
    tool = tool_of(connection, record.order.server_id, record.order.tool_name)
    return tool is not None and tool.declared_idempotent and tool.definition_hash == record.definition_hash


def jitter() -> float:
    """The random share of a pause, from 0 to 1."""
    # It spreads retries; nothing secret hangs on it.
    return random.random()  # noqa: S311


def contact_taken_in(
    connection: Connection, record: DispatchRecord, contact: MCPConnectionOutcome
) -> TakenIn:
    """Takes a contact into the server's health; its ``entries`` are for the caller to append."""
    return take_in_outcome(
        connection,
        record.order.server_id,
        record.owner,
        contact,
        correlation_id=record.order.correlation_id,
    )


def follow_up(
    connection: Connection,
    kept: KeptDispatch,
    follows: Ended | Again,
    message: str,
    now: datetime,
    entries: Sequence[JournalDraft],
    *,
    given_up: EndOrder | None = None,
) -> CallEnd:
    """Ends the call, or notes when it is tried again; ``entries`` are told together with it."""
    if isinstance(follows, Ended):
        ended = failed_record(kept.record, follows.status, follows.code, message, follows.next_action)
        settled = settle(connection, kept, ended, now, entries, given_up=given_up)
        return CallEnd(standing=settled.standing())
    append(connection, entries)
    after_ms = pause_before(follows, kept.record.dispatch_id)
    seconds = max(1, round(after_ms / 1_000))
    waiting = kept.record.model_copy(
        update={
            "error_message": clipped(message, 1_000),
            "next_action": f"Tried again in {seconds} s, by itself.",
            "held_since": None,
            "waits_until": now + timedelta(milliseconds=after_ms),
            "updated_at": now,
        }
    )
    changed = change_dispatch(connection, kept, waiting)
    return CallEnd(standing=changed.standing(), again_after_ms=after_ms, why=clipped(message, 500))
