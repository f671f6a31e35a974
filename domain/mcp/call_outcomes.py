"""What follows from an attempt that gave no answer: the end of the call, or another attempt and when."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from contracts.errors import ErrorCode
from contracts.mcp.dispatch import DispatchStatus
from contracts.mcp.tool_call import UNKNOWN_OUTCOMES, ToolFailure, ToolFailureKind

MOST_ATTEMPTS = 6
"""Of one call, whatever they failed of."""

MOST_REPEATS_OF_UNKNOWN = 3
"""Attempts of a tool that a person declared idempotent, while their outcome is unknown."""

BACKOFF_BASE_MS = 10_000
BACKOFF_CAP_MS = 300_000
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
    """What follows when nobody knows what became of the attempt number ``attempts``."""
    if idempotent and attempts < MOST_REPEATS_OF_UNKNOWN:
        return Again(pause_ms(attempts, jitter))
    return UNKNOWN


def pause_ms(attempts: int, jitter: float, retry_after_ms: int | None = None) -> int:
    """How long to wait after so many attempts: what the server asks for, else 10 s doubling up to 300 s."""
    if retry_after_ms is not None:
        return min(retry_after_ms, LONGEST_WAIT_MS)
    # Beyond the cap the power would only grow.
    doubled = BACKOFF_BASE_MS << min(max(attempts - 1, 0), 8)
    return int(min(doubled, BACKOFF_CAP_MS) * jitter)
