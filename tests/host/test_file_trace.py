"""The trace of file use: what is read, written and removed between two marks, in the order in which it happens."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from host.file_trace import FileTrace, FileUse

LIMIT_SECONDS = 30.0


class Traced:
    """A traced folder and what ends a stretch: a mark that is waited for."""

    def __init__(self, tmp_path: Path) -> None:
        self.folder, self.marks = tmp_path / "work", tmp_path / "marks"
        self.folder.mkdir()
        self.marks.mkdir()
        self._noted = threading.Semaphore(0)

    def stretches(self, *steps: Callable[[Path], object]) -> list[FileUse]:
        """What each step used."""
        with FileTrace(self.folder, self.marks, prefix="m-", noted=self._noted.release) as trace:
            self.mark("m-begin")
            for number, step in enumerate(steps):
                step(self.folder)
                self.mark(f"m-{number}")
        return trace.stretches[1 : len(steps) + 1]

    def mark(self, name: str) -> None:
        """Writes a mark and waits until the trace has taken in what was before it."""
        (self.marks / name).write_text("")
        assert self._noted.acquire(timeout=LIMIT_SECONDS)


@pytest.fixture
def traced(tmp_path: Path) -> Traced:
    return Traced(tmp_path)


def test_each_step_has_the_files_that_it_read_wrote_and_removed(traced: Traced) -> None:
    (traced.folder / "in.txt").write_text("text")
    (traced.folder / "old.txt").write_text("text")
    read, written, removed = traced.stretches(
        lambda folder: (folder / "in.txt").read_text(),
        lambda folder: (folder / "out.txt").write_text("text"),
        lambda folder: (folder / "old.txt").unlink(),
    )
    assert (read.read, read.written, read.removed) == ({"in.txt"}, set(), set())
    assert (written.written, written.removed) == ({"out.txt"}, set())
    assert (removed.written, removed.removed) == (set(), {"old.txt"})


def test_what_a_later_step_puts_into_a_new_folder_is_that_steps_own(traced: Traced) -> None:
    made, filled = traced.stretches(
        lambda folder: (folder / "new/deep").mkdir(parents=True),
        lambda folder: (folder / "new/deep/file.txt").write_text("text"),
    )
    assert made.written == {"new", "new/deep"}
    assert filled.written == {"new/deep/file.txt"}


def test_files_in_a_folder_that_the_same_step_makes_are_written_by_it(traced: Traced) -> None:
    def fill(folder: Path) -> None:
        (folder / "new").mkdir()
        (folder / "new/file.txt").write_text("text")

    (use,) = traced.stretches(fill)
    assert use.written == {"new", "new/file.txt"}


def test_a_renamed_file_is_gone_from_the_one_name_and_written_to_the_other(traced: Traced) -> None:
    (traced.folder / "one.txt").write_text("text")
    (use,) = traced.stretches(lambda folder: (folder / "one.txt").rename(folder / "other.txt"))
    assert (use.read, use.written, use.removed) == ({"one.txt"}, {"other.txt"}, {"one.txt"})


def test_what_a_step_itself_wrote_and_renamed_was_not_there_for_it(traced: Traced) -> None:
    def replace(folder: Path) -> None:
        (folder / "new~").write_text("text")
        (folder / "new~").rename(folder / "new")

    (use,) = traced.stretches(replace)
    assert (use.read, use.written, use.removed) == (set(), {"new"}, {"new~"})


def test_files_of_a_renamed_folder_are_followed_under_the_new_name(traced: Traced) -> None:
    (traced.folder / "one").mkdir()
    (traced.folder / "one/file.txt").write_text("text")
    moved, changed = traced.stretches(
        lambda folder: (folder / "one").rename(folder / "other"),
        lambda folder: (folder / "other/file.txt").write_text("more"),
    )
    assert moved.read == moved.removed == {"one", "one/file.txt"}
    assert moved.written == {"other", "other/file.txt"}
    assert changed.written == {"other/file.txt"}


def test_changed_permissions_are_a_change_of_what_was_there(traced: Traced) -> None:
    (traced.folder / "run.sh").write_text("text")
    (use,) = traced.stretches(lambda folder: (folder / "run.sh").chmod(0o755))
    assert use.read == use.written == {"run.sh"}


def test_a_file_made_and_removed_in_one_step_is_removed(traced: Traced) -> None:
    def come_and_go(folder: Path) -> None:
        (folder / "scratch").write_text("text")
        (folder / "scratch").unlink()

    (use,) = traced.stretches(come_and_go)
    assert (use.written, use.removed) == (set(), {"scratch"})


def test_files_among_the_marks_that_have_another_name_or_come_again_begin_no_stretch(traced: Traced) -> None:
    def write_marks(folder: Path) -> None:
        (traced.marks / "0001").write_text("0")
        (traced.marks / "m-begin").write_text("0")
        (folder / "one.txt").write_text("text")

    first, second = traced.stretches(write_marks, lambda folder: (folder / "two.txt").write_text("text"))
    assert first.written == {"one.txt"}
    assert second.written == {"two.txt"}


def test_folders_beyond_the_limit_make_the_trace_partial(
    traced: Traced, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("host.file_trace.MAX_WATCHED_FOLDERS", 2)
    for name in "abc":
        (traced.folder / name).mkdir()
    with FileTrace(traced.folder, traced.marks) as trace:
        pass
    assert trace.is_partial
