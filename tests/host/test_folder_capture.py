"""What a folder holds is listed bounded and safely, and single files are read without following anything."""

import os
import socket
from pathlib import Path

import pytest

from host.folder_capture import FoundKind, list_folder, read_file


def paths(folder: Path, **limits: object) -> list[str]:
    return [entry.path for entry in list_folder(folder, **limits).entries]  # type: ignore[arg-type]


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    folder = tmp_path / "demo"
    for path in ("b.txt", "a.txt", "sub/deep/c.txt", ".git/HEAD", "sub/b.txt"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(path, encoding="utf-8")
    return folder


def test_entries_come_nearest_first_in_a_stable_order_and_git_is_among_them(demo: Path) -> None:
    assert paths(demo) == [
        ".git",
        "a.txt",
        "b.txt",
        "sub",
        ".git/HEAD",
        "sub/b.txt",
        "sub/deep",
        "sub/deep/c.txt",
    ]
    assert paths(demo) == paths(demo)
    assert not list_folder(demo).partial


def test_an_entry_says_kind_size_mode_and_time(demo: Path) -> None:
    (demo / "a.txt").chmod(0o640)
    os.utime(demo / "a.txt", ns=(1, 1_700_000_000_123_456_789))
    entries = {entry.path: entry for entry in list_folder(demo).entries}
    file = entries["a.txt"]
    assert (file.kind, file.size_bytes, file.mode) == (FoundKind.FILE, 5, 0o640)
    assert file.modified_ns == 1_700_000_000_123_456_789
    assert (entries["sub"].kind, entries["sub"].size_bytes) == (FoundKind.FOLDER, 0)


def test_what_tools_fill_and_what_is_private_is_left_out(demo: Path) -> None:
    for path in (
        "node_modules/x",
        "sub/__pycache__/x",
        "env/pyvenv.cfg",
        "env/bin/python",
        "conda/conda-meta/x",
        "project/pyvenv.cfg",
        "project/report.py",
    ):
        (demo / path).parent.mkdir(parents=True, exist_ok=True)
        (demo / path).touch()
    (demo / "own").mkdir()
    (demo / "own" / "token").touch()
    before = {"node_modules", "sub/__pycache__", "env", "conda", "own", "project/pyvenv.cfg"}
    assert before.isdisjoint(paths(demo, leave_out=(demo / "own",)))
    assert {"own/token", "project/report.py"} < set(paths(demo))


def test_links_are_listed_as_they_are_written_and_not_followed(demo: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x").write_text("x", encoding="utf-8")
    (demo / "out").symlink_to("../outside")
    (demo / "here").symlink_to("./a.txt")
    (demo / "loop").symlink_to(demo)
    links = {e.path: e.link_target for e in list_folder(demo).entries if e.kind is FoundKind.LINK}
    assert links == {"out": "../outside", "here": "./a.txt", "loop": str(demo)}
    assert read_file(demo, "here", 100) is None
    assert read_file(demo, "out/x", 100) is None
    assert read_file(demo, "a.txt", 100) == b"a.txt"


def test_special_files_are_neither_listed_nor_opened(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(demo / "pipe")
    # The path of a socket is short: from its own folder it is.
    monkeypatch.chdir(demo)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
    assert not {"pipe", "socket"}.intersection(paths(demo))
    assert not list_folder(demo).partial
    for name in ("pipe", "socket", "sub", "nowhere", "sub/nowhere/x", "a.txt/x"):
        assert read_file(demo, name, 100) is None


def test_number_depth_and_time_are_bounded(demo: Path) -> None:
    partial = list_folder(demo, max_entries=3)
    assert ([entry.path for entry in partial.entries], partial.partial) == ([".git", "a.txt", "b.txt"], True)
    shallow = list_folder(demo, max_depth=1)
    assert "sub/deep" in [entry.path for entry in shallow.entries]
    assert "sub/deep/c.txt" not in [entry.path for entry in shallow.entries]
    assert shallow.partial
    answers = iter([False, True])
    assert paths(demo, out_of_time=lambda: next(answers)) == [".git", "a.txt", "b.txt", "sub"]


def test_a_file_that_is_larger_than_the_limit_is_not_read(demo: Path) -> None:
    assert read_file(demo, "a.txt", 5) == b"a.txt"
    assert read_file(demo, "a.txt", 4) is None


def test_names_that_are_no_utf8_and_what_cannot_be_read_make_it_partial(demo: Path) -> None:
    (demo / os.fsdecode(b"\xff.txt")).touch()
    found = list_folder(demo)
    assert found.partial
    assert all(entry.path.isascii() for entry in found.entries)
    assert list_folder(demo / "nowhere").partial
