"""Adds workflow id, activity type and correlation id to every log line of an activity.

The correlation id is in the workflow's memo or in the activity's input. It is passed to activities as a header, which
is in the history but takes no part in what a workflow decides.
"""

import dataclasses
from typing import Any

import structlog
from temporalio import activity, worker, workflow
from temporalio.api.common.v1 import Payload

CORRELATION = "correlation_id"
"""The key in a memo, in a header and in a line of the log."""


class LogContext(worker.Interceptor):
    """Plugged into a worker."""

    def intercept_activity(
        self, next: worker.ActivityInboundInterceptor
    ) -> worker.ActivityInboundInterceptor:
        """Activities bind what their lines are to say."""
        return _Activities(next)

    def workflow_interceptor_class(
        self, input: worker.WorkflowInterceptorClassInput
    ) -> type[worker.WorkflowInboundInterceptor]:
        """Workflows hand their correlation id on."""
        return _Workflows


class _Workflows(worker.WorkflowInboundInterceptor):
    def init(self, outbound: worker.WorkflowOutboundInterceptor) -> None:
        super().init(_HandingOn(outbound))


class _HandingOn(worker.WorkflowOutboundInterceptor):
    def start_activity(self, input: worker.StartActivityInput) -> workflow.ActivityHandle[Any]:
        return super().start_activity(dataclasses.replace(input, headers={**input.headers, **_header()}))

    def start_local_activity(self, input: worker.StartLocalActivityInput) -> workflow.ActivityHandle[Any]:
        return super().start_local_activity(
            dataclasses.replace(input, headers={**input.headers, **_header()})
        )


def _header() -> dict[str, Payload]:
    known = workflow.memo_value(CORRELATION, default=None, type_hint=str)
    return {} if known is None else {CORRELATION: workflow.payload_converter().to_payload(known)}


class _Activities(worker.ActivityInboundInterceptor):
    async def execute_activity(self, input: worker.ExecuteActivityInput) -> Any:
        handed_on = input.headers.get(CORRELATION)
        if handed_on is not None:
            correlation_id = activity.payload_converter().from_payload(handed_on, str)
        else:
            correlation_id = getattr(input.args[0] if input.args else None, CORRELATION, None)
        info = activity.info()
        fields = {"workflow_id": info.workflow_id, "activity": info.activity_type}
        if correlation_id is not None:
            fields[CORRELATION] = str(correlation_id)
        with structlog.contextvars.bound_contextvars(**fields):
            return await super().execute_activity(input)
