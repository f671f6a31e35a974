"""The attempts of a call: planned, re-checked and written down right before they are sent, and ended.

Who asks what became of an attempt that never wrote its row closes it for good (``dispatch_inspection``): a worker
that was only slow finds that it may not send any more.

Whether a call may go to its server now, asked in the transaction that looks once more at policy.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from contracts.base import clipped
from contracts.errors import ErrorCode
from contracts.mcp.dispatch import DispatchStatus
from contracts.mcp.dispatch_work import CallEnd, CallOrder
from contracts.mcp.health import MCPConnectionHealth, MCPConnectionOutcome
from contracts.mcp.tools import ToolAnswer, ToolFailure, ToolFailureKind
from domain.mcp.approvals import APPROVED, Ask, Block, Pass
from domain.mcp.call_outcomes import GivenUp, Hold, after_failure, held_back, spread
from domain.mcp.health import PROBE_LEASE, Admission, admission
from stores.mcp.dispatch.attempt_ends import declared_idempotent, follow_up, jitter, record_contact
from stores.mcp.dispatch.attempt_rows import (
    ANSWERED,
    FAILED,
    SENDING,
    AttemptClosed,
    CallPlan,
    PlanOutdated,
    Stopped,
    add_attempt,
    end_attempt,
    has_retry_after,
    may_be_sent,
    plan_of,
    sign_in_refusals,
    stored_answer,
    stored_failure,
)
from stores.mcp.dispatch.opening import DispatchOpening, Judged, judged
from stores.mcp.dispatch.rows import StoredDispatch, change_dispatch, find_dispatch, read_dispatch
from stores.mcp.dispatch.settling import failed_record, settle
from stores.mcp.policy.grants import hold_grant_of_dispatch, use_grant
from stores.mcp.servers.health import admit
from stores.platform.canonical import canonical_json, digest_of
from stores.platform.database import Database


@dataclass(frozen=True)
class Turn:
    """It may go; where the server is half-open, alone until ``lease``."""

    lease: datetime | None = None


def turn_of(
    connection: Connection,
    kept: StoredDispatch,
    health: MCPConnectionHealth | None,
    now: datetime,
    lease: datetime | None = None,
) -> Turn | CallEnd:
    """The call's turn; or how it stands, where its server's pause holds it back or it was held for too long.

    ``health`` is the server's as it was read in this transaction. ``lease`` is the exclusive lease that the same
    attempt got before.
    """
    record = kept.record
    early = _told_to_come_later(connection, kept, now)
    if early is not None:
        return early
    if health is not None and admission(health, now) is Admission.OPEN:
        # Nothing is written, so calls of a healthy server do not contend for its row.
        return Turn()
    lasts = timedelta(milliseconds=record.order.timeout_ms) + PROBE_LEASE
    found = admit(connection, record.order.server_id, record.owner, now, lasts=lasts)
    if found.admission is Admission.PROBE:
        return Turn(found.until)
    if found.admission is not Admission.WAIT or found.until is None:
        # A server that is disabled or gone was blocked before its health was asked.
        return Turn()
    if found.until == lease:
        return Turn(lease)
    until = found.until + spread(record.dispatch_id, found.until - now)
    match held_back(found.health, until, record.held_since, now):
        case Hold() as hold:
            return _held(connection, kept, hold, now)
        case GivenUp() as given_up:
            end = given_up.end
            ended = failed_record(record, end.status, end.code, given_up.why, end.next_action)
            return CallEnd(standing=settle(connection, kept, ended, now).standing())


def _told_to_come_later(connection: Connection, kept: StoredDispatch, now: datetime) -> CallEnd | None:
    """How a call stands that looks again before the time which the server gave to its own last attempt."""
    record = kept.record
    if record.waits_until is None or record.held_since is not None or now >= record.waits_until:
        return None
    if not has_retry_after(connection, record.dispatch_id, record.attempts):
        return None
    left = math.ceil((record.waits_until - now) / timedelta(milliseconds=1))
    return CallEnd(
        standing=kept.standing(), again_after_ms=left, why=clipped(record.error_message or "", 500)
    )


def _held(connection: Connection, kept: StoredDispatch, hold: Hold, now: datetime) -> CallEnd:
    waiting = kept.record.changed(
        held_since=hold.since,
        waits_until=hold.until,
        error_message=hold.why,
        next_action=hold.next_action,
        updated_at=now,
    )
    changed = change_dispatch(connection, kept, waiting)
    return CallEnd(standing=changed.standing(), again_after_ms=hold.wait_ms(now), why=clipped(hold.why, 500))


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
            kept = read_dispatch(connection, order.dispatch_id, lock=True)
            if kept.record.status is not DispatchStatus.RUNNING:
                return CallEnd(standing=kept.standing())
            _refuse_unless_next(connection, order)
            found = judged(connection, kept.record, now)
            stopped = self._stopped(connection, kept, found, now)
            if stopped is not None or found.server is None or found.tool is None:
                return stopped or CallEnd(standing=kept.standing())
            turn = turn_of(connection, kept, found.health, now, lease)
            if isinstance(turn, CallEnd):
                return turn
            return plan_of(connection, kept.record, found.server, found.tool, turn.lease)

    def foreseen(self, order: CallOrder, now: datetime) -> CallPlan | None:
        """As ``plan``, where the call may be made and its server is well; nothing is written."""
        with self._database.read() as connection:
            kept = find_dispatch(connection, order.dispatch_id)
            if kept is None or kept.record.status is not DispatchStatus.RUNNING:
                return None
            if not may_be_sent(connection, order.dispatch_id, order.attempt):
                return None
            found = judged(connection, kept.record, now)
            if not isinstance(found.permit, Pass) or found.server is None or found.tool is None:
                return None
            if found.health is None or admission(found.health, now) is not Admission.OPEN:
                return None
            return plan_of(connection, kept.record, found.server, found.tool, None)

    def begin(self, order: CallOrder, plan: CallPlan, now: datetime) -> None:
        """Looks once more, at the last moment, whether the call may be made, and writes that it is being sent.

        Raises:
            Stopped: it may not; nothing must be sent.
            AttemptClosed: this attempt was given up, or made before.
            PlanOutdated: the server or the tool is not the one that the plan was made for.
        """
        with self._database.write() as connection:
            kept = read_dispatch(connection, order.dispatch_id, lock=True)
            if kept.record.status is not DispatchStatus.RUNNING:
                stopped = CallEnd(standing=kept.standing())
            else:
                _refuse_unless_next(connection, order)
                hold_grant_of_dispatch(connection, order.dispatch_id)
                found = judged(connection, kept.record, now)
                stopped = self._stopped(connection, kept, found, now) or _not_its_turn(
                    connection, kept, found.health, plan, now
                )
                if stopped is None:
                    # A call that is held back uses nothing up.
                    found = _granted(connection, kept, found, now)
                    stopped = self._stopped(connection, kept, found, now)
                if stopped is None:
                    if _is_another(kept, found, plan):
                        raise PlanOutdated
                    _send(connection, kept, order, now)
        if stopped is not None:
            raise Stopped(stopped)

    def answered(self, order: CallOrder, answer: ToolAnswer, now: datetime, *, signed_in: bool) -> CallEnd:
        """The tool has answered: the answer is kept and the call ends."""
        body = canonical_json(answer.model_dump(mode="json", exclude_none=True))
        with self._database.write() as connection:
            kept = read_dispatch(connection, order.dispatch_id, lock=True)
            stored = stored_answer(connection, body, now)
            if not _end(connection, order, ANSWERED, now, stored) or not _is_open(kept, order):
                return CallEnd(standing=kept.standing())
            ended = kept.record.changed(
                status=DispatchStatus.COMPLETED,
                is_error=answer.is_error,
                result_digest=digest_of(body),
                error_code=None,
                error_message=None,
                next_action=None,
            )
            contact = MCPConnectionOutcome(
                happened_at=now,
                tool_name=kept.record.order.tool_name,
                tool_error=answer.is_error,
                signed_in=signed_in,
            )
            taken = record_contact(connection, kept.record, contact)
            standing = settle(connection, kept, ended, now, taken.entries).standing()
            return CallEnd(standing=standing, well_again=taken.well_again)

    def failed(self, order: CallOrder, failure: ToolFailure, now: datetime, *, signed_in: bool) -> CallEnd:
        """The attempt gave no answer: the call ends, or is tried again later."""
        with self._database.write() as connection:
            kept = read_dispatch(connection, order.dispatch_id, lock=True)
            failed = stored_failure(failure)
            if not _end(connection, order, FAILED, now, failed) or not _is_open(kept, order):
                return CallEnd(standing=kept.standing())
            if failure.kind is not ToolFailureKind.TOOL_CHANGED:
                kept = _counted(kept, order)
            contact = MCPConnectionOutcome(
                happened_at=now,
                tool_name=kept.record.order.tool_name,
                signed_in=signed_in,
                failure=failure,
            )
            taken = record_contact(connection, kept.record, contact)
            follows = after_failure(
                failure, order.attempt, jitter(), idempotent=declared_idempotent(connection, kept.record)
            )
            end = follow_up(connection, kept, follows, failure.message, now, taken.entries)
            return end.changed(well_again=taken.well_again)

    def needs_sign_in(self, order: CallOrder, message: str, now: datetime) -> CallEnd:
        """Ends a call for which there is no valid sign-in; a person has to sign in."""
        with self._database.write() as connection:
            kept = read_dispatch(connection, order.dispatch_id, lock=True)
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
            kept = read_dispatch(connection, order.dispatch_id, lock=True)
            failed = stored_failure(failure)
            if not _end(connection, order, FAILED, now, failed) or not _is_open(kept, order):
                return False
            change_dispatch(connection, kept, _counted(kept, order).record)
            return True

    # ---- parts ----

    def _stopped(
        self, connection: Connection, kept: StoredDispatch, found: Judged, now: datetime
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


def _end(connection: Connection, order: CallOrder, stage: str, now: datetime, failed: str) -> bool:
    return end_attempt(connection, order.dispatch_id, order.attempt, stage, now, failed)


def _is_open(kept: StoredDispatch, order: CallOrder) -> bool:
    return kept.record.status is DispatchStatus.RUNNING and kept.record.attempts <= order.attempt


def _counted(kept: StoredDispatch, order: CallOrder) -> StoredDispatch:
    """With the attempt counted, also where it failed before it was sent."""
    if kept.record.attempts == order.attempt:
        return kept
    return StoredDispatch(kept.record.changed(attempts=order.attempt), kept.version)


def _is_another(kept: StoredDispatch, found: Judged, plan: CallPlan) -> bool:
    """Whether server, tool or arguments are not those of the plan any more."""
    return (
        found.server != plan.server
        or found.tool is None
        or found.tool.definition_hash != plan.call.definition_hash
        or kept.record.arguments_digest != plan.record.arguments_digest
    )


def _not_its_turn(
    connection: Connection,
    kept: StoredDispatch,
    health: MCPConnectionHealth | None,
    plan: CallPlan,
    now: datetime,
) -> CallEnd | None:
    turn = turn_of(connection, kept, health, now, plan.lease)
    return turn if isinstance(turn, CallEnd) else None


def _granted(connection: Connection, kept: StoredDispatch, found: Judged, now: datetime) -> Judged:
    """Counts the use of the standing approval that lets the call pass; judged anew where it was taken back."""
    ask_first = kept.record.ask_first
    grant_id = found.verdict.grant_id if found.verdict is not None else None
    if grant_id is None or (ask_first is not None and ask_first.status in APPROVED):
        return found
    if use_grant(connection, grant_id, kept.record.owner, now):
        return found
    return judged(connection, kept.record, now)


def _send(connection: Connection, kept: StoredDispatch, order: CallOrder, now: datetime) -> None:
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
    change_dispatch(connection, kept, kept.record.changed(**changed))


def _refuse_unless_next(connection: Connection, order: CallOrder) -> None:
    if not may_be_sent(connection, order.dispatch_id, order.attempt):
        raise AttemptClosed


def _blocked(
    connection: Connection, kept: StoredDispatch, found: Judged, block: Block, now: datetime
) -> StoredDispatch:
    record = found.noted_in(kept.record)
    ended = failed_record(record, DispatchStatus.BLOCKED, block.code, block.message, block.next_action)
    return settle(connection, kept, ended, now)
