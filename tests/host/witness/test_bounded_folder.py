"""Reading a folder that somebody else made: no link is followed, and every limit holds."""

import os
import socket
import subprocess
from pathlib import Path

import pytest

from host.witness.bounded_folder import BoundedFolder, LimitReached, Limits
from host.witness.witness import observe_all


def paths(folder: Path, limits: Limits | None = None) -> tuple[list[str], bool]:
    with BoundedFolder(folder, limits) as bounded:
        return [entry.path for entry in bounded.entries], bounded.is_partial


def test_entries_are_nearest_first_and_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "b" / "c").mkdir(parents=True)
    (tmp_path / "b" / "c" / "deep.txt").write_text("x", encoding="utf-8")
    (tmp_path / "a.txt").write_text("x", encoding="utf-8")
    (tmp_path / "loop").symlink_to(".")
    (tmp_path / "out").symlink_to("/etc")
    assert paths(tmp_path) == (["a.txt", "b", "loop", "out", "b/c", "b/c/deep.txt"], False)


@pytest.mark.parametrize(
    ("limits", "is_partial"),
    [(Limits(entries=3), True), (Limits(depth=1), True), (Limits(seconds=-1), True), (Limits(), False)],
)
def test_limits_of_entries_depth_and_time_end_the_list(
    tmp_path: Path, limits: Limits, is_partial: bool
) -> None:
    (tmp_path / "a/b/c/d").mkdir(parents=True)
    assert paths(tmp_path, limits)[1] is is_partial


def test_a_tree_of_thousands_of_levels_ends_at_the_depth(tmp_path: Path) -> None:
    inner = os.open(tmp_path, os.O_RDONLY)
    for _ in range(2_000):
        os.mkdir("d", dir_fd=inner)
        deeper = os.open("d", os.O_RDONLY, dir_fd=inner)
        os.close(inner)
        inner = deeper
    os.close(inner)
    found, is_partial = paths(tmp_path)
    assert (len(found), is_partial) == (33, True)
    assert observe_all(tmp_path).partial == ("folder",)
    # Too deep for the removal of temporary folders.
    subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)


@pytest.mark.parametrize(
    "path", ["../x", "a/../../x", "/etc/passwd", "out/passwd", "link", "folder", "pipe", "gone"]
)
def test_what_lies_outside_or_is_no_regular_file_is_not_opened(tmp_path: Path, path: str) -> None:
    inside = tmp_path / "inside"
    (inside / "folder").mkdir(parents=True)
    (inside / "a").mkdir()
    (tmp_path / "x").write_text("outside", encoding="utf-8")
    (inside / "out").symlink_to("/etc")
    (inside / "link").symlink_to("../x")
    os.mkfifo(inside / "pipe")
    with BoundedFolder(inside) as folder:
        with pytest.raises(OSError, match=r"."):
            folder.open(path)
        assert folder.read(path, 1_000_000) is None


def test_bytes_are_counted_over_all_files(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 600)
    with BoundedFolder(tmp_path, Limits(read_bytes=1000)) as folder:
        assert folder.read("a", 600) == b"x" * 600
        with pytest.raises(LimitReached):
            folder.read("a", 600)
        folder.renew_budget()
        assert folder.read("a", 600) == b"x" * 600


def test_pipes_sockets_links_and_names_that_are_no_text_are_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/etc/passwd")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\n.txt")).write_text("x", encoding="utf-8")
    with socket.socket(socket.AF_UNIX) as server:
        # The address of a socket may not be long.
        monkeypatch.chdir(tmp_path)
        server.bind("socket")
        with BoundedFolder(tmp_path) as folder:
            found = {entry.shown: (entry.kind, entry.link_target) for entry in folder.entries}
    assert found == {
        "link": ("link", "/etc/passwd"),
        "pipe": ("other", ""),
        "socket": ("other", ""),
        "\N{REPLACEMENT CHARACTER}\n.txt": ("file", ""),
    }


def test_trees_by_name_are_entries_and_not_looked_into_and_of_others_results_alone_are(
    tmp_path: Path,
) -> None:
    for path in (
        ".git/HEAD",
        "node_modules/dep",
        "out/CMakeFiles/rules.ninja",
        "out/build.ninja",
        "out/hello",
        "tools/bin/python",
        "tools/pyvenv.cfg",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    with BoundedFolder(tmp_path) as folder:
        found = [entry.path for entry in folder.entries]
        assert folder.environments == ["tools"]
    assert found == [".git", "node_modules", "out", "tools", "out/hello"]


def test_a_folder_that_is_gone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        observe_all(tmp_path / "gone")


def test_observing_changes_nothing_in_the_folder(tmp_path: Path) -> None:
    for name in ("a.csv", "sub/b.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("a,b\n1,2\n", encoding="utf-8")
    before = [(p, p.lstat().st_mtime_ns, p.lstat().st_ctime_ns) for p in sorted(tmp_path.rglob("*"))]
    observe_all(tmp_path)
    assert [(p, p.lstat().st_mtime_ns, p.lstat().st_ctime_ns) for p in sorted(tmp_path.rglob("*"))] == before
