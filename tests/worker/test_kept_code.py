"""Modules that the workflow sandbox executes anew share their compiled code and nothing else."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from worker.workflow_runner import CodeKeeper

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
