"""How long a call is held back while its server wants patience or is tried out by somebody else."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType

from contracts.base import clipped, rfc3339
from contracts.errors import ErrorCode
from contracts.mcp.dispatch import DispatchStatus
from contracts.mcp.health import MCPConnectionHealth, MCPHealthStatus
from domain.mcp.call_outcomes import LONGEST_WAIT_MS, Again, Ended

MOST_HELD_THROTTLED = timedelta(days=1)
"""How long a call waits for a server that asked for patience, before it is sent or between two attempts."""

MOST_HELD_DEGRADED = timedelta(minutes=30)
"""How long it waits for one that fails: longer than several of its pauses."""

SHORTEST_WAIT = timedelta(seconds=1)
"""So that pauses which others prolong again and again do not make a call look all the time."""

SPREAD_SHARE = 0.1
"""The share of a wait by which calls that wait for the same moment start one after another."""

SPREAD_AT_MOST = timedelta(seconds=5)
"""The most that this adds to a wait, however long it is."""

_GIVEN_UP: Mapping[ErrorCode, str] = MappingProxyType(
    {
        ErrorCode.MCP_RATE_LIMITED: "Nothing was sent: the server wants fewer calls. Make the call again later.",
        ErrorCode.MCP_SERVER_UNREACHABLE: "Nothing was sent. See that the server runs, run its smoke test, "
        "then make the call again.",
    }
)


@dataclass(frozen=True)
class Hold:
    """The call is not sent now, and looked at again then."""

    since: datetime
    until: datetime
    why: str
    next_action: str

    def wait_ms(self, now: datetime) -> int:
        """How long that is, in whole milliseconds."""
        return math.ceil((self.until - now) / timedelta(milliseconds=1))


@dataclass(frozen=True)
class GivenUp:
    """The call has been held for too long."""

    end: Ended
    why: str


def spread(dispatch_id: str, wait: timedelta) -> timedelta:
    """What a call adds to a wait that others may share, so that they do not all go at its end.

    From nothing up to ``SPREAD_SHARE`` of the wait and ``SPREAD_AT_MOST``. It follows from the call's id alone, so
    that the same decision, taken again, gives the same moment.
    """
    digest = hashlib.sha256(dispatch_id.encode()).digest()
    place = int.from_bytes(digest[:8]) / 2**64
    return min(max(wait, timedelta()) * SPREAD_SHARE, SPREAD_AT_MOST) * place


def pause_before(again: Again, dispatch_id: str) -> int:
    """How many milliseconds a call waits before its next attempt: spread where the server said when to come back,
    which it may have said to many; a pause that nobody prescribed is random already.
    """
    if not again.asked_for:
        return again.after_ms
    extra = spread(dispatch_id, timedelta(milliseconds=again.after_ms))
    return min(again.after_ms + int(extra / timedelta(milliseconds=1)), LONGEST_WAIT_MS)


def held_back(
    health: MCPConnectionHealth, until: datetime, since: datetime | None, now: datetime
) -> Hold | GivenUp:
    """What becomes of a call that its server's health, in a pause up to ``until``, does not let pass.

    ``since`` is when it was first held back, if it was.
    """
    degraded = health.health_status is MCPHealthStatus.DEGRADED
    first = since or now
    last = first + (MOST_HELD_DEGRADED if degraded else MOST_HELD_THROTTLED)
    why = _why(health, degraded=degraded)
    if now >= last:
        code = ErrorCode.MCP_SERVER_UNREACHABLE if degraded else ErrorCode.MCP_RATE_LIMITED
        return GivenUp(Ended(DispatchStatus.FAILED, code, _GIVEN_UP[code]), why)
    look = max(min(until, last), now + SHORTEST_WAIT)
    what = f"Sent by itself from {rfc3339(look)}, if the server is well then. Cancel it if you want it no longer."
    return Hold(first, look, why, clipped(what, 240))


def _why(health: MCPConnectionHealth, *, degraded: bool) -> str:
    if degraded:
        return f"The server is degraded ({health.health_reason_code or 'failures'}); nothing was sent."
    return "The server asked for patience; nothing was sent."
