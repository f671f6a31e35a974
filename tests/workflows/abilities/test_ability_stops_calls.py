"""A command that takes an ability out of use is answered soon, and its workflow stays until no call is left."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import uuid4

import anyio
import pytest
from temporalio import activity
from temporalio.client import WithStartWorkflowOperation, WorkflowExecutionStatus, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.exceptions import ApplicationError
from temporalio.testing import TimeSkipper
from temporalio.worker import Worker

from contracts.abilities.availability import AbilityLifecycleAction as Action
from contracts.abilities.availability import AbilityState, InstallLane
from contracts.abilities.lifecycle import AbilityOrder, AbilityReceipt
from contracts.mcp.dispatch_work import StopCallsOrder
from contracts.platform.commands import CommitKey
from stores.platform.canonical import digest_of
from tests.fixtures.checked_once import CheckedOnce
from tests.replay.test_replay import replayer
from worker.composition import sandboxed
from workflows.abilities.ability_messages import AbilityEnd, AbilityStart
from workflows.abilities.ability_workflow import TAKES_OUT_OF_USE, AbilityWorkflow

pytestmark = pytest.mark.anyio

ABILITY = "learned.report"
STATES = {
    Action.DEACTIVATE: AbilityState.DEACTIVATED,
    Action.QUARANTINE: AbilityState.QUARANTINED,
    Action.ARCHIVE: AbilityState.ARCHIVED,
}


@dataclass
class Desk:
    """An ability's commands with a worker whose calls stop when the test says so."""

    env: TimeSkipper
    task_queue: str = field(default_factory=lambda: f"test-{uuid4()}")
    asked_to_stop: list[StopCallsOrder] = field(default_factory=list)
    reachable: bool = True

    @property
    def handle(self) -> WorkflowHandle[AbilityWorkflow, AbilityEnd]:
        """The ability's workflow."""
        return self.env.client.get_workflow_handle_for(AbilityWorkflow.run, self.task_queue)

    @activity.defn(name="command_ability")
    async def command_ability(self, order: AbilityOrder) -> AbilityReceipt:
        """Every command is taken."""
        return AbilityReceipt(
            ability_id=order.ability_id,
            action=order.action,
            state=STATES.get(order.action, AbilityState.ACTIVE),
            enabled=True,
            install_lane=InstallLane.APPROVED_WORKSPACE,
            version=1,
            content_hash=digest_of("content"),
        )

    @activity.defn(name="stop_calls")
    async def stop_calls(self, order: StopCallsOrder) -> int:
        """A call that cannot be reached, until it can."""
        self.asked_to_stop.append(order)
        if not self.reachable:
            raise ApplicationError("1 of 1 calls still run or wait.", type="CALLS_STILL_OPEN")
        return 1

    async def command(self, action: Action) -> AbilityReceipt:
        """One command, answered."""
        order = AbilityOrder(
            commit_key=CommitKey(owner_user_id="alice", key=str(uuid4()), request_digest=digest_of("x")),
            correlation_id="test",
            ability_id=ABILITY,
            action=action,
            caller_user_id="alice",
        )
        start = WithStartWorkflowOperation(
            AbilityWorkflow.run,
            AbilityStart(ability_id=ABILITY),
            id=self.task_queue,
            task_queue=self.task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        )
        with anyio.fail_after(30):
            return await self.env.client.execute_update_with_start_workflow(
                AbilityWorkflow.command, order, start_workflow_operation=start
            )

    async def is_open(self) -> bool:
        """Whether the workflow runs."""
        return (await self.handle.describe()).status is WorkflowExecutionStatus.RUNNING

    async def answered(self) -> int:
        """How many commands the run has answered, once it has closed; it can be replayed."""
        with anyio.fail_after(30):
            end = await self.handle.result()
        await replayer([AbilityWorkflow]).replay_workflow(await self.handle.fetch_history())
        return end.answered


@pytest.fixture
async def desk(skipping_env: TimeSkipper) -> AsyncIterator[Desk]:
    """A worker with the workflow and these activities."""
    found = Desk(skipping_env)
    async with Worker(
        skipping_env.client,
        task_queue=found.task_queue,
        workflows=[AbilityWorkflow],
        activities=[found.command_ability, found.stop_calls],
        workflow_runner=sandboxed(CheckedOnce),
    ):
        yield found


async def test_the_calls_of_an_ability_are_stopped_by_every_command_that_takes_it_out_of_use_and_no_other(
    desk: Desk,
) -> None:
    for action in Action:
        asked = len(desk.asked_to_stop)
        receipt = await desk.command(action)
        assert await desk.answered() == 1
        new = desk.asked_to_stop[asked:]
        assert [(one.ability_id, one.by, one.reason) for one in new] == (
            [(ABILITY, "alice", f"the ability was {receipt.state.value}")]
            if action in TAKES_OUT_OF_USE
            else []
        )


@pytest.mark.thorough
async def test_a_call_that_cannot_be_reached_keeps_nobody_waiting_and_is_tried_until_it_can(
    desk: Desk,
) -> None:
    desk.reachable = False
    assert (await desk.command(Action.QUARANTINE)).state is AbilityState.QUARANTINED
    assert await desk.is_open()
    # The next command has its turn at once, in the same run.
    await desk.command(Action.UNQUARANTINE)
    assert await desk.is_open()
    with anyio.fail_after(30):
        while len(desk.asked_to_stop) < 3:
            await desk.env.fast_forward(desk.handle, timedelta(seconds=30))
            await anyio.sleep(0.05)
    desk.reachable = True
    with anyio.fail_after(30):
        while await desk.is_open():
            await desk.env.fast_forward(desk.handle, timedelta(seconds=30))
            await anyio.sleep(0.05)
    assert await desk.answered() == 2
    assert len({one.until for one in desk.asked_to_stop}) == 1
