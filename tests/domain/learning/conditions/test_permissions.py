"""Permissions are stated as they were asked for: a change of some says nothing of the others."""

import pytest

from contracts.learning.evidence import ConditionKind
from domain.learning.conditions.conditions import objection
from domain.learning.conditions.permissions import asked_of, holds, in_words
from domain.learning.proof.candidates import candidates
from tests.domain.learning.proof.folders import Folder

TEXT = {"versionen/2.1/start": "x"}


def test_a_relative_change_is_stated_as_what_it_asks_for_and_holds_with_other_permissions_beside_it() -> None:
    before, after = Folder(TEXT), Folder(TEXT, modes={"versionen/2.1/start": 0o744})
    (one,) = candidates(before, after, ["chmod u+x versionen/$NEU/start"], ())
    assert one.statement == "The file versionen/2.1/start is executable for its owner"
    group = Folder(TEXT, modes={"versionen/2.1/start": 0o664})
    changed = Folder(TEXT, modes={"versionen/2.1/start": 0o764})
    assert objection(one, group, changed) is None
    assert objection(one, group, group) is not None


def test_the_mode_of_new_files_is_stated_where_a_loop_asks_for_it() -> None:
    after = Folder({"a.gz": "x", "b.gz": "y"}, modes={"a.gz": 0o444, "b.gz": 0o444})
    stated = candidates(Folder(), after, ['for f in *.gz; do chmod 444 "$f"; done'], ())
    assert ("*.gz", "444") in {(one.path, one.argument) for one in stated if one.kind is ConditionKind.MODE}


def test_a_change_of_several_permissions_of_a_new_file_is_stated() -> None:
    path = "archiv/2026/2026-11 werte.txt"
    after = Folder({path: "x"}, modes={path: 0o660})
    stated = candidates(Folder(), after, ['chmod g+w,o-r "archiv/2026/$PREFIX werte.txt"'], ())
    (mode,) = (one for one in stated if one.kind is ConditionKind.MODE)
    assert mode.statement == f"The file {path} is writable for its group and not readable for others"


@pytest.mark.parametrize(
    ("argument", "mode", "expected"),
    [
        ("u+x", 0o744, True), ("u+x", 0o644, False), ("+x", 0o755, True), ("a-w", 0o444, True),
        ("a-w", 0o644, False), ("go=", 0o600, True), ("u=rw,go-rwx", 0o600, True), ("g=r", 0o660, False),
        ("0640", 0o640, True), ("640", 0o644, False), ("+w", 0o644, True),
    ],
)  # fmt: skip
def test_a_mode_holds_where_the_permissions_are_as_it_asks(argument: str, mode: int, expected: bool) -> None:
    assert holds(argument, mode) is expected


def test_each_file_has_the_mode_that_was_asked_of_it_last() -> None:
    commands = ["chmod -R go-w .", "chmod 600 app.conf", "find . -name '*.sh' -exec chmod +x {} +"]
    assert asked_of("app.conf", commands[:2]) == "600"
    assert asked_of("bin/run.sh", commands) == "+x"
    assert asked_of("a.txt", commands[:2]) == "go-w"
    assert asked_of("a.txt", ["chmod 600 b.txt"]) is None
    assert in_words("+x") == "is executable for everybody"
