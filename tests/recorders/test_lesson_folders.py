"""Further folders of a lesson: met by where a command is entered and by what its line names, kept as they were."""

from collections.abc import Callable
from pathlib import Path

import pytest
from uuid_utils import uuid7

from contracts.learning.starting_state import InputLimits
from domain.learning.starting_state import TOTAL_REACHED
from recorders.lesson_folders import LessonFolders
from recorders.starting_state import InputOptions, take_starting_state

Begin = Callable[..., LessonFolders]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    for name in ("desk", "site/img", "docs", "private"):
        (folder / name).mkdir(parents=True)
    (folder / "desk" / "a.txt").write_text("a\n")
    (folder / "site" / "page.html").write_text("<p>\n")
    (folder / "site" / "img" / "old.png").write_bytes(b"old")
    (folder / "site" / ".env").write_text("TOKEN=not-for-anybody\n")
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def begin(home: Path) -> Begin:
    def make(**options: object) -> LessonFolders:
        given = InputOptions(**{"private_folders": (home / "private",), **options})  # type: ignore[arg-type]
        session, desk = str(uuid7()), home / "desk"
        return LessonFolders(desk, take_starting_state(desk, session, given), session, given)

    return make


def paths_of(folders: LessonFolders) -> set[str]:
    assert folders.taken is not None
    return {entry.path for entry in folders.taken.clean.state.entries}


def test_a_folder_that_a_line_names_is_one_of_them_once_it_changed(home: Path, begin: Begin) -> None:
    folders = begin()
    met = folders.candidates(home / "desk", "cp a.txt ~/site/img")
    assert folders.with_candidates(met) is folders
    (home / "site" / "img" / "a.txt").write_text("a\n")
    found = folders.with_candidates(met)
    assert [(one.name, one.places[0]) for one in found.described] == [
        ("desk", "~/desk"),
        ("site/img", "~/site/img"),
    ]
    assert paths_of(found) == {"desk", "desk/a.txt", "site/img", "site/img/old.png"}


def test_a_folder_around_one_of_them_keeps_that_one_as_it_was_met(home: Path, begin: Begin) -> None:
    folders = begin()
    met = folders.candidates(home / "desk", "cp a.txt ~/site/img")
    (home / "site" / "img" / "a.txt").write_text("a\n")
    folders = folders.with_candidates(met)
    found = folders.with_candidates(folders.candidates(home / "site", "git add -A"))
    assert [one.name for one in found.described] == ["desk", "site/img", "site"]
    assert paths_of(found) == {
        "desk", "desk/a.txt", "site", "site/.env", "site/page.html", "site/img", "site/img/old.png",
    }  # fmt: skip
    assert found.taken is not None
    assert folders.taken is not None
    state = found.taken.clean.state
    assert state.replaces == (*folders.taken.clean.state.replaces, folders.taken.clean.state.state_id)
    (secret,) = [entry for entry in state.entries if entry.path == "site/.env"]
    assert (secret.kept, secret.sha256) == (False, None)
    assert b"TOKEN=not-for-anybody\n" not in found.taken.clean.contents.values()


def test_a_folder_that_the_command_makes_begins_with_nothing(home: Path, begin: Begin) -> None:
    folders = begin()
    met = folders.candidates(home / "desk", "mkdir -p ~/new/deep && cp a.txt ~/new/deep")
    (home / "new" / "deep").mkdir(parents=True)
    (home / "new" / "deep" / "a.txt").write_text("a\n")
    found = folders.with_candidates(met)
    assert [(one.name, one.made) for one in found.described] == [("desk", False), ("new", True)]
    assert paths_of(found) == {"desk", "desk/a.txt"}


def test_a_folder_in_a_variable_counts_as_it_was_when_it_was_put_there(home: Path, begin: Begin) -> None:
    folders = begin()
    met = folders.candidates(home / "desk", "SITE=~/site")
    assert folders.with_candidates(met) is folders
    met = folders.candidates(home / "desk", 'cp a.txt "$SITE"', met)
    (home / "site" / "a.txt").write_text("a\n")
    assert "site/a.txt" not in paths_of(folders.with_candidates(met))


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("cp ~/docs/a ~/site", ["site"]),
        ("mv ~/docs/a ~/site/b", ["docs", "site"]),
        ("cp -t ~/site ~/docs/a", ["site", "docs"]),
        ("~/docs/tool --out=~/x ../site/page.html", ["site"]),
        ("sort ~/docs/a > ~/site/b", ["site"]),
        ("sort -o ~/site/b ~/docs/a", ["site", "docs"]),
        ("python3 ~/docs/make.py ~/site", ["site"]),
        ('wc -l < ~/docs/a > "$HOME/site/b"', ["site"]),
        ("git -C ~/site commit", ["site"]),
        ("cd ~/site && git commit", ["site"]),
        ("for f in *.txt; do cp $f ~/site/$f; done", ["site"]),
    ],
)
def test_of_a_line_the_folders_count_that_it_may_change(
    home: Path, begin: Begin, line: str, named: list[str]
) -> None:
    met = begin().candidates(home / "desk", line)
    assert [one.folder.relative_to(home).as_posix() for one in met if one.taken is not None] == named


@pytest.mark.parametrize(
    "line",
    [
        "cp a.txt ~",
        "cp a.txt ~/a.txt",
        "cp a.txt /tmp",
        "cp a.txt /tmp/a.txt",
        "cp a.txt /etc",
        "cp a.txt /usr/share/dict",
        "cp a.txt /",
        "cp a.txt ..",
        "cp a.txt ~/private",
        "cp a.txt ~/private/below",
        "cp 'a.txt ~/site",
        "echo site",
    ],
)
def test_what_is_everybodys_the_systems_or_the_products_own_is_none(
    home: Path, begin: Begin, line: str
) -> None:
    (home / "private" / "below").mkdir()
    folders = begin()
    met = folders.candidates(home / "desk", line)
    assert [one for one in met if one.taken is not None] == []
    assert folders.with_candidates(met) is folders


def test_a_folder_whose_path_holds_a_secret_is_none(home: Path, begin: Begin) -> None:
    folder = home / "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    folder.mkdir()
    assert begin().candidates(folder, "touch x") == ()


def test_the_limits_are_those_of_the_lesson_as_a_whole(home: Path, begin: Begin) -> None:
    folders = begin(limits=InputLimits(max_files=7, max_total_bytes=5))
    found = folders.with_candidates(folders.candidates(home / "site", "touch x"))
    assert found.taken is not None
    clean = found.taken.clean
    assert (len(clean.state.entries), clean.kept_bytes) == (7, 5)
    assert any(entry.left_out == TOTAL_REACHED for entry in clean.state.entries)
    folders = begin(limits=InputLimits(max_files=2))
    found = folders.with_candidates(folders.candidates(home / "site", "touch x"))
    assert found is folders


def test_without_inputs_there_are_no_further_folders(home: Path) -> None:
    folders = LessonFolders(home / "desk", None, str(uuid7()), None)
    assert folders.candidates(home / "site", "cp a.txt ~/docs") == ()
