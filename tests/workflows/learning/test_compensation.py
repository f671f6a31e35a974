"""The stack of undos of a saga: reverse order, every undo is tried, even while the workflow is cancelled."""

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
from temporalio import workflow
from temporalio.client import WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError, CancelledError
from temporalio.testing import TimeSkipper
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from workflows.learning.install_saga_workflow import CompensationStack

pytestmark = [pytest.mark.anyio, pytest.mark.everyday]


@workflow.defn
class Undoing:
    """Pushes steps and unwinds them; undoing the steps in ``failing`` fails, each undo waits until it may go on."""

    def __init__(self) -> None:
        self._undone: list[str] = []
        self._free = False
        self._cancelled = False

    @workflow.run
    async def run(self, steps: list[str], failing: list[str]) -> dict[str, list[str]]:
        async def undo(step: str) -> None:
            await workflow.wait_condition(lambda: self._free)
            if step in failing:
                raise ApplicationError("the undo failed")
            self._undone.append(step)

        stack = CompensationStack(undo)
        for step in steps:
            stack.push(step)
        try:
            failed = await stack.unwind()
        except asyncio.CancelledError:
            self._cancelled = True
            await workflow.wait_condition(lambda: len(self._undone) == len(steps))
            raise
        again = await stack.unwind()
        return {"undone": self._undone, "failed": list(failed), "again": list(again)}

    @workflow.signal
    def go_on(self) -> None:
        self._free = True

    @workflow.update
    async def cancelled(self) -> None:
        await workflow.wait_condition(lambda: self._cancelled)

    @workflow.query
    def undone(self) -> list[str]:
        return self._undone


Handle = WorkflowHandle[Undoing, dict[str, list[str]]]


@pytest.fixture
async def queue(skipping_env: TimeSkipper) -> AsyncIterator[str]:
    name = f"compensation-{uuid4()}"
    async with Worker(
        skipping_env.client,
        task_queue=name,
        workflows=[Undoing],
        workflow_runner=UnsandboxedWorkflowRunner(),
    ):
        yield name


async def started(env: TimeSkipper, queue: str, steps: list[str], failing: list[str]) -> Handle:
    return await env.client.start_workflow(
        Undoing.run, args=[steps, failing], id=f"undoing-{uuid4()}", task_queue=queue
    )


async def unwound(env: TimeSkipper, queue: str, steps: list[str], failing: list[str]) -> dict[str, list[str]]:
    handle = await started(env, queue, steps, failing)
    await handle.signal(Undoing.go_on)
    return await handle.result()


async def test_steps_are_undone_in_reverse_and_only_once(skipping_env: TimeSkipper, queue: str) -> None:
    found = await unwound(skipping_env, queue, ["a", "b", "c"], [])
    assert found == {"undone": ["c", "b", "a"], "failed": [], "again": []}


async def test_an_undo_that_fails_is_returned_and_does_not_stop_the_others(
    skipping_env: TimeSkipper, queue: str
) -> None:
    found = await unwound(skipping_env, queue, ["a", "b", "c"], ["b"])
    assert found == {"undone": ["c", "a"], "failed": ["b"], "again": []}


async def test_without_a_step_nothing_is_undone(skipping_env: TimeSkipper, queue: str) -> None:
    assert await unwound(skipping_env, queue, [], []) == {"undone": [], "failed": [], "again": []}


async def test_a_cancel_while_it_unwinds_does_not_stop_the_undos(
    skipping_env: TimeSkipper, queue: str
) -> None:
    handle = await started(skipping_env, queue, ["a", "b"], [])
    assert await handle.query(Undoing.undone) == []
    await handle.cancel()
    await handle.execute_update(Undoing.cancelled)
    await handle.signal(Undoing.go_on)
    with pytest.raises(WorkflowFailureError) as failure:
        await handle.result()
    assert isinstance(failure.value.cause, CancelledError)
    assert await handle.query(Undoing.undone) == ["b", "a"]
