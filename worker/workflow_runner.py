"""The sandbox that workflows run in, entered once an activation and not for every payload.

The SDK asks a workflow's instance for the serialization context of each of its payloads, some ten times a workflow
task, and each time the sandbox is entered to answer: a third of a millisecond in which nothing of the workflow runs.
The answers change only when the workflow does, so they are remembered until its next activation.
"""

from typing import Any

from temporalio.worker import WorkflowInstance, WorkflowInstanceDetails
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner


class RememberingRunner(SandboxedWorkflowRunner):
    """The sandbox, whose instances remember what they have said of their payloads."""

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        """A sandboxed instance."""
        return RememberingInstance(super().create_instance(det))


class RememberingInstance(WorkflowInstance):
    """Passes everything on; asks for the contexts of a command's payloads once an activation."""

    def __init__(self, instance: WorkflowInstance) -> None:
        self._instance = instance
        self._contexts: dict[Any, Any] = {}
        self._store_contexts: dict[Any, Any] = {}

    def activate(self, act: Any) -> Any:
        """Runs the workflow; what is known of its commands is forgotten."""
        self._contexts.clear()
        self._store_contexts.clear()
        return self._instance.activate(act)

    def get_serialization_context(self, command_info: Any) -> Any:
        """Where the payloads of a command belong; without one, those of the workflow itself."""
        if command_info not in self._contexts:
            self._contexts[command_info] = self._instance.get_serialization_context(command_info)
        return self._contexts[command_info]

    def get_external_store_context(self, command_info: Any) -> Any:
        """The same for a store of large payloads, of which we have none."""
        if command_info not in self._store_contexts:
            self._store_contexts[command_info] = self._instance.get_external_store_context(command_info)
        return self._store_contexts[command_info]

    def get_info(self) -> Any:
        """What the workflow is."""
        return self._instance.get_info()

    def get_thread_id(self) -> int | None:
        """The thread that it runs on, for the deadlock detection."""
        return self._instance.get_thread_id()
