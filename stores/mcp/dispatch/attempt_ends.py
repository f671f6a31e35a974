"""What follows from an attempt of a call, written in the caller's transaction: its end, or another attempt.

What became of an attempt that was not heard of again: whether it may be repeated, or how the call ended.
"""

import random
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection

from contracts.base import clipped
from contracts.errors import ErrorCode
from contracts.learning.observation import ToolEffect
from contracts.mcp.dispatch import DispatchStatus
from contracts.mcp.dispatch_work import CallEnd, DispatchRecord, EndOrder, InspectOrder
from contracts.mcp.health import MCPConnectionOutcome
from contracts.mcp.tools import ToolFailure, ToolFailureKind
from domain.mcp.approvals import look_at_change
from domain.mcp.call_outcomes import (
    MOST_ATTEMPTS,
    UNKNOWN,
    Again,
    Ended,
    after_failure,
    after_silence,
    pause_before,
)
from stores.mcp.dispatch.attempt_rows import (
    CLOSED,
    abandon_attempt,
    add_attempt,
    stage_of,
    unanswered_attempt,
)
from stores.mcp.dispatch.decisions import DispatchDecisions, why_given_up
from stores.mcp.dispatch.opening import DispatchOpening
from stores.mcp.dispatch.rows import StoredDispatch, change_dispatch, read_dispatch
from stores.mcp.dispatch.settling import failed_record, settle
from stores.mcp.servers.health import RecordedContact, record_outcome
from stores.mcp.servers.tool_discovery import tool_of
from stores.platform.database import Database
from stores.platform.journal.journal import JournalDraft, append


def declared_idempotent(connection: Connection, record: DispatchRecord) -> bool:
    """Whether a person declared the tool, with this definition, idempotent."""
    tool = tool_of(connection, record.order.server_id, record.order.tool_name)
    return tool is not None and tool.declared_idempotent and tool.definition_hash == record.definition_hash


def jitter() -> float:
    """The random share of a pause, from 0 to 1."""
    # It spreads retries; nothing secret hangs on it.
    return random.random()  # noqa: S311


def record_contact(
    connection: Connection, record: DispatchRecord, contact: MCPConnectionOutcome
) -> RecordedContact:
    """Takes a contact into the server's health; its ``entries`` are for the caller to append."""
    return record_outcome(
        connection,
        record.order.server_id,
        record.owner,
        contact,
        correlation_id=record.order.correlation_id,
    )


def follow_up(
    connection: Connection,
    kept: StoredDispatch,
    follows: Ended | Again,
    message: str,
    now: datetime,
    entries: Sequence[JournalDraft],
    *,
    given_up: EndOrder | None = None,
) -> CallEnd:
    """Ends the call, or records its next attempt; ``entries`` are appended to the journal with it."""
    if isinstance(follows, Ended):
        hint = follows.next_action
        if follows is UNKNOWN and kept.record.effect is ToolEffect.READ:
            hint = "The tool only reads, so the call may be made again."
        elif follows.code is ErrorCode.MCP_TOOL_CHANGED:
            hint = look_at_change(kept.record.order.server_id, kept.record.order.tool_name)
        ended = failed_record(kept.record, follows.status, follows.code, message, hint)
        settled = settle(connection, kept, ended, now, entries, given_up=given_up)
        return CallEnd(standing=settled.standing())
    append(connection, entries)
    after_ms = pause_before(follows, kept.record.dispatch_id)
    seconds = max(1, round(after_ms / 1_000))
    waiting = kept.record.changed(
        error_message=clipped(message, 1_000),
        next_action=f"Tried again in {seconds} s, by itself.",
        held_since=None,
        waits_until=now + timedelta(milliseconds=after_ms),
        updated_at=now,
    )
    changed = change_dispatch(connection, kept, waiting)
    return CallEnd(standing=changed.standing(), again_after_ms=after_ms, why=clipped(message, 500))


_SENT = "after it had been sent; nobody knows what the tool did."
_LOST = "The worker was lost after it had sent the call; nobody knows what the tool did."


class DispatchInspection:
    """Closes attempts that were not heard of. Safe to share between threads, and to repeat."""

    def __init__(self, database: Database, opening: DispatchOpening, decisions: DispatchDecisions) -> None:
        self._database = database
        self._opening = opening
        self._decisions = decisions

    def inspect(self, order: InspectOrder) -> CallEnd:
        """Determines the outcome of an attempt and closes it, so that it is never sent again."""
        with self._database.write() as connection:
            kept = read_dispatch(connection, order.dispatch_id, lock=True)
            if kept.record.status is not DispatchStatus.RUNNING:
                return CallEnd(standing=self._opening.standing(kept))
            unheard = unanswered_attempt(connection, order.dispatch_id)
            if unheard is not None:
                return self._unheard(connection, kept, order, unheard)
            newest = max(order.attempt, kept.record.attempts)
            kept = self._closed(connection, kept, order, newest)
            if order.cancelled is not None:
                given_up = self._decisions.give_up(connection, kept, order.cancelled, order.at)
                return CallEnd(standing=given_up.standing())
            if newest >= MOST_ATTEMPTS:
                lost = ToolFailure(
                    kind=ToolFailureKind.NOT_SENT, message="No worker lived long enough to make the call."
                )
                follows = after_failure(lost, newest, 0.0, idempotent=False)
                return follow_up(connection, kept, follows, lost.message, order.at, [])
            return CallEnd(standing=kept.standing(), again_after_ms=0, why="nothing had been sent")

    def _closed(
        self, connection: Connection, kept: StoredDispatch, order: InspectOrder, attempt: int
    ) -> StoredDispatch:
        if stage_of(connection, order.dispatch_id, attempt) is not None:
            return kept
        add_attempt(connection, order.dispatch_id, attempt, CLOSED, order.at)
        counted = kept.record.changed(attempts=attempt, updated_at=order.at)
        return change_dispatch(connection, kept, counted)

    def _unheard(
        self, connection: Connection, kept: StoredDispatch, order: InspectOrder, attempt: int
    ) -> CallEnd:
        abandon_attempt(connection, order.dispatch_id, attempt, order.at)
        given_up = order.cancelled
        idempotent = given_up is None and declared_idempotent(connection, kept.record)
        follows = after_silence(attempt, jitter(), idempotent=idempotent)
        message = _LOST if given_up is None else f"{why_given_up(given_up)}, {_SENT}"
        return follow_up(connection, kept, follows, message, order.at, [], given_up=given_up)
