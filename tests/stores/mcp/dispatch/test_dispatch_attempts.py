"""Attempts of a call: whoever is late, lost or doubled, nothing is sent twice."""

from datetime import timedelta

import pytest

from contracts.errors import ErrorCode, Refusal
from contracts.mcp.dispatch import AskFirstDecision, DispatchStatus
from contracts.mcp.dispatch_work import CallEnd
from contracts.mcp.tools import MCPToolDefinition, ToolFailure, ToolFailureKind
from stores.mcp.dispatch.attempt_rows import AttemptClosed, CallPlan, PlanOutdated, Stopped
from stores.mcp.dispatch.reads import DispatchStore
from stores.mcp.policy.grants import GrantStore
from stores.mcp.servers.server_rows import replace_server, server_of
from stores.mcp.servers.tools import ToolStore
from stores.platform.database import Database
from tests.stores.mcp.call_desk import ANSWER, CallDesk, now
from tests.stores.mcp.registrations import key, told

RUNNING, UNKNOWN = DispatchStatus.RUNNING, DispatchStatus.OUTCOME_UNKNOWN


@pytest.fixture
def desk(store: Database) -> CallDesk:
    return CallDesk(store)


def test_an_attempt_that_was_never_sent_is_made_again_and_the_slow_worker_may_not(desk: CallDesk) -> None:
    call = desk.asked("read_line")
    plan = desk.planned(call)
    assert desk.inspected(call) == (RUNNING, True)
    with pytest.raises(AttemptClosed):
        desk.attempts.begin(desk.order(call), plan, now())
    desk.sent(call, 2)
    assert desk.attempts.answered(desk.order(call, 2), ANSWER, now(), signed_in=False).standing.attempts == 2


def test_an_attempt_that_was_sent_and_not_heard_of_is_never_made_again(desk: CallDesk) -> None:
    call = desk.asked("read_line")
    desk.sent(call)
    assert desk.inspected(call) == (UNKNOWN, False)
    assert isinstance(desk.attempts.plan(desk.order(call, 2), now()), CallEnd)
    assert desk.record(call).error_code == "MCP_OUTCOME_UNKNOWN"


def test_a_workflow_that_forgot_an_attempt_cannot_begin_another(desk: CallDesk) -> None:
    call = desk.asked("read_line")
    desk.sent(call)
    with pytest.raises(AttemptClosed):
        desk.attempts.plan(desk.order(call, 2), now())
    assert desk.inspected(call, 2) == (UNKNOWN, False)


def test_two_workers_with_one_attempt_send_it_once(desk: CallDesk) -> None:
    call = desk.asked("read_line")
    first, second = desk.planned(call), desk.planned(call)
    desk.attempts.begin(desk.order(call), first, now())
    with pytest.raises(AttemptClosed):
        desk.attempts.begin(desk.order(call), second, now())


def test_an_answer_that_comes_after_the_call_was_given_up_changes_nothing(desk: CallDesk) -> None:
    call = desk.asked("read_line")
    desk.sent(call)
    assert desk.inspected(call, cancelled=True) == (UNKNOWN, False)
    desk.attempts.answered(desk.order(call), ANSWER, now(), signed_in=False)
    view = DispatchStore(desk.store).view(call.dispatch_id, "alice", now())
    assert (view.status, view.result) == (UNKNOWN, None)


def test_an_answer_that_was_kept_before_the_worker_died_ends_the_call(desk: CallDesk) -> None:
    call = desk.asked("read_line")
    desk.sent(call)
    desk.attempts.answered(desk.order(call), ANSWER, now(), signed_in=False)
    assert desk.inspected(call) == (DispatchStatus.COMPLETED, False)
    view = DispatchStore(desk.store).view(call.dispatch_id, "alice", now())
    assert view.result is not None
    assert view.result["structured_content"] == {"effects": 1}


def test_a_call_given_up_before_it_was_sent_is_cancelled_and_the_worker_is_stopped(desk: CallDesk) -> None:
    call = desk.asked("read_line")
    plan = desk.planned(call)
    assert desk.inspected(call, cancelled=True) == (DispatchStatus.CANCELLED, False)
    with pytest.raises(Stopped):
        desk.attempts.begin(desk.order(call), plan, now())


def test_what_failed_before_it_was_sent_is_tried_again_up_to_six_times(desk: CallDesk) -> None:
    call = desk.asked("read_line")
    unsent = ToolFailure(kind=ToolFailureKind.NOT_SENT, message="no connection")
    for attempt in range(1, 7):
        # An hour later, when no pause of the server is left.
        at = now() + attempt * timedelta(hours=1)
        assert isinstance(desk.attempts.plan(desk.order(call, attempt), at), CallPlan)
        end = desk.attempts.failed(desk.order(call, attempt), unsent, at, signed_in=False)
        assert (end.again_after_ms is None) == (attempt == 6)
    record = desk.record(call)
    assert (record.status, record.attempts) == (DispatchStatus.FAILED, 6)


def test_a_large_answer_is_read_back_whole(desk: CallDesk) -> None:
    call = desk.asked("read_line")
    desk.sent(call)
    large = ANSWER.changed(structured_content={"text": "ä" * 100_000})
    desk.attempts.answered(desk.order(call), large, now(), signed_in=False)
    view = DispatchStore(desk.store).view(call.dispatch_id, "alice", now())
    assert view.result is not None
    assert view.result["structured_content"] == {"text": "ä" * 100_000}


def test_an_approval_taken_back_before_the_call_is_sent_stops_it(desk: CallDesk) -> None:
    call = desk.asked(session_ref="s1")
    desk.decide(call, AskFirstDecision.APPROVE_FOR_SESSION)
    plan = desk.planned(call)
    grants = GrantStore(desk.store)
    (grant,) = grants.list_for("alice", now()).grants
    grants.revoke(grant.grant_id, key(), told())
    with pytest.raises(Stopped) as stopped:
        desk.attempts.begin(desk.order(call), plan, now())
    assert stopped.value.end.standing.status is DispatchStatus.BLOCKED


def test_a_call_that_a_grant_let_pass_waits_again_when_the_grant_is_taken_back(desk: CallDesk) -> None:
    first = desk.asked(session_ref="s1")
    desk.decide(first, AskFirstDecision.APPROVE_FOR_SESSION)
    second = desk.asked(session_ref="s1")
    assert second.status is RUNNING
    plan = desk.planned(second)
    grants = GrantStore(desk.store)
    (grant,) = grants.list_for("alice", now()).grants
    grants.revoke(grant.grant_id, key(), told())
    with pytest.raises(Stopped) as stopped:
        desk.attempts.begin(desk.order(second), plan, now())
    assert stopped.value.end.standing.status is DispatchStatus.PENDING_APPROVAL
    assert grants.list_for("alice", now(), include_past=True).grants[0].used == 0


def test_a_tool_that_changes_between_plan_and_sending_is_not_called(desk: CallDesk) -> None:
    call = desk.asked()
    desk.decide(call, AskFirstDecision.APPROVE_ONCE)
    plan = desk.planned(call)
    changed = (
        MCPToolDefinition(tool_name="read_line"),
        MCPToolDefinition(tool_name="append_line", description="Sends it to everybody"),
    )
    ToolStore(desk.store).take_in(desk.server_id, "alice", changed, now(), "discovery")
    with pytest.raises(Stopped):
        desk.attempts.begin(desk.order(call), plan, now())
    assert desk.record(call).error_code == ErrorCode.MCP_TOOL_CHANGED


def test_a_server_that_moves_between_plan_and_sending_is_planned_anew(desk: CallDesk) -> None:
    call = desk.asked("read_line")
    plan = desk.planned(call)
    with desk.store.write() as connection:
        entry = server_of(connection, desk.server_id, "alice")
        replace_server(connection, entry.changed(display_name="Moved"))
    with pytest.raises(PlanOutdated):
        desk.attempts.begin(desk.order(call), plan, now())
    desk.sent(call)


def test_arguments_may_not_be_answered_for_twice(desk: CallDesk) -> None:
    call = desk.asked()
    desk.decide(call, AskFirstDecision.DENY)
    with pytest.raises(Refusal) as refusal:
        desk.decide(call, AskFirstDecision.APPROVE_ONCE, by="bob")
    assert refusal.value.code is ErrorCode.MCP_ASK_FIRST_DECIDED
    assert refusal.value.extra["decided_by"] == "alice"
