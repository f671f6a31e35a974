"""How workflows run: contexts of payloads are asked for once, and modules executed anew share their code alone."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from temporalio.worker import WorkflowInstance

from worker.workflow_runner import CodeKeeper, RememberingInstance


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


NAME = "executed_anew"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A package of one module that has a state of its own, whose code is kept."""
    (tmp_path / NAME).mkdir()
    (tmp_path / NAME / "__init__.py").touch()
    (tmp_path / NAME / "story.py").write_text(
        "SEEN = []\n\n\ndef tell():\n    SEEN.append(1)\n    return SEEN\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", [CodeKeeper(NAME), *sys.meta_path])
    yield NAME
    _forget()


def _forget() -> None:
    for name in [one for one in sys.modules if one.partition(".")[0] == NAME]:
        del sys.modules[name]


def test_a_module_executed_twice_has_its_own_state_and_the_same_code(package: str) -> None:
    first = importlib.import_module(f"{package}.story")
    first.tell()
    _forget()
    second = importlib.import_module(f"{package}.story")
    assert second.tell() == [1]
    assert second.tell is not first.tell
    assert second.tell.__code__ is first.tell.__code__


def test_other_packages_are_left_to_other_finders(package: str) -> None:
    assert CodeKeeper(package).find_spec("json") is None
    assert CodeKeeper(package).find_spec(f"{package}er") is None
