"""Contexts of payloads: the sandbox is asked once for those of a command, and anew after the workflow went on."""

from typing import Any

from temporalio.worker import WorkflowInstance

from worker.workflow_runner import RememberingInstance


class Asked(WorkflowInstance):
    """An instance that answers with the number of the activation, and notes what it was asked for."""

    def __init__(self) -> None:
        self.activations = 0
        self.asked: list[tuple[str, Any]] = []

    def activate(self, act: Any) -> Any:
        self.activations += 1
        return act

    def get_serialization_context(self, command_info: Any) -> Any:
        self.asked.append(("payload", command_info))
        return command_info, self.activations

    def get_external_store_context(self, command_info: Any) -> Any:
        self.asked.append(("store", command_info))
        return command_info, -self.activations

    def get_info(self) -> Any:
        return "info"

    def get_thread_id(self) -> int:
        return 7


def test_the_contexts_of_a_command_are_asked_for_once_until_the_workflow_goes_on() -> None:
    asked = Asked()
    instance = RememberingInstance(asked)
    assert instance.activate("first") == "first"
    for _ in range(3):
        assert instance.get_serialization_context("activity 1") == ("activity 1", 1)
        assert instance.get_serialization_context(None) == (None, 1)
        assert instance.get_external_store_context("activity 1") == ("activity 1", -1)
    assert asked.asked == [("payload", "activity 1"), ("payload", None), ("store", "activity 1")]
    instance.activate("second")
    assert instance.get_serialization_context("activity 1") == ("activity 1", 2)


def test_what_the_deadlock_detection_asks_for_is_passed_on() -> None:
    instance = RememberingInstance(Asked())
    assert (instance.get_info(), instance.get_thread_id()) == ("info", 7)
