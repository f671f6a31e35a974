"""How workflows run: in the SDK's sandbox, entered once an activation, with the code of their modules kept.

The SDK asks a workflow's instance for the serialization context of each of its payloads, some ten times a workflow
task, and each time the sandbox is entered to answer: a third of a millisecond in which nothing of the workflow runs.
The answers change only when the workflow does, so they are remembered until its next activation.

The sandbox imports a workflow's module for every run, so that runs share no state. Python would read and decode its
compiled code each time, 30 KiB for as long as the run is in memory. Code objects never change, so they may be shared.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
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


class _KeepsCode(SourceFileLoader):
    """Loads a module from its source file; decodes its code the first time only."""

    kept: dict[str, CodeType] = {}  # noqa: RUF012 - of the whole process, on purpose

    def get_code(self, fullname: str) -> CodeType | None:
        """The compiled code of the module."""
        if fullname not in self.kept:
            code = super().get_code(fullname)
            if code is None:
                return None
            self.kept[fullname] = code
        return self.kept[fullname]


class CodeKeeper:
    """Finds the modules of one package as Python does; their code is kept. A finder of ``sys.meta_path``."""

    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Where a module of the package comes from; None of any other, which other finders find."""
        if name.partition(".")[0] != self._package:
            return None
        found = PathFinder.find_spec(name, path, target)
        if found is not None and isinstance(found.loader, SourceFileLoader):
            found.loader = _KeepsCode(found.loader.name, found.loader.path)
        return found


def keep_code_of(package: str) -> None:
    """Keeps the code of the package's modules from now on; said twice, it counts once."""
    if not any(isinstance(one, CodeKeeper) for one in sys.meta_path):
        sys.meta_path.insert(0, CodeKeeper(package))
