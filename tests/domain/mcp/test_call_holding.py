"""How long a call is held back for its server: until the pause is over, but not for ever."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import ErrorCode
from contracts.mcp.health import MCPConnectionHealth, MCPHealthStatus
from domain.mcp.call_outcomes import (
    LONGEST_WAIT_MS,
    MOST_HELD_DEGRADED,
    MOST_HELD_THROTTLED,
    SHORTEST_WAIT,
    SPREAD_AT_MOST,
    Again,
    GivenUp,
    Hold,
    held_back,
    pause_before,
    spread,
)
from domain.mcp.health import unknown

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
THROTTLED = unknown("lines").changed(health_status=MCPHealthStatus.HEALTHY)
DEGRADED = unknown("lines").changed(health_status=MCPHealthStatus.DEGRADED, health_reason_code="timed_out")


def test_a_call_waits_until_the_pause_is_over_and_says_so() -> None:
    found = held_back(THROTTLED, AT + timedelta(minutes=2), None, AT)
    assert isinstance(found, Hold)
    assert (found.since, found.until) == (AT, AT + timedelta(minutes=2))
    assert found.wait_ms(AT) == 120_000
    assert "2026-03-01T12:02" in found.next_action
    assert "patience" in found.why


def test_a_call_of_a_degraded_server_is_given_up_sooner_and_says_what_to_do() -> None:
    held = held_back(DEGRADED, AT + timedelta(minutes=5), AT - MOST_HELD_DEGRADED, AT)
    assert isinstance(held, GivenUp)
    assert held.end.code is ErrorCode.MCP_SERVER_UNREACHABLE
    assert "smoke test" in held.end.next_action
    assert "timed_out" in held.why
    assert isinstance(held_back(THROTTLED, AT + timedelta(minutes=5), AT - MOST_HELD_DEGRADED, AT), Hold)


@given(
    health=st.sampled_from([THROTTLED, DEGRADED]),
    pauses=st.lists(st.integers(1, 100_000), min_size=1, max_size=30),
)
def test_pauses_that_never_end_hold_a_call_for_a_bounded_time_in_bounded_steps(
    health: MCPConnectionHealth, pauses: list[int]
) -> None:
    most = MOST_HELD_DEGRADED if health is DEGRADED else MOST_HELD_THROTTLED
    now, since = AT, None
    for pause in pauses:
        found = held_back(health, now + timedelta(seconds=pause), since, now)
        if isinstance(found, GivenUp):
            assert now - AT >= most
            return
        assert found.since == AT
        assert now + SHORTEST_WAIT <= found.until <= max(AT + most, now + SHORTEST_WAIT)
        now, since = found.until, found.since


@given(dispatch_id=st.uuids().map(str), wait=st.timedeltas(timedelta(days=-1), timedelta(days=2)))
def test_a_spread_is_never_early_and_at_most_a_tenth_of_the_wait_or_five_seconds_late(
    dispatch_id: str, wait: timedelta
) -> None:
    extra = spread(dispatch_id, wait)
    assert (
        timedelta() <= extra <= min(max(wait, timedelta()) / 10 + timedelta(microseconds=1), SPREAD_AT_MOST)
    )
    assert extra == spread(dispatch_id, wait)


@given(
    ids=st.sets(st.uuids().map(str), min_size=20, max_size=40),
    wait=st.timedeltas(timedelta(seconds=1), timedelta(days=1)),
)
def test_calls_that_wait_for_the_same_moment_start_all_over_the_window(
    ids: set[str], wait: timedelta
) -> None:
    window = min(wait / 10, SPREAD_AT_MOST)
    found = sorted(spread(one, wait) for one in ids)
    assert len(set(found)) > len(ids) / 2
    assert found[-1] - found[0] > window / 4


@given(dispatch_id=st.uuids().map(str), after_ms=st.integers(0, LONGEST_WAIT_MS))
def test_an_attempt_that_was_told_when_to_come_back_is_spread_within_the_longest_wait(
    dispatch_id: str, after_ms: int
) -> None:
    told = pause_before(Again(after_ms, asked_for=True), dispatch_id)
    assert after_ms <= told <= min(after_ms + min(after_ms / 10, 5_000), LONGEST_WAIT_MS)
    assert pause_before(Again(after_ms), dispatch_id) == after_ms


@given(
    health=st.sampled_from([THROTTLED, DEGRADED]),
    dispatch_id=st.uuids().map(str),
    seconds=st.integers(1, 200_000),
)
def test_a_spread_hold_ends_neither_before_the_pause_nor_after_the_longest_hold(
    health: MCPConnectionHealth, dispatch_id: str, seconds: int
) -> None:
    wait = timedelta(seconds=seconds)
    last = MOST_HELD_DEGRADED if health is DEGRADED else MOST_HELD_THROTTLED
    found = held_back(health, AT + wait + spread(dispatch_id, wait), None, AT)
    assert isinstance(found, Hold)
    assert AT + min(wait, last) <= found.until <= AT + min(wait + SPREAD_AT_MOST, last)
