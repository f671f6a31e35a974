"""What follows from an attempt that gave no answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import ErrorCode
from contracts.mcp.dispatch import DispatchStatus
from contracts.mcp.tools import UNKNOWN_OUTCOMES, ToolFailure, ToolFailureKind
from domain.mcp.call_outcomes import (
    CALL_BACKOFF,
    LONGEST_WAIT_MS,
    MOST_ATTEMPTS,
    MOST_REPEATS_OF_UNKNOWN,
    Again,
    Ended,
    after_failure,
    after_silence,
    pause_ms,
)

KINDS = st.sampled_from(ToolFailureKind)
ATTEMPTS = st.integers(1, 40)
JITTER = st.floats(0, 1)


def failure(kind: ToolFailureKind, retry_after_ms: int | None = None) -> ToolFailure:
    return ToolFailure(kind=kind, message="it went wrong", retry_after_ms=retry_after_ms)


@given(KINDS, ATTEMPTS, JITTER, st.booleans())
def test_what_may_have_been_done_is_never_repeated_unless_a_person_said_so(
    kind: ToolFailureKind, attempts: int, jitter: float, idempotent: bool
) -> None:
    follows = after_failure(failure(kind), attempts, jitter, idempotent=idempotent)
    if kind in UNKNOWN_OUTCOMES and not idempotent:
        assert isinstance(follows, Ended)
        assert follows.status is DispatchStatus.OUTCOME_UNKNOWN
    if isinstance(follows, Again):
        assert kind in {ToolFailureKind.NOT_SENT, ToolFailureKind.THROTTLED} or idempotent


@given(KINDS, JITTER, st.booleans())
def test_attempts_are_bounded(kind: ToolFailureKind, jitter: float, idempotent: bool) -> None:
    assert isinstance(after_failure(failure(kind), MOST_ATTEMPTS, jitter, idempotent=idempotent), Ended)
    assert isinstance(after_silence(MOST_REPEATS_OF_UNKNOWN, jitter, idempotent=idempotent), Ended)


@given(ATTEMPTS, JITTER)
def test_a_pause_grows_up_to_its_cap(attempts: int, jitter: float) -> None:
    assert 0 <= pause_ms(attempts, jitter) <= CALL_BACKOFF.cap
    assert pause_ms(attempts, 1.0) <= pause_ms(attempts + 1, 1.0)


@given(ATTEMPTS, JITTER, st.integers(0, 10**10))
def test_what_a_server_asks_for_wins_within_a_day(attempts: int, jitter: float, asked: int) -> None:
    assert pause_ms(attempts, jitter, asked) == min(asked, LONGEST_WAIT_MS)


def test_the_first_pauses_are_10_20_and_40_seconds_at_most() -> None:
    assert [pause_ms(n, 1.0) for n in (1, 2, 3, 6, 7)] == [10_000, 20_000, 40_000, 300_000, 300_000]


@pytest.mark.parametrize("kind", list(ToolFailureKind))
def test_every_end_says_what_to_do(kind: ToolFailureKind) -> None:
    follows = after_failure(failure(kind), MOST_ATTEMPTS, 0.5, idempotent=False)
    assert isinstance(follows, Ended)
    assert follows.next_action
    assert follows.code in set(ErrorCode)
