"""Whoever races for a call, one wins, the journal shows who, and nothing is sent that was forbidden first."""

import random
import threading
from collections.abc import Callable

import pytest

from contracts.errors import ErrorCode, Refusal
from contracts.mcp.dispatch import AskFirstDecision, DispatchStatus, MCPGrant
from contracts.mcp.dispatch_work import CallEnd, DispatchStanding
from contracts.mcp.receipts import MCPReceiptKind
from stores.mcp.dispatch.attempt_rows import Stopped
from stores.mcp.policy.grants import GrantStore, grant_of_dispatch
from stores.mcp.receipts import ReceiptReads
from stores.platform.database import Database
from tests.fixtures.thoroughness import times
from tests.stores.mcp.call_desk import CallDesk, now
from tests.stores.mcp.registrations import key, told

RUNS = times(250)
"""Of each race: a thousand in all, on SQLite."""

LATE = {ErrorCode.MCP_ASK_FIRST_DECIDED, ErrorCode.MCP_ASK_FIRST_EXPIRED, ErrorCode.CONFLICT}


@pytest.fixture
def desk(sqlite_store: Database) -> CallDesk:
    return CallDesk(sqlite_store)


def at_once(seed: int, *deeds: Callable[[], object]) -> list[object]:
    """Has every deed done in a thread of its own, in an order of the seed; what each came to."""
    order = random.Random(seed).sample(range(len(deeds)), len(deeds))
    came_to: list[object] = [None] * len(deeds)
    gate = threading.Barrier(len(deeds))

    def run(index: int) -> None:
        gate.wait()
        try:
            came_to[index] = deeds[index]()
        except (Refusal, Stopped) as refused:
            came_to[index] = refused

    threads = [threading.Thread(target=run, args=(index,)) for index in order]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return came_to


def decided(desk: CallDesk, call: DispatchStanding) -> int:
    """How many decisions the journal knows of a call."""
    newest = ReceiptReads(desk.store).newest("alice", 10).receipts
    return sum(
        one.dispatch_id == call.dispatch_id and one.receipt_kind is MCPReceiptKind.ASK_FIRST_DECISION
        for one in newest
    )


def given(desk: CallDesk, call: DispatchStanding) -> MCPGrant:
    """The standing approval that came with the answer about a call."""
    with desk.store.write() as connection:
        found = grant_of_dispatch(connection, call.dispatch_id, "alice")
    assert found is not None
    return found


def test_approve_against_deny_has_one_winner(desk: CallDesk) -> None:
    for seed in range(RUNS):
        call = desk.asked()
        approved, denied = at_once(
            seed,
            lambda call=call: desk.decide(call, AskFirstDecision.APPROVE_ONCE),
            lambda call=call: desk.decide(call, AskFirstDecision.DENY),
        )
        status = desk.record(call).status
        assert isinstance(approved, Refusal) != isinstance(denied, Refusal)
        assert status is (DispatchStatus.DENIED if isinstance(approved, Refusal) else DispatchStatus.RUNNING)
        assert decided(desk, call) == 1


def test_of_two_approvers_one_wins_and_the_other_learns_who(desk: CallDesk) -> None:
    for seed in range(RUNS):
        call = desk.asked()
        came = at_once(
            seed,
            lambda call=call: desk.decide(call, AskFirstDecision.APPROVE_ONCE, by="alice"),
            lambda call=call: desk.decide(call, AskFirstDecision.APPROVE_ONCE, by="bob"),
        )
        lost = [one for one in came if isinstance(one, Refusal)]
        assert len(lost) == 1
        assert lost[0].code is ErrorCode.MCP_ASK_FIRST_DECIDED
        waiting = desk.record(call).ask_first
        assert waiting is not None
        assert lost[0].extra["decided_by"] == waiting.approved_by
        assert decided(desk, call) == 1


def test_approve_against_the_deadline_has_one_winner(desk: CallDesk) -> None:
    for seed in range(RUNS):
        call = desk.asked()
        approved, _ = at_once(
            seed,
            lambda call=call: desk.decide(call, AskFirstDecision.APPROVE_ONCE),
            lambda call=call: desk.expire(call),
        )
        status = desk.record(call).status
        if isinstance(approved, Refusal):
            assert (status, approved.code in LATE) == (DispatchStatus.EXPIRED, True)
        else:
            assert status is DispatchStatus.RUNNING
        assert decided(desk, call) == 1


def test_a_grant_taken_back_as_a_call_is_sent_is_before_it_or_after_it(desk: CallDesk) -> None:
    grants = GrantStore(desk.store)
    for seed in range(RUNS):
        session = f"s{seed}"
        first = desk.asked(session_ref=session)
        desk.decide(first, AskFirstDecision.APPROVE_FOR_SESSION)
        second = desk.asked(session_ref=session)
        plan = desk.planned(second)
        grant = given(desk, first)
        sent, _ = at_once(
            seed,
            lambda second=second, plan=plan: desk.attempts.begin(desk.order(second), plan, now()),
            lambda grant=grant: grants.revoke(grant.grant_id, key(), told()),
        )
        record = desk.record(second)
        used = given(desk, first).used
        if isinstance(sent, Stopped):
            assert isinstance(sent.end, CallEnd)
            assert (record.status, record.attempts, used) == (DispatchStatus.PENDING_APPROVAL, 0, 0)
        else:
            assert (record.status, record.attempts, used) == (DispatchStatus.RUNNING, 1, 1)
