"""Which calls are told that their server is well again, and who finds that out; on both databases."""

from datetime import datetime, timedelta

import pytest

from contracts.mcp.dispatch_work import CallEnd, DispatchStanding
from contracts.mcp.health import MCPConnectionOutcome
from contracts.mcp.tools import ToolFailure, ToolFailureKind
from domain.mcp.health import FAILURES_TO_DEGRADE
from stores.mcp.dispatch.attempt_rows import CallPlan
from stores.mcp.dispatch.reads import HeldCalls
from stores.mcp.servers.health import HealthStore
from stores.platform.database import Database
from tests.stores.mcp.call_desk import ANSWER, CallDesk, now

THROTTLED = ToolFailure(kind=ToolFailureKind.THROTTLED, message="slow down", retry_after_ms=60_000)
GONE = ToolFailure(kind=ToolFailureKind.NOT_SENT, message="no connection")
FAILING = ToolFailure(kind=ToolFailureKind.SERVER_ERROR, message="failing", retry_after_ms=60_000)
LATER = timedelta(hours=1)


@pytest.fixture
def desk(store: Database) -> CallDesk:
    return CallDesk(store)


def met(desk: CallDesk, failure: ToolFailure | None, at: datetime) -> str | None:
    outcome = MCPConnectionOutcome(happened_at=at, failure=failure)
    return HealthStore(desk.store).take_in(desk.server_id, "alice", outcome, "probe").well_again


def degraded(desk: CallDesk) -> None:
    for _ in range(FAILURES_TO_DEGRADE):
        assert met(desk, FAILING, now()) is None


def held(desk: CallDesk) -> DispatchStanding:
    call = desk.asked("read_line")
    assert isinstance(desk.attempts.plan(desk.order(call), now()), CallEnd)
    return call


def test_the_oldest_calls_that_a_degraded_server_holds_back_are_found_and_no_others(store: Database) -> None:
    desk, other = CallDesk(store), CallDesk(store)
    running, waiting = desk.asked("read_line"), desk.asked("append_line")
    degraded(desk)
    degraded(other)
    mine, theirs = [held(desk) for _ in range(3)], held(other)
    calls = HeldCalls(store)
    assert calls.of_server(desk.server_id, 9) == tuple(one.dispatch_id for one in mine)
    assert calls.of_server(desk.server_id, 2) == tuple(one.dispatch_id for one in mine[:2])
    assert calls.of_server(other.server_id, 9) == (theirs.dispatch_id,)
    assert {running.dispatch_id, waiting.dispatch_id}.isdisjoint(calls.of_server(desk.server_id, 9))
    assert calls.of_server("unknown", 9) == ()


def test_a_call_that_could_not_be_sent_is_found_and_one_that_was_told_when_to_come_back_is_not(
    desk: CallDesk,
) -> None:
    unsent, told = desk.asked("read_line"), desk.asked("read_line")
    for call, failure in ((unsent, GONE), (told, THROTTLED)):
        desk.planned(call)
        desk.attempts.failed(desk.order(call), failure, now(), signed_in=False)
        met(desk, None, now())
    assert HeldCalls(desk.store).of_server(desk.server_id, 9) == (unsent.dispatch_id,)


def test_a_good_contact_finds_the_degraded_server_well_once_and_lets_everybody_pass(desk: CallDesk) -> None:
    degraded(desk)
    calls = HeldCalls(desk.store)
    assert not calls.may_go(desk.server_id, now())
    assert met(desk, None, now()) == desk.server_id
    assert calls.may_go(desk.server_id, now())
    assert met(desk, None, now()) is None
    met(desk, THROTTLED, now())
    assert not calls.may_go(desk.server_id, now())
    assert met(desk, None, now()) is None


def test_the_one_call_that_a_half_open_server_answers_or_refuses_says_that_it_is_well(
    store: Database,
) -> None:
    for failure in (None, ToolFailure(kind=ToolFailureKind.REFUSED_BY_SERVER, message="no such line")):
        desk = CallDesk(store)
        degraded(desk)
        call = desk.asked("read_line")
        plan = desk.attempts.plan(desk.order(call), now() + LATER)
        assert isinstance(plan, CallPlan)
        desk.attempts.begin(desk.order(call), plan, now() + LATER)
        if failure is None:
            end = desk.attempts.answered(desk.order(call), ANSWER, now() + LATER, signed_in=False)
        else:
            end = desk.attempts.failed(desk.order(call), failure, now() + LATER, signed_in=False)
        assert end.well_again == desk.server_id
