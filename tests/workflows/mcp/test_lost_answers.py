"""Answers that the store has and the workflow does not: their update was lost before it reached the history."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import anyio
import pytest
from temporalio.testing import TimeSkipper

from contracts.errors import Refusal
from contracts.mcp.dispatch import AskFirstDecision, MCPAskFirstDecisionRequest
from contracts.mcp.dispatch_work import DecideOrder
from contracts.platform.commands import CommitKey
from stores.mcp.dispatch.decisions import DispatchDecisions
from stores.platform.canonical import digest_of
from tests.fixtures.dispatch_arena import OWNER, Arena, arena
from tests.fixtures.stack import stack_settings
from worker import recovery

pytestmark = pytest.mark.anyio

APPROVE, DENY = AskFirstDecision.APPROVE_ONCE, AskFirstDecision.DENY


@pytest.fixture
async def running(tmp_path: Path, skipping_env: TimeSkipper) -> AsyncIterator[Arena]:
    async with arena(stack_settings(tmp_path), skipping_env.client) as here:
        yield here


async def lost_answer(running: Arena, decision: AskFirstDecision) -> tuple[str, CommitKey]:
    """A call that waits, whose answer was written; its workflow has heard nothing of that."""
    dispatch_id = await running.ask()
    key = CommitKey(owner_user_id=OWNER, key=str(uuid4()), request_digest=digest_of(""))
    order = DecideOrder(dispatch_id=dispatch_id, commit_key=key, decision=decision, decided_by=OWNER)
    decisions = DispatchDecisions(running.database, ask_first_expiry=timedelta(minutes=5))
    await anyio.to_thread.run_sync(decisions.decide, order)
    return dispatch_id, key


async def made(running: Arena, dispatch_id: str) -> bool:
    """Whether the call was made, once it has ended."""
    with anyio.fail_after(30):
        await running.workflow(dispatch_id).result()
    assert running.view(dispatch_id).status.value == ("completed" if running.tool.effects else "denied")
    return running.tool.effects[dispatch_id] == 1


@pytest.mark.parametrize("decision", [APPROVE, DENY])
async def test_repeating_the_request_tells_the_workflow(running: Arena, decision: AskFirstDecision) -> None:
    dispatch_id, key = await lost_answer(running, decision)
    asked = MCPAskFirstDecisionRequest(decision=decision)
    taken = await running.gateway.decide(dispatch_id, asked, running.caller, key)
    assert taken.resumed is (decision is APPROVE)
    assert await made(running, dispatch_id) is (decision is APPROVE)


async def test_a_later_answer_that_the_store_refuses_tells_the_workflow(running: Arena) -> None:
    dispatch_id, _ = await lost_answer(running, APPROVE)
    late = DecideOrder(
        dispatch_id=dispatch_id,
        commit_key=CommitKey(owner_user_id=OWNER, key="late", request_digest=digest_of("")),
        decision=DENY,
        decided_by=OWNER,
    )
    with pytest.raises(Exception, match="Workflow update failed") as refused:
        await running.workflow(dispatch_id).execute_update("decide", late)  # pyright: ignore[reportUnknownMemberType]
    assert "approved once" in str(refused.value.__cause__)
    assert await made(running, dispatch_id)


async def test_an_approval_in_time_is_not_overtaken_by_the_deadline(
    running: Arena, skipping_env: TimeSkipper
) -> None:
    dispatch_id, _ = await lost_answer(running, APPROVE)
    await skipping_env.fast_forward(running.workflow(dispatch_id), timedelta(minutes=31))
    assert await made(running, dispatch_id)


@pytest.mark.parametrize("at_start", [True, False])
async def test_a_worker_tells_the_workflow(
    running: Arena, monkeypatch: pytest.MonkeyPatch, at_start: bool
) -> None:
    settings = running.settings
    dispatch_id, _ = await lost_answer(running, APPROVE)
    if at_start:
        await recovery.recover_dispatches(running.client, settings, running.database)
    else:
        told = await recovery.tell_unheard_answers(running.client, settings, running.database)
        assert told == 0, "an answer that was just given is on its way"
        monkeypatch.setattr(recovery, "UNHEARD_AFTER", timedelta())
        await recovery.tell_unheard_answers(running.client, settings, running.database)
    assert await made(running, dispatch_id)


async def test_who_comes_too_late_is_told_what_the_store_has(running: Arena) -> None:
    dispatch_id, _ = await lost_answer(running, APPROVE)
    with pytest.raises(Refusal) as refused:
        await running.decide(dispatch_id, DENY)
    assert refused.value.extra["decision"] == "approved_once"
