"""Decisions of a session that the store has and its workflow does not: their update was lost on its way."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest
from temporalio.client import WorkflowUpdateFailedError
from temporalio.testing import TimeSkipper

from contracts.learning.lifecycle import LearningLifecycleEvent
from contracts.learning.session import LearnSessionState
from contracts.platform.commands import CommitKey
from contracts.workflow_ids import learn_session_id
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack, running_stack, stack_settings
from worker.recovery import recover_sessions
from workflows.learning.learn_session_messages import LearnCommand, StartCommand
from workflows.learning.session_decision import SessionDecision

pytestmark = pytest.mark.anyio


@pytest.fixture
async def skipping(tmp_path: Path, skipping_env: TimeSkipper) -> AsyncIterator[Stack]:
    async with running_stack(stack_settings(tmp_path), skipping_env.client) as stack:
        yield stack


def key_of(name: str) -> CommitKey:
    return CommitKey(owner_user_id="alice", key=name, request_digest="0" * 64)


async def armed_and_begun_in_the_store_alone(stack: Stack) -> Learner:
    """Its learner; the key of the lost command is ``lost``."""
    alice = stack.learner()
    await alice.create()
    aggregate = stack.services.sessions.owned(alice.session_id, "alice")
    message = StartCommand(commit_key=key_of("lost"), correlation_id="lost")
    decision = SessionDecision(aggregate, datetime.now(UTC))
    decision.go(LearnSessionState.CAPTURING, LearningLifecycleEvent.CAPTURE_STARTED)
    stack.services.sessions.commit(decision.commit(message, learn_session_id(alice.session_id)))
    return alice


async def paused_by_the_workflow(stack: Stack, learner: Learner) -> None:
    """Returns once the workflow takes a command that only a session which captures takes."""
    handle = stack.client.get_workflow_handle(learn_session_id(learner.session_id))
    with anyio.fail_after(30):
        while await learner.state() != "paused":
            try:
                message = LearnCommand(commit_key=key_of("pause"), correlation_id="pause")
                await handle.execute_update("pause", message)  # pyright: ignore[reportUnknownMemberType]
            except WorkflowUpdateFailedError:
                await anyio.sleep(0.02)


async def test_a_command_that_fits_the_store_is_taken_by_a_workflow_that_is_behind(stack: Stack) -> None:
    alice = await armed_and_begun_in_the_store_alone(stack)
    assert (await alice.act("pause"))["session"]["state"] == "paused"


async def test_a_refused_decision_has_the_run_go_on_from_the_store(stack: Stack) -> None:
    alice = await armed_and_begun_in_the_store_alone(stack)
    handle = stack.client.get_workflow_handle(learn_session_id(alice.session_id))
    run = (await handle.describe()).run_id
    with pytest.raises(WorkflowUpdateFailedError):
        await handle.execute_update("start", StartCommand(commit_key=key_of("old"), correlation_id="old"))  # pyright: ignore[reportUnknownMemberType]
    await paused_by_the_workflow(stack, alice)
    assert (await handle.describe()).run_id == run


@pytest.mark.parametrize("by", ["gateway", "worker"])
async def test_a_workflow_is_told_that_the_store_knows_more(stack: Stack, by: str) -> None:
    alice = await armed_and_begun_in_the_store_alone(stack)
    if by == "gateway":
        again = StartCommand(commit_key=key_of("lost"), correlation_id="again")
        await stack.services.gateway.capture_began(alice.session_id, again)
    else:
        assert await recover_sessions(stack.client, stack.settings, stack.database) == 1
    await paused_by_the_workflow(stack, alice)


async def test_a_deadline_of_an_older_state_does_not_end_the_run(
    skipping: Stack, skipping_env: TimeSkipper
) -> None:
    alice = await armed_and_begun_in_the_store_alone(skipping)
    handle = skipping.client.get_workflow_handle(learn_session_id(alice.session_id))
    await skipping_env.fast_forward(handle, timedelta(minutes=61))
    assert await alice.state() == "capturing"
    await skipping_env.fast_forward(handle, timedelta(hours=4))
    assert await alice.settled("capturing") == "paused"
