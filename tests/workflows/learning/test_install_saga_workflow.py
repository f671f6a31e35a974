"""The install saga over activities in memory: all of it or nothing, and what it records when it undoes."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from temporalio import activity
from temporalio.client import WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError, CancelledError
from temporalio.testing import TimeSkipper
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from contracts.abilities.availability import InstallLane
from contracts.errors import ErrorCode
from contracts.learning.install import (
    InstallSagaInput,
    InstallSagaOutput,
    SagaClose,
    SagaState,
    SagaStepInput,
    SagaStepName,
    SagaStepOutput,
)
from workflows.learning.install_saga_workflow import InstallSagaWorkflow

pytestmark = [pytest.mark.anyio, pytest.mark.everyday]

STEPS = [step.value for step in SagaStepName]
THIRD = SagaStepName.PROJECT_WORKSPACE


def failure(kind: str) -> ApplicationError:
    return ApplicationError("the disk is full", type=kind, non_retryable=True)


class Installs:
    """Steps that only note that they were done and undone; some fail, and one waits until it is let go."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.undone: list[str] = []
        self.closed: list[tuple[SagaState, str | None]] = []
        self.fails: dict[SagaStepName, ApplicationError] = {}
        self.undo_fails: set[SagaStepName] = set()
        self.failed_undos: list[str] = []
        self.holds: SagaStepName | None = None
        self.held = asyncio.Event()
        self.let_go = asyncio.Event()

    @activity.defn(name="install_step")
    async def do_step(self, request: SagaStepInput) -> SagaStepOutput:
        if request.step is self.holds:
            self.held.set()
            await self.let_go.wait()
        if request.step in self.fails:
            raise self.fails[request.step]
        self.done.append(request.step.value)
        version = 3 if request.step is SagaStepName.MATERIALISE else None
        return SagaStepOutput(step=request.step, files=1, version=version)

    @activity.defn(name="undo_install_step")
    async def undo_step(self, request: SagaStepInput) -> None:
        if request.step in self.undo_fails:
            self.failed_undos.append(request.step.value)
            raise failure("INTERNAL_ERROR")
        self.undone.append(request.step.value)

    @activity.defn(name="close_install")
    async def close(self, request: SagaClose) -> None:
        self.closed.append((request.state, request.error))

    def activities(self) -> Sequence[Callable[..., Any]]:
        return [self.do_step, self.undo_step, self.close]


def request() -> InstallSagaInput:
    return InstallSagaInput(
        saga_id=str(uuid4()),
        learn_session_id=str(uuid4()),
        proposal_id=str(uuid4()),
        owner_user_id="alice",
        content_hash="0" * 64,
        ability_id="ability-1",
        skill_slug="sales-report",
        lane=InstallLane.APPROVED_WORKSPACE,
        correlation_id=str(uuid4()),
        requested_at=datetime.now(UTC),
    )


Handle = WorkflowHandle[InstallSagaWorkflow, InstallSagaOutput]


@asynccontextmanager
async def saga(env: TimeSkipper, installs: Installs) -> AsyncIterator[Handle]:
    """A saga that has been started, and its worker."""
    queue = f"install-saga-{uuid4()}"
    async with Worker(
        env.client,
        task_queue=queue,
        workflows=[InstallSagaWorkflow],
        activities=installs.activities(),
        workflow_runner=UnsandboxedWorkflowRunner(),
    ):
        yield await env.client.start_workflow(InstallSagaWorkflow.run, request(), id=queue, task_queue=queue)


async def installed(env: TimeSkipper, installs: Installs) -> InstallSagaOutput:
    async with saga(env, installs) as handle:
        return await handle.result()


async def test_every_step_is_done_in_order_and_the_version_is_returned(skipping_env: TimeSkipper) -> None:
    installs = Installs()
    output = await installed(skipping_env, installs)
    assert output == InstallSagaOutput(state=SagaState.INSTALLED, version=3)
    assert (installs.done, installs.undone, installs.closed) == (STEPS, [], [])


async def test_a_step_that_fails_has_itself_and_those_before_it_undone_in_reverse(
    skipping_env: TimeSkipper,
) -> None:
    installs = Installs()
    installs.fails[THIRD] = failure("DISK_FULL")
    output = await installed(skipping_env, installs)
    assert output.state is SagaState.ROLLED_BACK
    assert (output.failed_step, output.error) == (THIRD, "DISK_FULL: the disk is full")
    assert installs.done == STEPS[:2]
    assert installs.undone == STEPS[2::-1]
    assert installs.closed == [(SagaState.ROLLED_BACK, "DISK_FULL: the disk is full")]


async def test_a_conflict_has_the_later_steps_undone_too_as_an_earlier_run_may_have_done_them(
    skipping_env: TimeSkipper,
) -> None:
    installs = Installs()
    installs.fails[THIRD] = failure(ErrorCode.CONFLICT.value)
    output = await installed(skipping_env, installs)
    assert output.state is SagaState.ROLLED_BACK
    assert installs.undone == STEPS[::-1]


async def test_an_undo_that_fails_is_recorded_and_the_others_are_still_undone(
    skipping_env: TimeSkipper,
) -> None:
    installs = Installs()
    installs.fails[THIRD] = failure("DISK_FULL")
    installs.undo_fails = {SagaStepName.MATERIALISE}
    output = await installed(skipping_env, installs)
    assert output.state is SagaState.ROLLBACK_FAILED
    assert installs.undone == [THIRD.value, SagaStepName.PLAN.value]
    assert installs.failed_undos == [SagaStepName.MATERIALISE.value]
    assert installs.closed == [(SagaState.ROLLBACK_FAILED, "DISK_FULL: the disk is full")]


async def test_a_cancelled_saga_undoes_every_step_that_a_lost_workflow_task_may_have_done(
    skipping_env: TimeSkipper,
) -> None:
    installs = Installs()
    installs.holds = THIRD
    async with saga(skipping_env, installs) as handle:
        await installs.held.wait()
        # The server refuses the task that is under way: the next one knows of the cancel and of no step.
        await handle.cancel()
        installs.let_go.set()
        with pytest.raises(WorkflowFailureError) as ended:
            await handle.result()
    assert isinstance(ended.value.cause, CancelledError)
    assert THIRD.value in installs.done
    assert installs.undone == STEPS[::-1]
    assert installs.closed == [(SagaState.ROLLED_BACK, "cancelled")]
