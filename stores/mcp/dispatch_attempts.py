"""The attempts of a call: planned, re-checked and written down right before they are sent, and ended.

Who asks what became of an attempt that never wrote its row closes it for good (``dispatch_inspection``): a worker
that was only slow finds that it may not send any more.
"""

from datetime import datetime

from sqlalchemy import Connection

from contracts.errors import ErrorCode
from contracts.mcp.dispatch import DispatchStatus
from contracts.mcp.dispatch_work import CallEnd, CallOrder
from contracts.mcp.health import MCPConnectionOutcome
from contracts.mcp.tool_call import ToolAnswer, ToolFailure
from domain.mcp.call_outcomes import after_failure
from domain.mcp.dispatch_permits import APPROVED, Ask, Block, Pass
from stores.canonical import canonical_json, digest_of
from stores.database import Database
from stores.mcp.attempt_ends import contact_taken_in, declared_idempotent, follow_up, jitter
from stores.mcp.attempt_rows import (
    ANSWERED,
    FAILED,
    SENDING,
    add_attempt,
    end_attempt,
    kept_answer,
    kept_failure,
    sign_in_refusals,
    stage_of,
    unheard_attempt,
)
from stores.mcp.call_admission import turn_of
from stores.mcp.call_plans import AttemptClosed, CallPlan, PlanOutdated, Stopped, plan_of
from stores.mcp.dispatch_judging import Judged, judged
from stores.mcp.dispatch_opening import DispatchOpening
from stores.mcp.dispatch_rows import KeptDispatch, change_dispatch, hold_dispatch, read_dispatch
from stores.mcp.dispatch_settling import failed_record, settle
from stores.mcp.grants import grant_of_dispatch, use_grant
from stores.mcp.health import is_open


class DispatchAttempts:
    """The attempts of all calls. Safe to share between threads."""

    def __init__(self, database: Database, opening: DispatchOpening) -> None:
        self._database = database
        self._opening = opening

    def plan(self, order: CallOrder, now: datetime, lease: datetime | None = None) -> CallPlan | CallEnd:
        """What would be sent and where; the call as it stands, where it may not be made now.

        ``lease`` is that of an earlier plan for the same order.

        Raises:
            AttemptClosed: this attempt was given up, or made before.
        """
        with self._database.write() as connection:
            kept = hold_dispatch(connection, order.dispatch_id)
            if kept.record.status is not DispatchStatus.RUNNING:
                return CallEnd(standing=kept.standing())
            _refuse_unless_next(connection, order)
            found = judged(connection, kept.record, now)
            stopped = self._stopped(connection, kept, found, now)
            if stopped is not None or found.server is None or found.tool is None:
                return stopped or CallEnd(standing=kept.standing())
            turn = turn_of(connection, kept, now, lease)
            if isinstance(turn, CallEnd):
                return turn
            return plan_of(connection, kept.record, found.server, found.tool, turn.lease)

    def foreseen(self, order: CallOrder, now: datetime) -> CallPlan | None:
        """As ``plan``, where the call may be made and its server is well; nothing is written."""
        with self._database.read() as connection:
            kept = read_dispatch(connection, order.dispatch_id)
            if kept is None or kept.record.status is not DispatchStatus.RUNNING:
                return None
            if _is_closed(connection, order):
                return None
            found = judged(connection, kept.record, now)
            if not isinstance(found.permit, Pass) or found.server is None or found.tool is None:
                return None
            if not is_open(connection, kept.record.order.server_id, now):
                return None
            return plan_of(connection, kept.record, found.server, found.tool, None)

    def begin(self, order: CallOrder, plan: CallPlan, now: datetime) -> None:
        """Looks once more, at the last moment, whether the call may be made, and writes that it is being sent.

        Raises:
            Stopped: it may not; nothing must be sent.
            AttemptClosed: this attempt was given up, or made before.
            PlanOutdated: the server is not the one that the plan was made for.
        """
        with self._database.write() as connection:
            kept = hold_dispatch(connection, order.dispatch_id)
            if kept.record.status is not DispatchStatus.RUNNING:
                stopped = CallEnd(standing=kept.standing())
            else:
                _refuse_unless_next(connection, order)
                # The grant's row is held before it is looked at, so that a revocation is before this or after it.
                grant_of_dispatch(connection, order.dispatch_id, kept.record.owner)
                found = judged(connection, kept.record, now)
                stopped = self._stopped(connection, kept, found, now) or _not_its_turn(
                    connection, kept, plan, now
                )
                if stopped is None:
                    # A call that is held back uses nothing up.
                    found = _granted(connection, kept, found, now)
                    stopped = self._stopped(connection, kept, found, now)
                if stopped is None:
                    if (
                        found.server != plan.server
                        or kept.record.arguments_digest != plan.record.arguments_digest
                    ):
                        raise PlanOutdated
                    _send(connection, kept, order, now)
        if stopped is not None:
            raise Stopped(stopped)

    def answered(self, order: CallOrder, answer: ToolAnswer, now: datetime, *, signed_in: bool) -> CallEnd:
        """The tool has answered: the answer is kept and the call ends."""
        body = canonical_json(answer.model_dump(mode="json", exclude_none=True))
        with self._database.write() as connection:
            kept = hold_dispatch(connection, order.dispatch_id)
            stored = kept_answer(connection, body, now)
            if not _end(connection, order, ANSWERED, now, stored) or not _is_open(kept, order):
                return CallEnd(standing=kept.standing())
            ended = kept.record.model_copy(
                update={
                    "status": DispatchStatus.COMPLETED,
                    "is_error": answer.is_error,
                    "result_digest": digest_of(body),
                    "error_code": None,
                    "error_message": None,
                    "next_action": None,
                }
            )
            contact = MCPConnectionOutcome(
                happened_at=now,
                tool_name=kept.record.order.tool_name,
                tool_error=answer.is_error,
                signed_in=signed_in,
            )
            taken = contact_taken_in(connection, kept.record, contact)
            standing = settle(connection, kept, ended, now, taken.entries).standing()
            return CallEnd(standing=standing, well_again=taken.well_again)

    def failed(self, order: CallOrder, failure: ToolFailure, now: datetime, *, signed_in: bool) -> CallEnd:
        """The attempt gave no answer: the call ends, or is tried again later."""
        with self._database.write() as connection:
            kept = hold_dispatch(connection, order.dispatch_id)
            told = kept_failure(failure)
            if not _end(connection, order, FAILED, now, told) or not _is_open(kept, order):
                return CallEnd(standing=kept.standing())
            kept = _counted(kept, order)
            contact = MCPConnectionOutcome(
                happened_at=now,
                tool_name=kept.record.order.tool_name,
                signed_in=signed_in,
                failure=failure,
            )
            taken = contact_taken_in(connection, kept.record, contact)
            follows = after_failure(
                failure, order.attempt, jitter(), idempotent=declared_idempotent(connection, kept.record)
            )
            end = follow_up(connection, kept, follows, failure.message, now, taken.entries)
            return end.model_copy(update={"well_again": taken.well_again})

    def needs_sign_in(self, order: CallOrder, message: str, now: datetime) -> CallEnd:
        """Nobody can be signed in for the call: it ends, and a person has to see to it."""
        with self._database.write() as connection:
            kept = hold_dispatch(connection, order.dispatch_id)
            if kept.record.status is not DispatchStatus.RUNNING:
                return CallEnd(standing=kept.standing())
            ended = failed_record(
                kept.record,
                DispatchStatus.AUTH_REQUIRED,
                ErrorCode.MCP_AUTH_CHALLENGE_REQUIRED,
                message,
                "Nothing was done. Sign in to the server, then make the call again.",
            )
            return CallEnd(standing=settle(connection, kept, ended, now).standing())

    def renewals(self, dispatch_id: str) -> int:
        """How often this call was refused for its sign-in: after the first time the token is renewed."""
        with self._database.read() as connection:
            return sign_in_refusals(connection, dispatch_id)

    def refused_for_sign_in(self, order: CallOrder, failure: ToolFailure, now: datetime) -> bool:
        """Writes that the server refused the bearer, so that nothing was executed; whether the call still runs."""
        with self._database.write() as connection:
            kept = hold_dispatch(connection, order.dispatch_id)
            told = kept_failure(failure)
            if not _end(connection, order, FAILED, now, told) or not _is_open(kept, order):
                return False
            change_dispatch(connection, kept, _counted(kept, order).record)
            return True

    # ---- parts ----

    def _stopped(
        self, connection: Connection, kept: KeptDispatch, found: Judged, now: datetime
    ) -> CallEnd | None:
        """How the call stands, if it may not be made now; it is written in the caller's transaction."""
        match found.permit:
            case Block():
                return CallEnd(standing=_blocked(connection, kept, found, found.permit, now).standing())
            case Ask():
                asked = self._opening.ask_anew(connection, kept, found, now)
                return CallEnd(standing=self._opening.standing(asked))
            case _:
                return None


def _end(connection: Connection, order: CallOrder, stage: str, now: datetime, told: str) -> bool:
    return end_attempt(connection, order.dispatch_id, order.attempt, stage, now, told)


def _is_open(kept: KeptDispatch, order: CallOrder) -> bool:
    return kept.record.status is DispatchStatus.RUNNING and kept.record.attempts <= order.attempt


def _counted(kept: KeptDispatch, order: CallOrder) -> KeptDispatch:
    """With the attempt counted, also where it failed before it was sent."""
    if kept.record.attempts == order.attempt:
        return kept
    return KeptDispatch(kept.record.model_copy(update={"attempts": order.attempt}), kept.version)


def _not_its_turn(
    connection: Connection, kept: KeptDispatch, plan: CallPlan, now: datetime
) -> CallEnd | None:
    turn = turn_of(connection, kept, now, plan.lease)
    return turn if isinstance(turn, CallEnd) else None


def _granted(connection: Connection, kept: KeptDispatch, found: Judged, now: datetime) -> Judged:
    """Counts the use of the standing approval that lets the call pass; judged anew where it was taken back."""
    ask_first = kept.record.ask_first
    grant_id = found.verdict.grant_id if found.verdict is not None else None
    if grant_id is None or (ask_first is not None and ask_first.status in APPROVED):
        return found
    if use_grant(connection, grant_id, kept.record.owner, now):
        return found
    return judged(connection, kept.record, now)


def _send(connection: Connection, kept: KeptDispatch, order: CallOrder, now: datetime) -> None:
    if not add_attempt(connection, order.dispatch_id, order.attempt, SENDING, now):
        raise AttemptClosed
    changed = {
        "attempts": order.attempt,
        "started_at": kept.record.started_at or now,
        "updated_at": now,
        "next_action": None,
        "error_message": None,
        "held_since": None,
        "waits_until": None,
    }
    change_dispatch(connection, kept, kept.record.model_copy(update=changed))


def _refuse_unless_next(connection: Connection, order: CallOrder) -> None:
    if _is_closed(connection, order):
        raise AttemptClosed


def _is_closed(connection: Connection, order: CallOrder) -> bool:
    made = stage_of(connection, order.dispatch_id, order.attempt) is not None
    return made or unheard_attempt(connection, order.dispatch_id) is not None


def _blocked(
    connection: Connection, kept: KeptDispatch, found: Judged, block: Block, now: datetime
) -> KeptDispatch:
    record = found.noted_in(kept.record)
    ended = failed_record(record, DispatchStatus.BLOCKED, block.code, block.message, block.next_action)
    return settle(connection, kept, ended, now)
