"""Installs one proposal as a saga: all of it, or nothing."""

import asyncio
from typing import cast

from temporalio import workflow
from temporalio.exceptions import FailureError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.learning.session_activities import InstallActivities
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
    from workflows.platform.compensation import CompensationStack
    from workflows.platform.presets import SAGA_STEP, STORE_CALL, UNDO_STEP
    from workflows.platform.refusals import application_error_in

UNDOES_ALL_ON_CANCEL = "undo-all-on-cancel"
"""The change by which a cancel undoes every step; runs that were cancelled before it undo those they know of."""


@workflow.defn(name="InstallSagaWorkflow")
class InstallSagaWorkflow:
    """plan → materialise → project → rebuild the bridge → refresh availability.

    Every step is idempotent and its undo is registered before it runs. A failure or a cancel at any step
    undoes what was done, in reverse, and leaves workspace, bridge and snapshot as they were.
    """

    @workflow.init
    def __init__(self, request: InstallSagaInput) -> None:
        self._request = request
        self._undo = CompensationStack(self._undo_step)
        self._step = SagaStepName.PLAN
        self._done: list[str] = []
        self._show()

    @workflow.run
    async def run(self, request: InstallSagaInput) -> InstallSagaOutput:
        """Runs the steps; answers how it ended, or goes on being cancelled once everything is undone."""
        try:
            version = await self._run_steps()
        except (FailureError, asyncio.CancelledError) as error:
            if is_cancelled_exception(error):
                if workflow.patched(UNDOES_ALL_ON_CANCEL):
                    self._expect_all_done()
                await asyncio.shield(self._roll_back("cancelled"))
                raise
            failure = application_error_in(cast("FailureError", error))
            if failure.type == ErrorCode.CONFLICT:
                self._expect_all_done()
            return await self._roll_back(f"{failure.type}: {failure.message}")
        return InstallSagaOutput(state=SagaState.INSTALLED, version=version)

    async def _run_steps(self) -> int | None:
        version: int | None = None
        for step in SagaStepName:
            self._step = step
            self._show()
            self._undo.push(step)
            output: SagaStepOutput = await workflow.execute_local_activity_method(
                InstallActivities.do_step,
                SagaStepInput(saga=self._request, step=step),
                summary=step.value,
                **SAGA_STEP,
            )
            version = output.version or version
            self._done.append(f"- ✓ {step.value} ({output.files} files)")
        self._show()
        return version

    def _expect_all_done(self) -> None:
        """Any step may have been done: an undo began before this run, or a workflow task was lost with its results."""
        steps = list(SagaStepName)
        for step in steps[steps.index(self._step) + 1 :]:
            self._undo.push(step)

    async def _roll_back(self, reason: str) -> InstallSagaOutput:
        failed_step = self._step
        self._done.append(f"- ✗ {failed_step.value}: {reason}")
        stuck = await self._undo.unwind()
        state = SagaState.ROLLBACK_FAILED if stuck else SagaState.ROLLED_BACK
        await self._close(state, reason)
        return InstallSagaOutput(state=state, failed_step=failed_step, error=reason[:240])

    async def _undo_step(self, step: SagaStepName) -> None:
        await workflow.execute_local_activity_method(
            InstallActivities.undo_step,
            SagaStepInput(saga=self._request, step=step),
            summary=f"undo {step.value}",
            **UNDO_STEP,
        )
        self._done.append(f"- ↶ {step.value}")
        self._show()

    async def _close(self, state: SagaState, error: str | None) -> None:
        await workflow.execute_local_activity_method(
            InstallActivities.close,
            SagaClose(saga=self._request, state=state, error=error[:240] if error else None),
            summary=state.value,
            **STORE_CALL,
        )

    def _show(self) -> None:
        doing = f"**{self._request.skill_slug}** → `{self._request.lane.value}`, at `{self._step.value}`"
        workflow.set_current_details("\n".join([doing, "", *self._done]))
