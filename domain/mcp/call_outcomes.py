"""Outcome rules of a tool call: end or retry after a failure, hold for an unwell server, stop with its ability."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType

from contracts.abilities.availability import AbilityAvailabilityEntry, AbilityState
from contracts.abilities.capability_manifest import HealthStatus
from contracts.backoff import Backoff
from contracts.base import clipped, rfc3339
from contracts.errors import ErrorCode
from contracts.mcp.dispatch import DispatchStatus
from contracts.mcp.health import MCPConnectionHealth, MCPHealthStatus
from contracts.mcp.tools import UNKNOWN_OUTCOMES, ToolFailure, ToolFailureKind
from domain.abilities.availability import effective_health, state_of
from domain.mcp.approvals import Block

MOST_ATTEMPTS = 6
"""Of one call, whatever they failed of."""

MOST_REPEATS_OF_UNKNOWN = 3
"""Attempts of a tool that a person declared idempotent, while their outcome is unknown."""

CALL_BACKOFF = Backoff(first=10_000, cap=300_000, jitter=1.0)
"""Milliseconds between attempts of a call."""

LONGEST_WAIT_MS = 86_400_000
"""The most that a server's ``Retry-After`` is followed: a day."""


@dataclass(frozen=True)
class Ended:
    """The call ends so."""

    status: DispatchStatus
    code: ErrorCode
    next_action: str


@dataclass(frozen=True)
class Again:
    """Nothing was executed, or it may be repeated: once more after so many milliseconds."""

    after_ms: int
    asked_for: bool = False
    """The server itself said so."""


_ENDS: Mapping[ToolFailureKind, Ended] = MappingProxyType(
    {
        ToolFailureKind.NOT_SENT: Ended(
            DispatchStatus.FAILED,
            ErrorCode.MCP_SERVER_UNREACHABLE,
            "Nothing was sent. Run the server's smoke test, then make the call again.",
        ),
        ToolFailureKind.THROTTLED: Ended(
            DispatchStatus.FAILED,
            ErrorCode.MCP_RATE_LIMITED,
            "The server wants fewer calls. Nothing was done; make the call again later.",
        ),
        ToolFailureKind.AUTH_REQUIRED: Ended(
            DispatchStatus.AUTH_REQUIRED,
            ErrorCode.MCP_AUTH_CHALLENGE_REQUIRED,
            "Nothing was done. Sign in to the server, then make the call again.",
        ),
        ToolFailureKind.SCOPE_MISSING: Ended(
            DispatchStatus.AUTH_REQUIRED,
            ErrorCode.MCP_AUTH_CHALLENGE_REQUIRED,
            "Nothing was done. The sign-in needs more scopes (`apprentice mcp auth status`); then make the call again.",
        ),
        ToolFailureKind.OUTPUT_TOO_LARGE: Ended(
            DispatchStatus.FAILED,
            ErrorCode.MCP_OUTPUT_TOO_LARGE,
            "The tool has run, perhaps not to its end. Look at its effect before you call it again, and ask for less.",
        ),
        ToolFailureKind.OUTPUT_INVALID: Ended(
            DispatchStatus.FAILED,
            ErrorCode.MCP_OUTPUT_INVALID,
            "The tool has run, and its answer does not fit its schema. Look at its effect.",
        ),
        ToolFailureKind.TOOL_UNKNOWN: Ended(
            DispatchStatus.FAILED,
            ErrorCode.MCP_TOOL_NOT_FOUND,
            "Nothing was done. Discover the server's tools again with its smoke test.",
        ),
        ToolFailureKind.TOOL_CHANGED: Ended(
            DispatchStatus.BLOCKED,
            ErrorCode.MCP_TOOL_CHANGED,
            "Look at what changed, then make the call again.",
        ),
        ToolFailureKind.REFUSED_BY_SERVER: Ended(
            DispatchStatus.FAILED,
            ErrorCode.MCP_TOOL_REFUSED,
            "The server refused the call as it stands; look at its arguments.",
        ),
        ToolFailureKind.ADDRESS_REFUSED: Ended(
            DispatchStatus.FAILED,
            ErrorCode.MCP_ADDRESS_REFUSED,
            "Nothing was sent. Register the server under an address that may be called.",
        ),
    }
)

UNKNOWN = Ended(
    DispatchStatus.OUTCOME_UNKNOWN,
    ErrorCode.MCP_OUTCOME_UNKNOWN,
    "The tool may have done its work. Look at its effect before you call it again.",
)

_REPEATED = frozenset({ToolFailureKind.NOT_SENT, ToolFailureKind.THROTTLED})


def after_failure(failure: ToolFailure, attempts: int, jitter: float, *, idempotent: bool) -> Ended | Again:
    """What follows from the attempt number ``attempts``, of which ``failure`` is known.

    Only what was surely not executed is repeated, and what a person declared ``idempotent``. ``jitter`` from 0
    to 1 is the random share of a pause that the server did not prescribe.
    """
    if failure.kind in UNKNOWN_OUTCOMES:
        return after_silence(attempts, jitter, idempotent=idempotent)
    if failure.kind in _REPEATED and attempts < MOST_ATTEMPTS:
        asked_for = failure.retry_after_ms is not None
        return Again(pause_ms(attempts, jitter, failure.retry_after_ms), asked_for)
    return _ENDS[failure.kind]


def after_silence(attempts: int, jitter: float, *, idempotent: bool) -> Ended | Again:
    """What follows when the outcome of attempt number ``attempts`` is unknown."""
    if idempotent and attempts < MOST_REPEATS_OF_UNKNOWN:
        return Again(pause_ms(attempts, jitter))
    return UNKNOWN


def pause_ms(attempts: int, jitter: float, retry_after_ms: int | None = None) -> int:
    """How long to wait after so many attempts: what the server asks for, else 10 s doubling up to 300 s."""
    if retry_after_ms is not None:
        return min(retry_after_ms, LONGEST_WAIT_MS)
    return int(CALL_BACKOFF.delay(attempts, jitter))


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
    which it may have said to many; a pause without ``Retry-After`` is random already.
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


_STANDS: Mapping[AbilityState, tuple[str, str]] = MappingProxyType(
    {
        AbilityState.ARCHIVED: (
            "archived",
            "Bring it back with apprentice abilities activate, then make the call again.",
        ),
        AbilityState.DEACTIVATED: (
            "switched off",
            "Switch it on with apprentice abilities activate, then make the call again.",
        ),
        AbilityState.QUARANTINED: (
            "quarantined",
            "Find out what is wrong with it, then lift the quarantine: apprentice abilities unquarantine.",
        ),
    }
)
"""What is said of an ability that a person has taken out of use, and what to do about it."""

_RECHECK = (
    "Do without the ability until it is usable. See how it stands: apprentice abilities show. "
    "Recheck its capability: apprentice capabilities reprobe."
)
_GONE = "Look for another ability: apprentice abilities list."

_WITHDRAWN_HEALTH = frozenset({HealthStatus.QUARANTINED, HealthStatus.DISABLED})


def refused_for(ability: AbilityAvailabilityEntry | None) -> Block | None:
    """Why nothing is called on behalf of ``ability``; ``None`` while it is usable now.

    ``usable_now`` is the one predicate: what a lookup does not route to is not called for either (DOC3 §1.1I).
    An ability that its caller may not see is ``None``, as one that is not there.
    """
    if ability is None:
        return _block("The ability that the call is made for is not there; nothing was sent.", _GONE)
    if ability.usable_now:
        return None
    stands = _STANDS.get(state_of(ability))
    if stands is not None:
        how, hint = stands
        return _block(f"The ability that the call is made for is {how}; nothing was sent.", hint)
    why = ability.reason_unusable or "Its entry gives no reason."
    return _block(
        f"The ability that the call is made for cannot be used now; nothing was sent. {why}", _RECHECK
    )


def withdrawn_because(ability: AbilityAvailabilityEntry, own_health: HealthStatus) -> str | None:
    """Why the calls that run or wait for ``ability`` are stopped; ``None`` while they may go on.

    ``own_health`` is its capability's. Being taken out of use stops calls. Being unusable for less, such as a
    program that the runtime lacks just now, only lets none begin.
    """
    health, _ = effective_health(own_health, ability)
    if health not in _WITHDRAWN_HEALTH:
        return None
    state = state_of(ability)
    if state is not AbilityState.ACTIVE:
        return f"the ability was {state.value}"
    return f"the ability's capability was {own_health.value}"


def _block(message: str, next_action: str) -> Block:
    return Block(ErrorCode.MCP_POLICY_BLOCKED, clipped(message, 1_000), next_action)
