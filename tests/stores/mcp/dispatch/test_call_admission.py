"""What a call does while its server is in a pause: it is held back, goes alone, or is given up; on both databases."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest

from contracts.mcp.dispatch import AskFirstDecision, DispatchStatus
from contracts.mcp.dispatch_work import CallEnd, DispatchStanding
from contracts.mcp.health import MCPConnectionOutcome
from contracts.mcp.tools import ToolFailure, ToolFailureKind
from domain.mcp.call_outcomes import MOST_HELD_DEGRADED
from domain.mcp.health import FAILURES_TO_DEGRADE
from stores.mcp.dispatch.attempt_rows import CallPlan, PlanOutdated, Stopped
from stores.mcp.dispatch.reads import DispatchStore
from stores.mcp.policy.grants import GrantStore
from stores.mcp.servers.health import HealthStore
from stores.mcp.servers.server_rows import replace_server, server_of
from stores.platform.database import Database
from tests.stores.mcp.call_desk import ANSWER, CallDesk, now

THROTTLED = ToolFailure(kind=ToolFailureKind.THROTTLED, message="slow down", retry_after_ms=60_000)
GONE = ToolFailure(kind=ToolFailureKind.NOT_SENT, message="no connection")
LATER = timedelta(hours=1)


@pytest.fixture
def desk(store: Database) -> CallDesk:
    return CallDesk(store)


def met(desk: CallDesk, failure: ToolFailure, at: datetime) -> None:
    """Somebody else met this at the server."""
    outcome = MCPConnectionOutcome(happened_at=at, failure=failure)
    HealthStore(desk.store).record(desk.server_id, "alice", outcome)


def degraded(desk: CallDesk, at: datetime) -> None:
    for _ in range(FAILURES_TO_DEGRADE):
        met(desk, GONE, at)


def planned(
    desk: CallDesk, call: DispatchStanding, at: datetime, attempt: int = 1, lease: datetime | None = None
) -> CallPlan | CallEnd:
    return desk.attempts.plan(desk.order(call, attempt), at, lease)


def test_a_call_of_a_throttled_server_waits_until_it_may_go_and_counts_no_attempt(desk: CallDesk) -> None:
    at = now()
    met(desk, THROTTLED, at)
    call = desk.asked("read_line")
    held = planned(desk, call, at + timedelta(seconds=20))
    assert isinstance(held, CallEnd)
    assert held.standing.status is DispatchStatus.RUNNING
    assert held.again_after_ms is not None
    assert 40_000 <= held.again_after_ms <= 44_000
    view = DispatchStore(desk.store).view(call.dispatch_id, "alice", now())
    assert view.waits_until is not None
    assert timedelta(seconds=60) <= view.waits_until - at <= timedelta(seconds=64)
    assert view.attempts == 0
    assert view.error_message is not None
    assert "patience" in view.error_message
    plan = planned(desk, call, at + timedelta(seconds=60))
    assert isinstance(plan, CallPlan)
    desk.attempts.begin(desk.order(call), plan, at + timedelta(seconds=60))
    sent = DispatchStore(desk.store).view(call.dispatch_id, "alice", now())
    assert (sent.attempts, sent.waits_until, sent.error_message) == (1, None, None)


def test_a_server_that_asks_for_patience_between_plan_and_sending_is_left_alone(desk: CallDesk) -> None:
    at = now()
    call = desk.asked("read_line")
    plan = desk.planned(call)
    met(desk, THROTTLED, at)
    with pytest.raises(Stopped) as stopped:
        desk.attempts.begin(desk.order(call), plan, at)
    assert stopped.value.end.again_after_ms is not None
    assert 60_000 <= stopped.value.end.again_after_ms <= 65_000
    assert desk.record(call).attempts == 0


def test_a_standing_approval_is_not_used_up_by_a_call_that_is_held_back(desk: CallDesk) -> None:
    at = now()
    first = desk.asked(session_ref="s1")
    desk.decide(first, AskFirstDecision.APPROVE_FOR_SESSION)
    second = desk.asked(session_ref="s1")
    plan = desk.planned(second)
    met(desk, THROTTLED, at)
    with pytest.raises(Stopped):
        desk.attempts.begin(desk.order(second), plan, at)
    assert GrantStore(desk.store).list_for("alice", now()).grants[0].used == 0
    desk.attempts.begin(desk.order(second), plan, at + timedelta(minutes=1))
    assert GrantStore(desk.store).list_for("alice", now()).grants[0].used == 1


def test_an_approved_call_outlives_the_pause_with_its_approval(desk: CallDesk) -> None:
    at = now()
    met(desk, THROTTLED, at)
    call = desk.asked()
    desk.decide(call, AskFirstDecision.APPROVE_ONCE)
    assert isinstance(planned(desk, call, at), CallEnd)
    assert isinstance(planned(desk, call, at + LATER), CallPlan)


def test_the_calls_of_another_server_are_not_held_back(store: Database) -> None:
    ill, well = CallDesk(store), CallDesk(store)
    degraded(ill, now())
    met(ill, THROTTLED, now())
    assert isinstance(planned(well, well.asked("read_line"), now()), CallPlan)


def test_of_twenty_calls_at_once_a_half_open_server_gets_one(desk: CallDesk) -> None:
    at = now()
    degraded(desk, at)
    calls = [desk.asked("read_line") for _ in range(20)]
    with ThreadPoolExecutor(20) as pool:
        found = list(pool.map(lambda call: planned(desk, call, at + LATER), calls))
    (first,) = [one for one in found if isinstance(one, CallPlan)]
    call = next(one for one in calls if one.dispatch_id == first.record.dispatch_id)
    desk.attempts.begin(desk.order(call), first, at + LATER)
    others = [one for one in calls if one is not call]
    assert isinstance(planned(desk, others[0], at + LATER + timedelta(seconds=80)), CallEnd)
    desk.attempts.answered(desk.order(call), ANSWER, at + LATER + timedelta(seconds=81), signed_in=False)
    after = at + LATER + timedelta(seconds=82)
    assert all(isinstance(planned(desk, one, after), CallPlan) for one in others)


def test_a_half_open_server_whose_one_call_is_lost_gets_the_next_one(desk: CallDesk) -> None:
    at = now()
    degraded(desk, at)
    calls = [desk.asked("read_line") for _ in range(3)]
    assert isinstance(planned(desk, calls[0], at + LATER), CallPlan)
    lost = at + LATER + timedelta(seconds=90)
    found = [planned(desk, one, lost) for one in calls[1:]]
    assert [isinstance(one, CallPlan) for one in found] == [True, False]


def test_who_has_the_turn_keeps_it_when_the_plan_is_made_anew(desk: CallDesk) -> None:
    at = now()
    degraded(desk, at)
    call = desk.asked("read_line")
    plan = planned(desk, call, at + LATER)
    assert isinstance(plan, CallPlan)
    with desk.store.write() as connection:
        entry = server_of(connection, desk.server_id, "alice")
        replace_server(connection, entry.changed(display_name="Moved"))
    with pytest.raises(PlanOutdated):
        desk.attempts.begin(desk.order(call), plan, at + LATER)
    again = planned(desk, call, at + LATER, lease=plan.lease)
    assert isinstance(again, CallPlan)
    desk.attempts.begin(desk.order(call), again, at + LATER)


def test_a_call_that_a_degraded_server_keeps_waiting_fails_in_the_end_unsent(desk: CallDesk) -> None:
    at = now()
    degraded(desk, at)
    call = desk.asked()
    desk.decide(call, AskFirstDecision.APPROVE_ONCE)
    # A failure at the very instant opens a new pause, of random length: at its start it is always open.
    prober = desk.asked("read_line")
    start = at + LATER
    assert isinstance(planned(desk, prober, start), CallPlan)
    assert isinstance(planned(desk, call, start), CallEnd)
    late = start + MOST_HELD_DEGRADED
    assert isinstance(planned(desk, prober, late, 1), CallPlan)
    assert isinstance(planned(desk, call, late), CallEnd)
    view = DispatchStore(desk.store).view(call.dispatch_id, "alice", now())
    assert (view.status, view.error_code) == (DispatchStatus.FAILED, "MCP_SERVER_UNREACHABLE")
    assert view.next_action is not None
    assert "smoke test" in view.next_action
    assert (view.attempts, view.waits_until) == (0, None)


def test_a_call_that_was_told_when_to_come_back_is_not_made_before_whatever_has_it_look_again(
    desk: CallDesk,
) -> None:
    call = desk.asked("read_line")
    desk.sent(call)
    told = desk.attempts.failed(desk.order(call), THROTTLED, now(), signed_in=False)
    until = told.standing.waits_until
    assert until is not None
    # An answer to what was sent before lets others pass.
    HealthStore(desk.store).record(desk.server_id, "alice", MCPConnectionOutcome(happened_at=now()))
    early = planned(desk, call, until - timedelta(seconds=20), attempt=2)
    assert isinstance(early, CallEnd)
    assert (early.again_after_ms, early.standing.waits_until, early.standing.attempts) == (20_000, until, 1)
    assert isinstance(planned(desk, call, until, attempt=2), CallPlan)


def test_calls_told_of_by_the_same_retry_after_do_not_come_back_at_once(desk: CallDesk) -> None:
    at = now()
    calls = [desk.asked("read_line") for _ in range(10)]
    for call in calls:
        desk.sent(call)
    ends = [desk.attempts.failed(desk.order(call), THROTTLED, at, signed_in=False) for call in calls]
    pauses = {end.again_after_ms or 0 for end in ends}
    assert len(pauses) > 5
    assert min(pauses) >= 60_000
    assert max(pauses) <= 65_000
