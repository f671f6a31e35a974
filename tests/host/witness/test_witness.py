"""Observation of a folder by all witnesses: what links lead to, what a limit leaves, what changed."""

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from contracts.learning.witness import StateChange, StateFact, StateObservation
from host.witness.bounded_folder import BoundedFolder, LimitReached, Limits
from host.witness.fact import FactMaker
from host.witness.links import MAX_LINKS
from host.witness.witness import WITNESSES, differences, observe_all
from tests.host.witness.folders import commit, git, repository


def test_links_lead_where_they_are_written_to_lead_and_those_of_tools_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "tools/bin").mkdir(parents=True)
    (tmp_path / "tools/pyvenv.cfg").touch()
    for link, target in (
        ("current", "./releases//2"),
        ("out", "/etc"),
        ("loop", "."),
        ("tools/lib64", "lib"),
        ("tools/bin/python", "/usr/bin/python3"),
        ("tools/latest", "report.txt"),
    ):
        (tmp_path / link).symlink_to(target)
    found = {fact.subject: fact.value for fact in observe_all(tmp_path).facts if fact.aspect == "target"}
    assert found == {"current": "releases/2", "out": "/etc", "loop": ".", "tools/latest": "report.txt"}


def test_links_are_observed_up_to_a_limit(tmp_path: Path) -> None:
    for number in range(MAX_LINKS + 1):
        (tmp_path / f"{number}").symlink_to("x")
    observed = observe_all(tmp_path)
    assert len(observed.facts) == MAX_LINKS
    assert observed.partial == ("links",)


def changes(folder: Path, act: Callable[[], object]) -> dict[str, tuple[object, object]]:
    before = observe_all(folder)
    act()
    found = differences(before, observe_all(folder))
    return {f"{one.subject}: {one.aspect}": (one.before, one.after) for one in found}


def test_what_came_went_or_has_another_value_is_a_change(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    git(repo, "branch", "old")

    def act() -> None:
        commit(repo, "b.txt", "b", "Second")
        git(repo, "branch", "-D", "old")
        git(repo, "tag", "v1")
        (repo / "current").symlink_to("b.txt")

    found = changes(repo, act)
    assert found["git: commits"] == (1, 2)
    assert found["git: tag v1"] == (None, "lightweight")
    assert found["git: branch old"][1] is None
    assert found["current: target"] == (None, "b.txt")
    assert "git: uncommitted changes" not in found
    assert changes(repo, lambda: None) == {}


def test_facts_that_a_limit_hides_are_no_changes(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    for number in range(20):
        (tmp_path / f"{number}").symlink_to("x")
    before = observe_all(tmp_path, Limits(entries=5))
    git(repo, "tag", "v1")
    assert {one.subject for one in differences(before, observe_all(tmp_path))} == {"git"}


def test_a_change_without_a_difference_is_refused() -> None:
    with pytest.raises(ValidationError):
        StateChange(subject="a", aspect="b", before=1, after=1)
    assert StateChange(subject="a", aspect="b", before=1, after=True).after is True


def test_a_witness_that_a_limit_stops_keeps_what_it_gave(tmp_path: Path) -> None:
    class Stopped:
        name = "stopped"

        def observe(self, folder: BoundedFolder) -> Iterator[StateFact]:
            yield FactMaker("stopped")("a", "b", 1)
            raise LimitReached

    observed = observe_all(tmp_path, witnesses=(Stopped(),))
    assert observed.partial == ("stopped",)
    assert [fact.value for fact in observed.facts] == [1]


def test_no_program_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(tmp_path)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a program was started")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr("os.posix_spawn", refuse)
    monkeypatch.setattr("os.fork", refuse)
    assert observe_all(tmp_path).facts


def test_witnesses_are_told_apart_by_name() -> None:
    assert sorted(w.name for w in WITNESSES) == ["databases", "git", "links", "packages"]


def test_an_observation_survives_its_json() -> None:
    maker = FactMaker("git")
    observed = StateObservation(facts=(maker("a", "x", True), maker("a", "y", 1), maker("a", "z", "1")))
    assert StateObservation.model_validate_json(observed.model_dump_json()) == observed
    assert [type(f.value) for f in observed.facts] == [bool, int, str]


@given(
    st.text(max_size=300),
    st.text(max_size=600),
    st.one_of(st.text(max_size=600), st.integers(), st.booleans()),
)
def test_any_fact_fits_the_contract_and_one_line(aspect: str, subject: str, value: bool | int | str) -> None:
    made = FactMaker("git")(subject, aspect, value)
    assert StateFact.model_validate_json(made.model_dump_json()) == made
    assert not re.search(r"[\x00-\x1f]", f"{made.subject}{made.aspect}{made.value}")
