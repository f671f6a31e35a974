"""Starting states: what may not leave the machine is left out, and what a recorder sends is checked."""

from itertools import repeat
from typing import Any

import pytest
from uuid_utils import uuid7

from contracts.learning.starting_state import EntryKind, StartingEntry
from domain.learning.redaction.kept_files import NAMED_LIKE_A_SECRET, SEEMS_SECRET
from domain.learning.starting_state import (
    NO_TIME,
    extended_state,
    link_stays_inside,
    problem_of,
    without_secrets,
)
from tests.fixtures.starting import TAKEN, state_of

SESSION = str(uuid7())
KEY = b"ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def link(path: str, target: str) -> StartingEntry:
    return StartingEntry(path=path, kind=EntryKind.LINK, link_target=target, modified_at=TAKEN)


def test_files_with_secrets_are_listed_without_content_and_digest() -> None:
    given = state_of(
        SESSION, {"a.csv": b"a,b\n", ".env": b"A=1\n", "run.sh": b"curl -H 'Authorization: " + KEY}
    )
    clean = without_secrets(given.state, given.contents)
    assert [(e.path, e.kept, e.sha256 is None, e.left_out, e.size_bytes) for e in clean.state.entries] == [
        ("a.csv", True, False, None, 4),
        (".env", False, True, NAMED_LIKE_A_SECRET, 4),
        ("run.sh", False, True, SEEMS_SECRET, 64),
    ]
    assert [*clean.contents.values()] == [b"a,b\n"]
    assert clean.kept_bytes == 4
    assert not clean.state.partial


def test_a_content_stays_while_another_file_has_it() -> None:
    given = state_of(SESSION, {".env": b"A=1\n", "copy": b"A=1\n"})
    clean = without_secrets(given.state, given.contents)
    assert [entry.kept for entry in clean.state.entries] == [False, True]
    assert [*clean.contents.values()] == [b"A=1\n"]


def test_paths_and_links_that_hold_secrets_are_not_listed_at_all() -> None:
    given = state_of(SESSION, {"a": b"a", "token=hunter2again": b"b"}, folder_name="token=hunter2again")
    state = given.state.changed(entries=(*given.state.entries, link("l", "https://x:hunter2again@h/")))
    clean = without_secrets(state, given.contents)
    assert [entry.path for entry in clean.state.entries] == ["a"]
    assert clean.state.partial
    assert "hunter2" not in clean.state.model_dump_json()
    again = without_secrets(clean.state, clean.contents)
    assert (again.state, again.contents) == (clean.state, clean.contents)


def test_what_there_was_no_time_for_is_left_out() -> None:
    given = state_of(SESSION, {"a": b"a", "b": b"b", "a too": b"a"})
    answers = iter([False, *repeat(True, 9)])
    clean = without_secrets(given.state, given.contents, lambda: next(answers))
    assert [(e.kept, e.left_out) for e in clean.state.entries] == [
        (True, None),
        (False, NO_TIME),
        (True, None),
    ]


@pytest.mark.parametrize(
    "path", ["", "/x", "..", "../x", "a/../x", "a/./x", "a//x", "a/", "x\0y", "a/" * 13 + "x"]
)
def test_a_path_that_leaves_the_folder_is_a_problem(path: str) -> None:
    given = state_of(SESSION, {path: b"x"})
    assert problem_of(given.state, {d: 1 for d in given.contents}) is not None


def test_a_right_state_has_no_problem_and_a_wrong_one_is_named() -> None:
    given = state_of(SESSION, {"d": None, "d/a": b"abc", "b": b"abc", "..name": b"x"})
    sizes = {digest: len(content) for digest, content in given.contents.items()}
    first, second, *_ = given.state.entries

    def problem(*entries: Any, **fields: Any) -> str | None:
        return problem_of(given.state.changed(entries=(*given.state.entries, *entries), **fields), sizes)

    assert problem() is None
    assert problem(link("l", "d/a")) is None
    assert "twice" in str(problem(second))
    assert "no folder" in str(problem(link("l", "d"), first.changed(path="l/below")))
    assert "a link has a target" in str(problem(first.changed(path="x", link_target="y")))
    assert "missing" in str(problem(second.changed(path="x", sha256="0" * 64)))
    assert "size" in str(problem(second.changed(path="x", size_bytes=4)))
    assert "with a digest" in str(problem(second.changed(path="x", sha256=None)))
    assert "no kept file" in str(problem_of(given.state, {**sizes, "1" * 64: 3}))


@pytest.mark.parametrize(
    ("path", "target", "inside"),
    [
        ("l", "a/b", True),
        ("d/l", "../a", True),
        ("d/l", "../../a", False),
        ("l", "/etc", False),
        ("l", "..", False),
        ("d/e/l", "../../x/y", True),
        ("d/l", "x/../../../y", False),
        ("l", "x/..", False),
        ("l", "", False),
    ],
)
def test_links_that_stay_inside(path: str, target: str, inside: bool) -> None:
    assert link_stays_inside(path, target) is inside


def test_the_id_of_an_extended_state_tells_paths_modes_and_contents_apart() -> None:
    state = state_of(SESSION, {"a": b"old"}).state
    added = (
        {"in.txt": (b"b\n", 0o644)},
        {"other.txt": (b"b\n", 0o644)},
        {"in.txt": (b"b\n", 0o600)},
        {"in.txt": (b"c\n", 0o644)},
    )
    ids = [extended_state(state, files)[0].state_id for files in added]
    assert len({*ids, state.state_id}) == 5
    assert ids == [extended_state(state, files)[0].state_id for files in added]


def test_an_extended_state_has_its_files_in_the_place_of_those_that_were_there() -> None:
    state = state_of(SESSION, {"a": b"old", "b": b"b"}).state
    extended, contents = extended_state(state, {"a": (b"new", 0o600)})
    assert {(one.path, one.mode) for one in extended.entries} == {("a", 0o600), ("b", 0o644)}
    assert [*contents.values()] == [b"new"]
    assert extended.taken_at < state.taken_at, "it is used where it is named alone"
