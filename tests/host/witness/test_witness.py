"""Differences between two observations of a folder, in words and as data."""

import sqlite3
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from contracts.learning.witness import StateChange, StateFact, StateObservation
from host.witness.bounded_folder import BoundedFolder, LimitReached, Limits
from host.witness.fact import FactMaker
from host.witness.statements import statement
from host.witness.witness import WITNESSES, differences, observe_all
from tests.host.witness.folders import commit, git, repository


def changes(folder: Path, act: Callable[[], object]) -> dict[tuple[str, str], StateChange]:
    before = observe_all(folder)
    act()
    return {(c.subject, c.aspect): c for c in differences(before, observe_all(folder))}


def test_a_new_tag_is_a_change_with_a_statement(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    found = changes(repo, lambda: git(repo, "tag", "-a", "v1.2", "-m", "Release"))
    change = found["git", "tag v1.2"]
    assert (change.before, change.after) == (None, "annotated")
    assert change.statement == "git: tag v1.2 exists (annotated)"
    assert found["git", "message of tag v1.2"].statement == "git: tag v1.2 has the message Release"


def test_a_commit_and_a_deleted_branch_are_changes(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    git(repo, "branch", "old")

    def act() -> None:
        commit(repo, "b.txt", "b", "Second")
        git(repo, "branch", "-D", "old")

    found = changes(repo, act)
    assert found["git", "commits"].statement == "git has 2 commits"
    assert found["git", "last message"].statement == "git: the last commit says Second"
    assert found["git", "branch old"].statement == "git: branch old is gone"
    assert ("git", "uncommitted changes") not in found


def test_new_rows_members_permissions_and_links_have_statements(tmp_path: Path) -> None:
    (tmp_path / "report.sh").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "report.sh").chmod(0o644)

    def act() -> None:
        with closing(sqlite3.connect(tmp_path / "shop.db")) as made:
            made.execute("CREATE TABLE orders (id)")
            made.executemany("INSERT INTO orders VALUES (?)", [(n,) for n in range(42)])
            made.commit()
        with tarfile.open(tmp_path / "backup.tgz", "w:gz") as archive:
            for number in range(12):
                archive.addfile(tarfile.TarInfo(f"file{number}"))
        (tmp_path / "report.sh").chmod(0o755)
        (tmp_path / "current").symlink_to("report.sh")

    found = changes(tmp_path, act)
    assert found["shop.db", "table orders: rows"].statement == "shop.db: table orders has 42 rows"
    assert found["backup.tgz", "members"].statement == "backup.tgz holds 12 members"
    assert found["report.sh", "executable"].statement == "report.sh is executable"
    assert found["report.sh", "permissions"].statement == "report.sh has the permissions 755"
    assert found["current", "target"].statement == "current points to report.sh"


def test_of_a_file_that_is_gone_only_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    found = changes(tmp_path, (tmp_path / "a.csv").unlink)
    assert [c.statement for c in found.values()] == ["a.csv is gone"]


def test_a_folder_that_did_not_change_has_no_differences(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    assert changes(repo, lambda: None) == {}


def test_facts_that_a_limit_hides_are_no_changes(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    for number in range(20):
        (tmp_path / f"{number}.txt").write_text("x", encoding="utf-8")
    before = observe_all(tmp_path, Limits(entries=5))
    git(repo, "tag", "v1")
    found = {c.subject for c in differences(before, observe_all(tmp_path))}
    assert found == {"git"}


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
    assert sorted(w.name for w in WITNESSES) == ["archives", "databases", "files", "git", "packages"]


def test_an_observation_survives_its_json() -> None:
    maker = FactMaker("files")
    observed = StateObservation(facts=(maker("a", "x", True), maker("a", "y", 1), maker("a", "z", "1")))
    assert StateObservation.model_validate_json(observed.model_dump_json()) == observed
    assert [type(f.value) for f in observed.facts] == [bool, int, str]


def test_a_change_without_a_difference_is_refused() -> None:
    with pytest.raises(ValidationError):
        StateChange(subject="a", aspect="b", before=1, after=1, statement="x")
    assert StateChange(subject="a", aspect="b", before=1, after=True, statement="x").after is True


@given(
    st.text(max_size=300),
    st.text(max_size=600),
    st.one_of(st.text(max_size=600), st.integers(), st.booleans()),
)
def test_any_fact_fits_the_contract_and_has_a_statement(
    aspect: str, subject: str, value: bool | int | str
) -> None:
    made = FactMaker("files")(subject, aspect, value)
    text = statement(made.subject, made.aspect, made.value)
    assert 0 < len(text) <= 400
    assert text.isprintable() or " " in text
