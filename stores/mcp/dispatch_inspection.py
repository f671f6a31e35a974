"""What became of an attempt that was not heard of again: whether it may be repeated, or how the call ended."""

from sqlalchemy import Connection

from contracts.mcp.dispatch import DispatchStatus
from contracts.mcp.dispatch_work import CallEnd, InspectOrder
from contracts.mcp.tool_call import ToolFailure, ToolFailureKind
from domain.mcp.call_outcomes import MOST_ATTEMPTS, after_failure, after_silence
from stores.database import Database
from stores.mcp.attempt_ends import declared_idempotent, follow_up, jitter
from stores.mcp.attempt_rows import CLOSED, add_attempt, lose_attempt, stage_of, unheard_attempt
from stores.mcp.dispatch_decisions import DispatchDecisions, why_given_up
from stores.mcp.dispatch_opening import DispatchOpening
from stores.mcp.dispatch_rows import KeptDispatch, change_dispatch, hold_dispatch

_SENT = "after it had been sent; nobody knows what the tool did."
_LOST = "The worker was lost after it had sent the call; nobody knows what the tool did."


class DispatchInspection:
    """Closes attempts that were not heard of. Safe to share between threads, and to repeat."""

    def __init__(self, database: Database, opening: DispatchOpening, decisions: DispatchDecisions) -> None:
        self._database = database
        self._opening = opening
        self._decisions = decisions

    def inspect(self, order: InspectOrder) -> CallEnd:
        """Finds out, and sees to it that nobody makes the attempt any more."""
        with self._database.write() as connection:
            kept = hold_dispatch(connection, order.dispatch_id)
            if kept.record.status is not DispatchStatus.RUNNING:
                return CallEnd(standing=self._opening.standing(kept))
            unheard = unheard_attempt(connection, order.dispatch_id)
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
        self, connection: Connection, kept: KeptDispatch, order: InspectOrder, attempt: int
    ) -> KeptDispatch:
        if stage_of(connection, order.dispatch_id, attempt) is not None:
            return kept
        add_attempt(connection, order.dispatch_id, attempt, CLOSED, order.at)
        counted = kept.record.model_copy(update={"attempts": attempt, "updated_at": order.at})
        return change_dispatch(connection, kept, counted)

    def _unheard(
        self, connection: Connection, kept: KeptDispatch, order: InspectOrder, attempt: int
    ) -> CallEnd:
        lose_attempt(connection, order.dispatch_id, attempt, order.at)
        given_up = order.cancelled
        idempotent = given_up is None and declared_idempotent(connection, kept.record)
        follows = after_silence(attempt, jitter(), idempotent=idempotent)
        message = _LOST if given_up is None else f"{why_given_up(given_up)}, {_SENT}"
        return follow_up(connection, kept, follows, message, order.at, [], given_up=given_up)
