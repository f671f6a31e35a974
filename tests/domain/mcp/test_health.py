from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.mcp.health import MCPConnectionHealth, MCPConnectionOutcome, MCPHealthStatus, MCPThrottle
from contracts.mcp.provider import NEEDS_SIGN_IN, MCPAuthState
from contracts.mcp.tools import ToolFailure, ToolFailureKind
from domain.mcp.health import (
    FAILURES_TO_DEGRADE,
    ILL,
    LONGEST_WAIT,
    SERVER_BACKOFF,
    Admission,
    admission,
    after,
    disabled,
    next_action,
    next_probe_at,
    probing,
    unknown,
    well_again,
    with_sign_in,
)

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
EVERY = timedelta(minutes=5)

kinds = st.sampled_from([None, *ToolFailureKind])


@st.composite
def outcomes(draw: st.DrawFn) -> list[MCPConnectionOutcome]:
    """A history: contacts in the order of time."""
    at = START
    found = []
    for _ in range(draw(st.integers(0, 20))):
        at += timedelta(seconds=draw(st.integers(0, 900)))
        found.append(
            outcome(
                draw(kinds),
                at,
                retry_after_ms=draw(st.none() | st.integers(0, 10**9)),
                http_status=draw(st.sampled_from([None, 429, 503])),
                tool_name=draw(st.sampled_from([None, "read", "send"])),
                signed_in=draw(st.booleans()),
            )
        )
    return found


def outcome(
    kind: ToolFailureKind | None = None,
    at: datetime = START,
    *,
    retry_after_ms: int | None = None,
    http_status: int | None = None,
    tool_name: str | None = None,
    signed_in: bool = False,
    tool_error: bool = False,
) -> MCPConnectionOutcome:
    failure = (
        ToolFailure(kind=kind, message="as told", retry_after_ms=retry_after_ms, http_status=http_status)
        if kind is not None
        else None
    )
    return MCPConnectionOutcome(
        happened_at=at, tool_name=tool_name, signed_in=signed_in, failure=failure, tool_error=tool_error
    )


def lived(history: list[MCPConnectionOutcome], jitter: float = 1.0) -> MCPConnectionHealth:
    health = unknown("server-a")
    for one in history:
        health = after(health, one, jitter)
    return health


@given(outcomes())
def test_only_failures_in_a_row_degrade_and_any_answer_heals(history: list[MCPConnectionOutcome]) -> None:
    in_a_row = 0
    for one in history:
        if one.failure is None or one.failure.kind not in {
            *ILL,
            ToolFailureKind.THROTTLED,
            ToolFailureKind.AUTH_REQUIRED,
            ToolFailureKind.SCOPE_MISSING,
        }:
            in_a_row = 0
        elif one.failure.kind in ILL:
            in_a_row += 1
    health = lived(history)
    assert health.failure_count_rolling == in_a_row
    assert (health.health_status is MCPHealthStatus.DEGRADED) is (in_a_row >= FAILURES_TO_DEGRADE)


@given(outcomes(), st.integers(1, 30), st.integers(0, 10**6))
def test_throttling_is_never_taken_for_illness(
    history: list[MCPConnectionOutcome], times: int, wait_ms: int
) -> None:
    before = lived(history)
    health = before
    for number in range(times):
        at = START + timedelta(days=1, seconds=number)
        health = after(
            health, outcome(ToolFailureKind.THROTTLED, at, http_status=429, retry_after_ms=wait_ms)
        )
        assert health.backoff_until == at + timedelta(milliseconds=wait_ms)
    assert health.health_status is before.health_status
    assert health.failure_count_rolling == before.failure_count_rolling
    assert health.throttle_state.state is MCPThrottle.RATE_LIMITED
    assert health.throttle_state.in_a_row == before.throttle_state.in_a_row + times


@given(outcomes(), st.floats(0, 1))
def test_a_pause_is_never_longer_than_its_cap(history: list[MCPConnectionOutcome], jitter: float) -> None:
    health = unknown("server-a")
    for one in history:
        health = after(health, one, jitter)
        if health.backoff_until is not None and health.last_checked_at is not None:
            prescribed = any(o.failure and o.failure.retry_after_ms is not None for o in history)
            assert health.backoff_until - health.last_checked_at <= (
                LONGEST_WAIT if prescribed else timedelta(seconds=SERVER_BACKOFF.cap)
            )


@given(outcomes())
def test_whatever_happened_one_answer_after_the_pause_opens_it_again(
    history: list[MCPConnectionOutcome],
) -> None:
    health = lived(history)
    later = (health.backoff_until or START) + timedelta(days=1)
    assert admission(health, later) in {Admission.OPEN, Admission.PROBE}
    healed = after(health, outcome(None, later))
    assert healed.health_status is MCPHealthStatus.HEALTHY
    assert (healed.backoff_until, healed.failure_count_rolling) == (None, 0)
    assert healed.throttle_state.state is MCPThrottle.NONE
    assert admission(healed, later) is Admission.OPEN


@given(outcomes())
def test_a_refused_sign_in_counts_against_the_sign_in_alone(history: list[MCPConnectionOutcome]) -> None:
    before = lived(history)
    health = after(before, outcome(ToolFailureKind.AUTH_REQUIRED, START, http_status=401))
    assert health.auth_state in NEEDS_SIGN_IN
    assert (health.health_status, health.failure_count_rolling, health.backoff_until) == (
        before.health_status,
        before.failure_count_rolling,
        before.backoff_until,
    )


@given(outcomes())
def test_there_is_something_to_do_unless_all_is_well(history: list[MCPConnectionOutcome]) -> None:
    for health in (lived(history), disabled(lived(history))):
        well = (
            health.health_status is MCPHealthStatus.HEALTHY
            and health.auth_state not in NEEDS_SIGN_IN
            and health.throttle_state.state is MCPThrottle.NONE
        )
        assert (next_action(health) is None) is well


@given(outcomes())
def test_a_switched_off_server_stays_off_whatever_comes_in_late(history: list[MCPConnectionOutcome]) -> None:
    health = disabled(unknown("server-a"))
    for one in history:
        health = after(health, one)
    assert health.health_status is MCPHealthStatus.DISABLED
    assert admission(health, START + timedelta(days=9)) is Admission.REFUSED


def test_the_pause_doubles_from_ten_seconds_to_five_minutes() -> None:
    health = unknown("server-a")
    pauses = []
    for _ in range(9):
        health = after(health, outcome(ToolFailureKind.CONNECTION_LOST))
        pauses.append(health.backoff_until)
    assert pauses[:2] == [None, None]
    assert [int((one - START).total_seconds()) for one in pauses[2:] if one] == [
        10,
        20,
        40,
        80,
        160,
        300,
        300,
    ]
    assert after(health, outcome(ToolFailureKind.CONNECTION_LOST), 0.5).backoff_until == START + timedelta(
        seconds=150
    )


def test_while_it_is_degraded_one_probe_is_let_through_and_decides() -> None:
    health = lived([outcome(ToolFailureKind.NOT_SENT)] * 3)
    assert health.backoff_until is not None
    assert admission(health, START) is Admission.WAIT
    half_open = health.backoff_until
    assert admission(health, half_open) is Admission.PROBE
    taken = probing(health, half_open)
    assert admission(taken, half_open) is Admission.WAIT
    again = after(taken, outcome(ToolFailureKind.NOT_SENT, half_open))
    assert again.backoff_until == half_open + timedelta(seconds=20)
    assert after(taken, outcome(None, half_open)).health_status is MCPHealthStatus.HEALTHY


def test_a_tool_that_fails_is_marked_and_its_server_is_not() -> None:
    health = lived([outcome(tool_name="send", tool_error=True), outcome(tool_name="read")])
    assert health.health_status is MCPHealthStatus.HEALTHY
    assert {name: one.ok for name, one in health.tool_health.items()} == {"send": False, "read": True}
    health = after(health, outcome(ToolFailureKind.OUTPUT_INVALID, tool_name="read"))
    assert health.health_status is MCPHealthStatus.HEALTHY
    assert health.tool_health["read"].last_error == "output_invalid: as told"
    assert "gone" not in after(health, outcome(ToolFailureKind.TOOL_UNKNOWN, tool_name="gone")).tool_health


@pytest.mark.parametrize(
    "state", [MCPAuthState.EXPIRED, MCPAuthState.REVOKED, MCPAuthState.CHALLENGE_REQUIRED]
)
def test_a_lost_sign_in_is_shown_and_a_newer_one_ends_it(state: MCPAuthState) -> None:
    health = with_sign_in(lived([outcome()]), state, START)
    assert health.auth_state is state
    assert "auth/start" in (next_action(health) or "")
    refused = after(lived([outcome()]), outcome(ToolFailureKind.AUTH_REQUIRED, START))
    earlier, later = START - timedelta(seconds=1), START + timedelta(seconds=1)
    assert with_sign_in(refused, MCPAuthState.HEALTHY, earlier).auth_state is MCPAuthState.CHALLENGE_REQUIRED
    assert with_sign_in(refused, MCPAuthState.HEALTHY, later).auth_state is MCPAuthState.HEALTHY


def test_a_revoked_sign_in_does_not_come_back_by_a_late_answer() -> None:
    revoked = with_sign_in(unknown("server-a"), MCPAuthState.REVOKED, START)
    assert after(revoked, outcome(signed_in=True)).auth_state is MCPAuthState.REVOKED
    challenged = after(unknown("server-a"), outcome(ToolFailureKind.AUTH_REQUIRED))
    assert after(challenged, outcome(signed_in=True)).auth_state is MCPAuthState.HEALTHY
    assert after(challenged, outcome()).auth_state is MCPAuthState.CHALLENGE_REQUIRED


def test_a_probe_is_due_as_usual_or_when_a_pause_is_over() -> None:
    healthy = lived([outcome()])
    assert next_probe_at(healthy, EVERY, START) == START + EVERY
    ill = lived([outcome(ToolFailureKind.TIMED_OUT)] * 3)
    assert next_probe_at(ill, EVERY, START) == ill.backoff_until == START + timedelta(seconds=10)
    waits = after(healthy, outcome(ToolFailureKind.THROTTLED, retry_after_ms=900_000))
    assert next_probe_at(waits, EVERY, START) == START + timedelta(minutes=15)


@given(outcomes())
def test_only_a_degraded_server_that_lets_everybody_pass_again_is_well_again(
    history: list[MCPConnectionOutcome],
) -> None:
    before = unknown("server-a")
    for one in history:
        now = after(before, one)
        if well_again(before, now, one.happened_at):
            assert before.health_status is MCPHealthStatus.DEGRADED
            assert admission(now, one.happened_at) is Admission.OPEN
        before = now


def test_an_answer_makes_a_degraded_server_well_again_whether_its_pause_is_over_or_not() -> None:
    ill = lived([outcome(ToolFailureKind.NOT_SENT)] * FAILURES_TO_DEGRADE)
    for at in (START + timedelta(seconds=1), START + timedelta(seconds=SERVER_BACKOFF.cap)):
        assert well_again(ill, after(ill, outcome(at=at)), at)
        turn = probing(ill, at)
        assert well_again(turn, after(turn, outcome(at=at)), at)
    well = after(ill, outcome())
    assert not well_again(well, after(well, outcome()), START)
    assert not well_again(ill, disabled(after(ill, outcome())), START)


def test_an_answer_cuts_no_pause_short_that_the_server_asked_for() -> None:
    asked = outcome(ToolFailureKind.THROTTLED, retry_after_ms=600_000, http_status=429)
    throttled = lived([outcome(), asked])
    early, late = START + timedelta(seconds=1), START + timedelta(minutes=10)
    assert not well_again(throttled, after(throttled, outcome(at=early)), early)
    ill = lived([outcome(ToolFailureKind.NOT_SENT)] * FAILURES_TO_DEGRADE + [asked])
    healed = after(ill, outcome(at=early))
    assert not well_again(ill, healed, early)
    assert (healed.health_status, admission(healed, early)) == (MCPHealthStatus.HEALTHY, Admission.WAIT)
    assert admission(healed, late) is Admission.OPEN
    assert well_again(ill, after(probing(ill, late), outcome(at=late)), late)


def test_no_failure_cuts_a_pause_short_that_the_server_asked_for() -> None:
    asked = outcome(ToolFailureKind.THROTTLED, retry_after_ms=600_000, http_status=429)
    late = START + timedelta(minutes=10)
    for failures in range(1, FAILURES_TO_DEGRADE + 2):
        history = [asked, *[outcome(ToolFailureKind.SERVER_ERROR, retry_after_ms=1_000)] * failures]
        assert lived(history).backoff_until == late


def test_an_answer_to_what_was_sent_before_leaves_the_pause_that_a_server_asked_for() -> None:
    asked = lived([outcome(), outcome(ToolFailureKind.THROTTLED, retry_after_ms=600_000, http_status=429)])
    early = START + timedelta(seconds=5)
    answered = after(asked, outcome(at=early))
    assert answered.backoff_until == asked.backoff_until
    assert answered.throttle_state == asked.throttle_state
    assert admission(answered, early) is Admission.WAIT
    over = START + timedelta(minutes=10)
    healed = after(answered, outcome(at=over))
    assert (healed.backoff_until, healed.throttle_state.state) == (None, MCPThrottle.NONE)
