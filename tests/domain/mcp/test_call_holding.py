"""How long a call is held back for its server: until the pause is over, but not for ever."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import ErrorCode
from contracts.mcp.health import MCPConnectionHealth, MCPHealthStatus
from domain.mcp.call_holding import (
    MOST_HELD_DEGRADED,
    MOST_HELD_THROTTLED,
    SHORTEST_WAIT,
    GivenUp,
    Hold,
    held_back,
)
from domain.mcp.health import unknown

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
THROTTLED = unknown("lines").model_copy(update={"health_status": MCPHealthStatus.HEALTHY})
DEGRADED = unknown("lines").model_copy(
    update={"health_status": MCPHealthStatus.DEGRADED, "health_reason_code": "timed_out"}
)


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
