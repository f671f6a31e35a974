"""What a process under test is given besides the product: traps along its way, and less patience.

A worker that was killed is missed only when its workflow task times out, after ten seconds as Temporal has it,
and its rehearsal when no heartbeat came for a minute. Here both are a matter of a second or two.
"""

import dataclasses
from datetime import timedelta
from typing import Any

from temporalio import activity, client, worker, workflow
from temporalio.common import RetryPolicy

from contracts.imports.import_work import ImportOrder, WorkSettled
from contracts.imports.pack_install import PackProgress, PackSettled
from contracts.learning.aggregate import SessionCommit
from contracts.learning.install import SagaClose, SagaStepInput
from contracts.learning.validation import CheckInput
from tests.faults.traps import Traps

TASK_TIMEOUT = timedelta(seconds=2)
HEARTBEAT_TIMEOUT = timedelta(seconds=2)


def point_of(name: str, request: object) -> str:
    """The name of what an activity is about to do: ``install_step.plan``, ``run_check.lint`` and the like."""
    match request:
        case SagaStepInput():
            subject = request.step.value
        case CheckInput():
            subject = request.check.value
        case SagaClose():
            subject = request.state.value
        case ImportOrder():
            subject = request.command.value
        case WorkSettled():
            subject = request.kind.value
        case PackProgress():
            subject = "undo" if request.undoing else request.state.value if request.state else "any"
        case PackSettled():
            subject = request.state.value
        case SessionCommit():
            installing = request.aggregate.install is not None
            subject = "install_begun" if installing else request.aggregate.session.state.value
        case _:
            subject = "any"
    return f"{name}.{subject}"


class Interference(client.Interceptor, worker.Interceptor):
    """Plugged into the Temporal client of a worker or of the API."""

    def __init__(self, traps: Traps) -> None:
        self._traps = traps

    def intercept_client(self, next: client.OutboundInterceptor) -> client.OutboundInterceptor:
        """Workflows that are started here have less patience."""
        return _Client(next)

    def intercept_activity(
        self, next: worker.ActivityInboundInterceptor
    ) -> worker.ActivityInboundInterceptor:
        """Activities pass by the traps."""
        return _Activities(next, self._traps)

    def workflow_interceptor_class(
        self, input: worker.WorkflowInterceptorClassInput
    ) -> type[worker.WorkflowInboundInterceptor]:
        """Children and rehearsals have less patience."""
        return _Workflows


class _Client(client.OutboundInterceptor):
    async def start_workflow(self, input: client.StartWorkflowInput) -> client.WorkflowHandle[Any, Any]:
        return await super().start_workflow(dataclasses.replace(input, task_timeout=TASK_TIMEOUT))

    async def start_update_with_start_workflow(
        self, input: client.StartWorkflowUpdateWithStartInput
    ) -> client.WorkflowUpdateHandle[Any]:
        input.start_workflow_input.task_timeout = TASK_TIMEOUT
        return await super().start_update_with_start_workflow(input)


class _Activities(worker.ActivityInboundInterceptor):
    def __init__(self, next: worker.ActivityInboundInterceptor, traps: Traps) -> None:
        super().__init__(next)
        self._traps = traps

    def init(self, outbound: worker.ActivityOutboundInterceptor) -> None:
        super().init(_Heartbeats(outbound, self._traps))

    async def execute_activity(self, input: worker.ExecuteActivityInput) -> Any:
        point = point_of(activity.info().activity_type, input.args[0] if input.args else None)
        try:
            await self._traps.wait_at(f"{point}.before")
            self._traps.come_by(f"{point}.before")
            answer = await super().execute_activity(input)
        except BaseException:
            # Refused, or cancelled before it got there, which may be while it is held.
            self._traps.come_by(f"{point}.in_vain")
            raise
        await self._traps.wait_at(f"{point}.after")
        self._traps.come_by(f"{point}.after")
        return answer


class _Heartbeats(worker.ActivityOutboundInterceptor):
    def __init__(self, next: worker.ActivityOutboundInterceptor, traps: Traps) -> None:
        super().__init__(next)
        self._traps = traps

    def heartbeat(self, *details: Any) -> None:
        self._traps.come_by(f"{activity.info().activity_type}.midway")
        super().heartbeat(*details)


class _Workflows(worker.WorkflowInboundInterceptor):
    def init(self, outbound: worker.WorkflowOutboundInterceptor) -> None:
        super().init(_WorkflowCalls(outbound))


class _WorkflowCalls(worker.WorkflowOutboundInterceptor):
    async def start_child_workflow(
        self, input: worker.StartChildWorkflowInput
    ) -> workflow.ChildWorkflowHandle[Any, Any]:
        input.task_timeout = TASK_TIMEOUT
        return await super().start_child_workflow(input)

    def start_activity(self, input: worker.StartActivityInput) -> workflow.ActivityHandle[Any]:
        input.heartbeat_timeout = HEARTBEAT_TIMEOUT
        if input.retry_policy is None or input.retry_policy.maximum_attempts != 1:
            # One that is never repeated has its reasons, whoever dies.
            input.retry_policy = RetryPolicy(initial_interval=timedelta(milliseconds=100))
        return super().start_activity(input)
