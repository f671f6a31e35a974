"""Health transitions of a tool server by the result of each contact, and the verdict of a smoke test.

DOC3 §0.6E, decisions "Numbers" (health), §0.2D, §0.2H (smoke test).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from contracts.backoff import Backoff
from contracts.base import clipped, counted, rfc3339
from contracts.errors import ErrorCode
from contracts.mcp.dispatch import DispatchStatus, DispatchView
from contracts.mcp.health import (
    MCPConnectionHealth,
    MCPConnectionOutcome,
    MCPHealthStatus,
    MCPSmokeTestStatus,
    MCPThrottle,
    MCPThrottleState,
    MCPToolHealth,
)
from contracts.mcp.provider import NEEDS_SIGN_IN, MCPAuthState
from contracts.mcp.servers import ProbeFindings
from contracts.mcp.tools import ToolFailure, ToolFailureKind

FAILURES_TO_DEGRADE = 3
"""Failures in a row after which a server counts as degraded."""

SERVER_BACKOFF = Backoff(first=10, cap=300, jitter=1.0)
"""Seconds for which a failing server is left alone."""

LONGEST_WAIT = timedelta(days=1)
"""The most that a server's own ``Retry-After`` is believed."""

PROBE_LEASE = timedelta(seconds=60)
"""How long the one probe of a half-open server has, before another may be let through."""

MOST_TOOLS = 500
"""Of so many tools the last outcome is kept; the oldest go first."""

ILL = frozenset(
    {
        ToolFailureKind.NOT_SENT,
        ToolFailureKind.SERVER_ERROR,
        ToolFailureKind.TIMED_OUT,
        ToolFailureKind.CONNECTION_LOST,
        ToolFailureKind.ADDRESS_REFUSED,
    }
)
"""The failures that speak against the server itself; after every other one it is there and answers."""

CODES: dict[ToolFailureKind, ErrorCode] = {
    ToolFailureKind.NOT_SENT: ErrorCode.MCP_SERVER_UNREACHABLE,
    ToolFailureKind.CONNECTION_LOST: ErrorCode.MCP_SERVER_UNREACHABLE,
    ToolFailureKind.TIMED_OUT: ErrorCode.MCP_CALL_TIMED_OUT,
    ToolFailureKind.AUTH_REQUIRED: ErrorCode.MCP_AUTH_CHALLENGE_REQUIRED,
    ToolFailureKind.SCOPE_MISSING: ErrorCode.MCP_AUTH_CHALLENGE_REQUIRED,
    ToolFailureKind.THROTTLED: ErrorCode.MCP_RATE_LIMITED,
    ToolFailureKind.ADDRESS_REFUSED: ErrorCode.MCP_ADDRESS_REFUSED,
}
"""The code of a failure; of every other one ``MCP_SMOKE_TEST_FAILED``."""

_SIGN_IN = frozenset({ToolFailureKind.AUTH_REQUIRED, ToolFailureKind.SCOPE_MISSING})

_NO_TRANSPORT = frozenset(
    {
        ToolFailureKind.NOT_SENT,
        ToolFailureKind.CONNECTION_LOST,
        ToolFailureKind.TIMED_OUT,
        ToolFailureKind.ADDRESS_REFUSED,
    }
)

_NOT_CALLED = frozenset({DispatchStatus.BLOCKED, DispatchStatus.PENDING_APPROVAL, DispatchStatus.CANCELLED})


class Admission(StrEnum):
    """Whether a call may go to a server now."""

    OPEN = "open"
    PROBE = "probe"
    WAIT = "wait"
    REFUSED = "refused"


def unknown(server_id: str, *, interactive_capable: bool = True) -> MCPConnectionHealth:
    """The health of a server without any contact yet."""
    return MCPConnectionHealth(
        server_id=server_id,
        health_status=MCPHealthStatus.UNKNOWN,
        interactive_capable=interactive_capable,
    )


def after(
    health: MCPConnectionHealth, outcome: MCPConnectionOutcome, jitter: float = 1.0
) -> MCPConnectionHealth:
    """The health after one more contact.

    Three failures in a row degrade; one answer heals. A server that asks for patience gets it, and is neither
    counted as failing nor degraded for it. A refused sign-in is the sign-in's trouble. ``jitter``, from 0 to
    1, is the random share of a pause without ``Retry-After`` ("full jitter").
    """
    seen = health.changed(last_checked_at=outcome.happened_at, tool_health=_tools_after(health, outcome))
    failure = outcome.failure
    if failure is None:
        return _answered(seen, outcome)
    match failure.kind:
        case ToolFailureKind.THROTTLED:
            return _throttled(seen, outcome.happened_at, failure, jitter)
        case ToolFailureKind.AUTH_REQUIRED:
            return seen.changed(
                auth_state=_refused_sign_in(health.auth_state), auth_checked_at=outcome.happened_at
            )
        case ToolFailureKind.SCOPE_MISSING:
            return seen
        case kind if kind in ILL:
            return _failed(seen, outcome.happened_at, failure, jitter)
        case _:
            return _answered(seen, outcome)


def disabled(health: MCPConnectionHealth) -> MCPConnectionHealth:
    """The same server, switched off by a person."""
    return health.changed(health_status=MCPHealthStatus.DISABLED)


def with_sign_in(
    health: MCPConnectionHealth, status: MCPAuthState, changed_at: datetime
) -> MCPConnectionHealth:
    """The health with how its sign-in stands; what the server itself said since then counts more."""
    checked_at = health.auth_checked_at
    if status in NEEDS_SIGN_IN or checked_at is None or checked_at <= changed_at:
        return health.changed(auth_state=status)
    return health


def admission(health: MCPConnectionHealth, now: datetime) -> Admission:
    """Whether a call may go now; ``PROBE`` means: this one alone, and its outcome decides (half-open)."""
    if health.health_status is MCPHealthStatus.DISABLED:
        return Admission.REFUSED
    if health.backoff_until is not None and now < health.backoff_until:
        return Admission.WAIT
    return Admission.PROBE if health.health_status is MCPHealthStatus.DEGRADED else Admission.OPEN


def well_again(before: MCPConnectionHealth, now: MCPConnectionHealth, at: datetime) -> bool:
    """Whether a contact at ``at`` found a degraded server well, so that nothing holds back its calls any more.

    Where it also asked for patience they go by themselves when that is over.
    """
    return before.health_status is MCPHealthStatus.DEGRADED and admission(now, at) is Admission.OPEN


def probing(
    health: MCPConnectionHealth, now: datetime, lasts: timedelta = PROBE_LEASE
) -> MCPConnectionHealth:
    """The health while the one probe of a half-open server is under way: everybody else waits."""
    return health.changed(backoff_until=now + lasts)


def next_probe_at(health: MCPConnectionHealth, every: timedelta, now: datetime) -> datetime:
    """When the server is to be probed again: as usual, or when a pause of it is over."""
    usual = (health.last_checked_at or now) + every
    if health.backoff_until is None:
        return usual
    if health.health_status is MCPHealthStatus.DEGRADED:
        return health.backoff_until
    return max(usual, health.backoff_until)


def next_action(health: MCPConnectionHealth) -> str | None:
    """What a person can do; none when all is well."""
    found = _situation(health)
    if found is None:
        return None
    until = rfc3339(health.backoff_until) if health.backoff_until else "soon"
    return clipped(_NEXT_ACTIONS[found].format(server_id=health.server_id, until=until), 240)


def with_next_action(health: MCPConnectionHealth) -> MCPConnectionHealth:
    """The same, and what to do about it."""
    return health.changed(next_action=next_action(health))


_NEXT_ACTIONS: dict[str, str] = {
    "disabled": "Switch it on: PATCH /api/mcp/servers/{server_id} with enabled: true.",
    "sign_in": "Sign in: POST /api/mcp/servers/{server_id}/auth/start, or give its sign-in a new key.",
    "throttled": "Nothing: it asked for patience, and calls go on from {until}.",
    "unknown": "Try it: POST /api/mcp/servers/{server_id}/smoke-test.",
    ToolFailureKind.NOT_SENT.value: "It cannot be reached: see that it runs and that its address is right. "
    "It is tried again from {until}, or now by a smoke test.",
    ToolFailureKind.SERVER_ERROR.value: "It fails inside: see its log. "
    "It is tried again from {until}, or now by a smoke test.",
    ToolFailureKind.TIMED_OUT.value: "It answers too late: see what holds it up. "
    "It is tried again from {until}, or now by a smoke test.",
    ToolFailureKind.CONNECTION_LOST.value: "It breaks off: see its log and what lies between. "
    "It is tried again from {until}, or now by a smoke test.",
    ToolFailureKind.ADDRESS_REFUSED.value: "Its address is not allowed here: give it another with "
    "PATCH /api/mcp/servers/{server_id}, or allow private addresses in the settings.",
}


def _situation(health: MCPConnectionHealth) -> str | None:
    if health.health_status is MCPHealthStatus.DISABLED:
        return "disabled"
    if health.auth_state in NEEDS_SIGN_IN:
        return "sign_in"
    if health.health_status is MCPHealthStatus.DEGRADED:
        return health.health_reason_code or ToolFailureKind.SERVER_ERROR.value
    if health.throttle_state.state is not MCPThrottle.NONE:
        return "throttled"
    return "unknown" if health.health_status is MCPHealthStatus.UNKNOWN else None


def _answered(health: MCPConnectionHealth, outcome: MCPConnectionOutcome) -> MCPConnectionHealth:
    taken = outcome.signed_in and outcome.failure is None and health.auth_state is not MCPAuthState.REVOKED
    return health.changed(
        health_status=_unless_disabled(health, MCPHealthStatus.HEALTHY),
        health_reason_code=None,
        failure_count_rolling=0,
        **_pause_after_an_answer(health, outcome.happened_at),
        **({"auth_state": MCPAuthState.HEALTHY, "auth_checked_at": outcome.happened_at} if taken else {}),
    )


def patience(health: MCPConnectionHealth, now: datetime) -> datetime | None:
    """Until when a server asked to be left alone, if that is not over."""
    until = health.throttle_state.until
    return until if until is not None and now < until else None


def _pause_after_an_answer(health: MCPConnectionHealth, at: datetime) -> dict[str, object]:
    """A throttled server gets no new requests, so this answers one that was sent before."""
    asked = patience(health, at)
    return {
        "backoff_until": asked,
        "throttle_state": health.throttle_state if asked is not None else MCPThrottleState(),
    }


def _failed(
    health: MCPConnectionHealth, at: datetime, failure: ToolFailure, jitter: float
) -> MCPConnectionHealth:
    count = health.failure_count_rolling + 1
    degraded = count >= FAILURES_TO_DEGRADE
    pauses = degraded or failure.retry_after_ms is not None
    until = at + _pause(failure, count - FAILURES_TO_DEGRADE, jitter) if pauses else health.backoff_until
    return health.changed(
        health_status=_unless_disabled(
            health, MCPHealthStatus.DEGRADED if degraded else health.health_status
        ),
        health_reason_code=failure.kind.value,
        failure_count_rolling=count,
        backoff_until=max(filter(None, (until, patience(health, at))), default=None),
    )


def _throttled(
    health: MCPConnectionHealth, at: datetime, failure: ToolFailure, jitter: float
) -> MCPConnectionHealth:
    before = health.throttle_state.in_a_row
    pause = _pause(failure, before, jitter)
    return health.changed(
        backoff_until=at + pause,
        throttle_state=MCPThrottleState(
            state=_throttle(failure),
            retry_after_ms=int(pause.total_seconds() * 1_000),
            until=at + pause,
            reason_code=failure.kind.value,
            last_http_status=failure.http_status,
            in_a_row=before + 1,
        ),
    )


def _throttle(failure: ToolFailure) -> MCPThrottle:
    if failure.http_status == 429:
        return MCPThrottle.RATE_LIMITED
    return MCPThrottle.SERVER_BACKOFF if failure.retry_after_ms is not None else MCPThrottle.COOLDOWN


def _pause(failure: ToolFailure, doublings: int, jitter: float) -> timedelta:
    if failure.retry_after_ms is not None:
        return min(timedelta(milliseconds=failure.retry_after_ms), LONGEST_WAIT)
    return timedelta(seconds=SERVER_BACKOFF.delay(doublings + 1, jitter))


def _refused_sign_in(state: MCPAuthState) -> MCPAuthState:
    return state if state in NEEDS_SIGN_IN else MCPAuthState.CHALLENGE_REQUIRED


def _unless_disabled(health: MCPConnectionHealth, status: MCPHealthStatus) -> MCPHealthStatus:
    return MCPHealthStatus.DISABLED if health.health_status is MCPHealthStatus.DISABLED else status


def _tools_after(health: MCPConnectionHealth, outcome: MCPConnectionOutcome) -> dict[str, MCPToolHealth]:
    failure = outcome.failure
    if outcome.tool_name is None:
        return health.tool_health
    others = {name: kept for name, kept in health.tool_health.items() if name != outcome.tool_name}
    if failure is not None and failure.kind is ToolFailureKind.TOOL_UNKNOWN:
        return others
    said = clipped(f"{failure.kind.value}: {failure.message}", 240) if failure is not None else None
    others[outcome.tool_name] = MCPToolHealth(
        ok=failure is None and not outcome.tool_error,
        last_error=said or ("the tool reported an error" if outcome.tool_error else None),
        last_checked_at=outcome.happened_at,
        last_http_status=failure.http_status if failure is not None else None,
    )
    newest = sorted(others, key=lambda name: others[name].last_checked_at or outcome.happened_at)
    return {name: others[name] for name in newest[-MOST_TOOLS:]}


@dataclass(frozen=True)
class SmokeVerdict:
    """How a smoke test ended."""

    status: MCPSmokeTestStatus
    code: ErrorCode | None
    summary: str


def verdict(found: ProbeFindings) -> SmokeVerdict:
    """What a look says. A broken sign-in leaves a server degraded, a pause leaves it blocked."""
    # What is tried just now is nobody's next step.
    todo = None if _situation(found.health) == "unknown" else found.health.next_action
    action = f" {todo}" if todo else ""
    if found.not_tried is not None:
        off = found.health.health_status is MCPHealthStatus.DISABLED
        code = ErrorCode.MCP_SERVER_DISABLED if off else ErrorCode.MCP_RATE_LIMITED
        return SmokeVerdict(MCPSmokeTestStatus.BLOCKED, code, clipped(found.not_tried + action, 500))
    failure = found.failure
    if failure is None:
        sign_in = "signed in" if found.sign_in_used else "no sign-in needed"
        tools = counted(found.tools or 0, "tool") + (f"; {found.left_out}" if found.left_out else "")
        said = clipped(f"transport ok, auth ok ({sign_in}), discovery ok ({tools}).", 500)
        if found.health.auth_state in NEEDS_SIGN_IN:
            said = f"transport ok, auth {found.health.auth_state.value}, discovery ok ({tools}).{action}"
            return SmokeVerdict(
                MCPSmokeTestStatus.DEGRADED, ErrorCode.MCP_AUTH_CHALLENGE_REQUIRED, clipped(said, 500)
            )
        return SmokeVerdict(MCPSmokeTestStatus.PASSED, None, said)
    transport = "failed" if failure.kind in _NO_TRANSPORT else "ok"
    auth = "failed" if failure.kind in _SIGN_IN else "not known"
    said = f"transport {transport}, auth {auth}, discovery failed: {failure.message}{action}"
    return SmokeVerdict(
        _status(failure.kind),
        CODES.get(failure.kind, ErrorCode.MCP_SMOKE_TEST_FAILED),
        clipped(said, 500),
    )


def not_called(found: SmokeVerdict, tool_name: str, code: ErrorCode, why: str) -> SmokeVerdict:
    """The same, and why the one call was not made."""
    said = clipped(f"{found.summary} {tool_name} was not called: {why}", 500)
    return SmokeVerdict(MCPSmokeTestStatus.BLOCKED, code, said)


def with_call(found: SmokeVerdict, tool_name: str, call: DispatchView) -> SmokeVerdict:
    """The same, and how the one call went."""
    code = ErrorCode(call.error_code) if call.error_code in ErrorCode.__members__ else None
    if call.status in _NOT_CALLED:
        why = call.error_message or "policy has it ask first."
        return not_called(found, tool_name, code or ErrorCode.MCP_ASK_FIRST_REQUIRED, why)
    if call.status is DispatchStatus.COMPLETED and not call.is_error:
        return SmokeVerdict(found.status, found.code, clipped(f"{found.summary} {tool_name} answered.", 500))
    reason = call.error_message or ("the tool reported an error" if call.is_error else call.status.value)
    return SmokeVerdict(
        MCPSmokeTestStatus.FAILED,
        code or ErrorCode.MCP_SMOKE_TEST_FAILED,
        clipped(f"{found.summary} {tool_name} failed: {reason}", 500),
    )


def _status(kind: ToolFailureKind) -> MCPSmokeTestStatus:
    if kind in _SIGN_IN:
        return MCPSmokeTestStatus.DEGRADED
    return MCPSmokeTestStatus.BLOCKED if kind is ToolFailureKind.THROTTLED else MCPSmokeTestStatus.FAILED
