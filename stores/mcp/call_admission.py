"""Whether a call may go to its server now, asked in the transaction that looks once more at policy."""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from contracts.base import clipped
from contracts.mcp.dispatch_work import CallEnd
from domain.mcp.call_holding import GivenUp, Hold, held_back, spread
from domain.mcp.health import PROBE_LEASE, Admission
from stores.mcp.attempt_rows import told_when
from stores.mcp.dispatch_rows import KeptDispatch, change_dispatch
from stores.mcp.dispatch_settling import failed_record, settle
from stores.mcp.health import admit


@dataclass(frozen=True)
class Turn:
    """It may go; where the server is half-open, alone until ``lease``."""

    lease: datetime | None = None


def turn_of(
    connection: Connection, kept: KeptDispatch, now: datetime, lease: datetime | None = None
) -> Turn | CallEnd:
    """The call's turn; or how it stands, where its server's pause holds it back or it was held for too long.

    ``lease`` is the turn that the same attempt was given before: nobody else can have it.
    """
    record = kept.record
    early = _told_to_come_later(connection, kept, now)
    if early is not None:
        return early
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


def _told_to_come_later(connection: Connection, kept: KeptDispatch, now: datetime) -> CallEnd | None:
    """How a call stands that looks again before the time which the server gave to its own last attempt."""
    record = kept.record
    if record.waits_until is None or record.held_since is not None or now >= record.waits_until:
        return None
    if not told_when(connection, record.dispatch_id, record.attempts):
        return None
    left = math.ceil((record.waits_until - now) / timedelta(milliseconds=1))
    return CallEnd(
        standing=kept.standing(), again_after_ms=left, why=clipped(record.error_message or "", 500)
    )


def _held(connection: Connection, kept: KeptDispatch, hold: Hold, now: datetime) -> CallEnd:
    waiting = kept.record.model_copy(
        update={
            "held_since": hold.since,
            "waits_until": hold.until,
            "error_message": hold.why,
            "next_action": hold.next_action,
            "updated_at": now,
        }
    )
    changed = change_dispatch(connection, kept, waiting)
    return CallEnd(standing=changed.standing(), again_after_ms=hold.wait_ms(now), why=clipped(hold.why, 500))
