import os
import threading
from pathlib import Path

import pytest

from stores.platform.database import Database
from stores.platform.journal.journal import append
from stores.platform.projection.documents import put_document
from stores.platform.projection.projector import ProjectionBusyError, ProjectionReport, single_writer
from stores.platform.tables import documents
from tests.stores.platform.journal_drafts import CHECKPOINTS, RECEIPTS, draft
from tests.stores.platform.projection.projection_steps import (
    ARCHIVE,
    CURRENT,
    SKILL,
    append_entries,
    archive,
    lines,
    put,
    remove,
)
from tests.stores.platform.projection.tree_snapshots import Trees, files, mode, snapshot


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    return Trees(tmp_path)


def test_documents_and_streams_become_files(store: Database, trees: Trees) -> None:
    put(store, CURRENT, b"{}\n")
    put(store, SKILL, b"# Report\n", "workspace")
    append_entries(store, 1, 2)
    append_entries(store, 3, stream=CHECKPOINTS)
    report = trees.projector(store).catch_up()
    assert files(trees.memory) == {
        CURRENT: b"{}\n",
        f"{RECEIPTS}.jsonl": lines(1, 2),
        f"{CHECKPOINTS}.jsonl": lines(3),
    }
    assert files(trees.workspace) == {SKILL: b"# Report\n"}
    assert (report.documents_written, report.lines_appended) == (2, 3)


def test_memory_is_private_and_the_workspace_readable_but_not_writable(store: Database, trees: Trees) -> None:
    put(store, CURRENT, b"{}\n")
    put(store, SKILL, b"# Report\n", "workspace")
    append_entries(store, 1)
    trees.projector(store).catch_up()
    assert {mode(path) for path in trees.memory.rglob("*.json*")} == {0o600}
    assert mode(trees.memory) == mode(trees.memory / "system") == 0o700
    assert mode(trees.workspace / SKILL) == 0o444
    assert mode(trees.workspace / "skills") == 0o755


def test_what_changed_is_written_and_what_did_not_is_left_alone(store: Database, trees: Trees) -> None:
    put(store, "a.json", b"a")
    put(store, "b.json", b"b")
    projector = trees.projector(store)
    projector.catch_up()
    before = (trees.memory / "b.json").stat()
    put(store, "a.json", b"other")
    assert projector.catch_up().documents_written == 1
    assert files(trees.memory) == {"a.json": b"other", "b.json": b"b"}
    after = (trees.memory / "b.json").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_nothing_to_do_touches_no_file_and_takes_no_lock(store: Database, trees: Trees) -> None:
    put(store, CURRENT, b"{}\n")
    append_entries(store, 1)
    projector = trees.projector(store)
    projector.catch_up()
    with single_writer(store, trees.memory):
        assert projector.catch_up() == ProjectionReport()


def test_lines_are_appended_to_the_same_file(store: Database, trees: Trees) -> None:
    append_entries(store, 1)
    projector = trees.projector(store)
    projector.catch_up()
    inode = (trees.memory / f"{RECEIPTS}.jsonl").stat().st_ino
    append_entries(store, 2, 3)
    projector.catch_up()
    assert (trees.memory / f"{RECEIPTS}.jsonl").read_bytes() == lines(1, 2, 3)
    assert (trees.memory / f"{RECEIPTS}.jsonl").stat().st_ino == inode


def test_more_lines_than_one_pass_takes_are_all_appended(
    sqlite_store: Database, trees: Trees, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stores.platform.projection.stream_projection.ENTRIES_A_PASS", 4)
    monkeypatch.setattr("stores.platform.projection.stream_projection._LINES_A_READ", 3)
    append_entries(sqlite_store, *range(5))
    append_entries(sqlite_store, *range(5, 9), stream=CHECKPOINTS)
    append_entries(sqlite_store, *range(9, 15))
    projector = trees.projector(sqlite_store)
    projector.catch_up()
    assert (trees.memory / f"{RECEIPTS}.jsonl").read_bytes() == lines(*range(5), *range(9, 15))
    assert (trees.memory / f"{CHECKPOINTS}.jsonl").read_bytes() == lines(*range(5, 9))
    before = trees.snapshot()
    projector.rebuild()
    assert trees.snapshot() == before


def test_a_removed_document_leaves_neither_file_nor_folder_nor_row(store: Database, trees: Trees) -> None:
    put(store, CURRENT, b"{}\n")
    put(store, "system/abilities/a.json", b"a")
    put(store, SKILL, b"# Report\n", "workspace")
    projector = trees.projector(store)
    projector.catch_up()
    remove(store, CURRENT)
    remove(store, SKILL, "workspace")
    assert projector.catch_up().documents_removed == 2
    assert snapshot(trees.memory).keys() == {"system", "system/abilities", "system/abilities/a.json"}
    assert snapshot(trees.workspace) == {}
    with store.read() as connection:
        assert connection.execute(documents.select()).one().path == "system/abilities/a.json"


def test_a_document_put_again_before_the_projector_came_by_stays(store: Database, trees: Trees) -> None:
    put(store, CURRENT, b"{}\n")
    projector = trees.projector(store)
    projector.catch_up()
    remove(store, CURRENT)
    put(store, CURRENT, b"{}\n")
    projector.catch_up()
    assert files(trees.memory) == {CURRENT: b"{}\n"}


def test_a_file_may_become_a_folder_and_a_folder_a_file(store: Database, trees: Trees) -> None:
    projector = trees.projector(store)
    for gone, path in ((None, "a"), ("a", "a/b/c"), ("a/b/c", "a/b"), ("a/b", "a")):
        if gone is not None:
            remove(store, gone)
        put(store, path, b"x")
        projector.catch_up()
        assert files(trees.memory) == {path: b"x"}


def test_missing_and_short_files_are_mended_at_the_start(store: Database, trees: Trees) -> None:
    put(store, CURRENT, b"{}\n")
    put(store, SKILL, b"# Report\n", "workspace")
    append_entries(store, 1, 2)
    append_entries(store, 3, stream=CHECKPOINTS)
    trees.projector(store).catch_up()
    before = trees.snapshot()
    (trees.memory / CURRENT).unlink()
    (trees.workspace / SKILL).unlink()
    (trees.memory / f"{RECEIPTS}.jsonl").unlink()
    os.truncate(trees.memory / f"{CHECKPOINTS}.jsonl", 5)
    trees.projector(store).catch_up()
    assert trees.snapshot() == before


def test_a_file_cut_short_under_a_running_projector_is_restored_before_lines_are_added(
    store: Database, trees: Trees
) -> None:
    append_entries(store, 1, 2)
    projector = trees.projector(store)
    projector.catch_up()
    os.truncate(trees.memory / f"{RECEIPTS}.jsonl", 5)
    append_entries(store, 3)
    projector.catch_up()
    assert (trees.memory / f"{RECEIPTS}.jsonl").read_bytes() == lines(1, 2, 3)


@pytest.mark.parametrize("fresh_lines", [(), (3,)])
def test_a_torn_tail_is_cut_off(store: Database, trees: Trees, fresh_lines: tuple[int, ...]) -> None:
    append_entries(store, 1, 2)
    trees.projector(store).catch_up()
    with (trees.memory / f"{RECEIPTS}.jsonl").open("ab") as file:
        file.write(lines(3)[:7])
    if fresh_lines:
        append_entries(store, *fresh_lines)
    trees.projector(store).catch_up()
    assert (trees.memory / f"{RECEIPTS}.jsonl").read_bytes() == lines(1, 2, *fresh_lines)


def test_archived_lines_move_to_their_archive(store: Database, trees: Trees) -> None:
    projector = trees.projector(store)
    upto = append_entries(store, 1, 2)
    append_entries(store, 3)
    projector.catch_up()
    archive(store, upto)
    projector.catch_up()
    expected = {ARCHIVE: lines(1, 2), f"{RECEIPTS}.jsonl": lines(3)}
    assert files(trees.memory) == expected
    assert projector.verify().intact
    append_entries(store, 4)
    projector.catch_up()
    expected[f"{RECEIPTS}.jsonl"] = lines(3, 4)
    assert files(trees.memory) == expected
    projector.rebuild()
    assert files(trees.memory) == expected
    assert projector.verify().intact


def test_archives_follow_each_other_and_may_leave_the_stream_empty(store: Database, trees: Trees) -> None:
    projector = trees.projector(store)
    archive(store, append_entries(store, 1))
    second = "system/learning/archived/receipts-2.jsonl"
    archive(store, append_entries(store, 2, 3), second)
    projector.catch_up()
    assert files(trees.memory) == {ARCHIVE: lines(1), second: lines(2, 3), f"{RECEIPTS}.jsonl": b""}
    append_entries(store, 4)
    projector.catch_up()
    projector.rebuild()
    assert (trees.memory / f"{RECEIPTS}.jsonl").read_bytes() == lines(4)
    assert projector.verify().intact


def test_a_second_writer_waits_and_gives_up_with_the_remedy(store: Database, trees: Trees) -> None:
    with (
        single_writer(store, trees.memory),
        pytest.raises(ProjectionBusyError, match="written by another process"),
        single_writer(store, trees.memory, wait_seconds=0.05),
    ):
        raise AssertionError("two writers at once")


def test_projectors_that_work_at_once_neither_lose_nor_double_a_line(store: Database, trees: Trees) -> None:
    start = threading.Barrier(4)
    failures: list[BaseException] = []

    def work(worker: int) -> None:
        projector = trees.projector(store)
        start.wait()
        try:
            for number in range(10):
                with store.write() as connection:
                    append(connection, [draft(number, aggregate=f"{worker}", stream=RECEIPTS)])
                    put_document(connection, "memory", f"{worker}.json", b"%d" % number)
                projector.catch_up()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    projector = trees.projector(store)
    projector.catch_up()
    assert len((trees.memory / f"{RECEIPTS}.jsonl").read_bytes().splitlines()) == 40
    before = trees.snapshot()
    projector.rebuild()
    assert trees.snapshot() == before
    assert projector.verify().intact


def test_a_document_that_changes_while_it_is_written_is_written_again(
    store: Database, trees: Trees, monkeypatch: pytest.MonkeyPatch
) -> None:
    class DecidesMeanwhile:
        """The system calls, and a decision that falls between a file's renaming and its recording."""

        def __getattr__(self, name: str) -> object:
            return getattr(os, name)

        def rename(self, *arguments: str, **options: int) -> None:
            os.rename(*arguments, **options)  # noqa: PTH104
            put(store, CURRENT, b"second\n")

    projector = trees.projector(store)
    put(store, CURRENT, b"first\n")
    with monkeypatch.context() as patch:
        patch.setattr("stores.platform.projection.atomic_files.os", DecidesMeanwhile())
        projector.catch_up()
    assert files(trees.memory) == {CURRENT: b"first\n"}
    projector.catch_up()
    assert files(trees.memory) == {CURRENT: b"second\n"}
