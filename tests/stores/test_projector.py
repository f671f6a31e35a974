import os
import threading
from pathlib import Path

import pytest
from sqlalchemy import insert, update

from stores.canonical import canonical_json
from stores.database import Database
from stores.documents import DocumentRoot, put_document, remove_document
from stores.journal import append
from stores.projection_lock import ProjectionBusyError, single_writer
from stores.projector import ProjectionError, ProjectionReport
from stores.tables import documents, journal, projection_offsets, stream_archives
from tests.stores.journal_drafts import CHECKPOINTS, RECEIPTS, draft
from tests.stores.tree_snapshots import Trees, files, mode, snapshot

CURRENT = "system/learning/runtime/current.json"
SKILL = "skills/report/SKILL.md"
ARCHIVE = "system/learning/archived/receipts-1.jsonl"


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    return Trees(tmp_path)


def _put(store: Database, path: str, content: bytes, root: DocumentRoot = "memory") -> None:
    with store.write() as connection:
        put_document(connection, root, path, content)


def _remove(store: Database, path: str, root: DocumentRoot = "memory") -> None:
    with store.write() as connection:
        remove_document(connection, root, path)


def _append(store: Database, *numbers: int, stream: str = RECEIPTS) -> int:
    with store.write() as connection:
        return append(connection, [draft(number, stream=stream) for number in numbers])[-1]


def _archive(store: Database, upto: int, archive: str = ARCHIVE) -> None:
    row = {"stream": RECEIPTS, "archive": archive, "upto_seq": upto, "created_at": "2026-11-01T00:00:00Z"}
    with store.write() as connection:
        connection.execute(insert(stream_archives), row)


def _lines(*numbers: int) -> bytes:
    return "".join(f"{canonical_json(draft(number).document)}\n" for number in numbers).encode()


def test_documents_and_streams_become_files(store: Database, trees: Trees) -> None:
    _put(store, CURRENT, b"{}\n")
    _put(store, SKILL, b"# Report\n", "workspace")
    _append(store, 1, 2)
    _append(store, 3, stream=CHECKPOINTS)
    report = trees.projector(store).catch_up()
    assert files(trees.memory) == {
        CURRENT: b"{}\n",
        f"{RECEIPTS}.jsonl": _lines(1, 2),
        f"{CHECKPOINTS}.jsonl": _lines(3),
    }
    assert files(trees.workspace) == {SKILL: b"# Report\n"}
    assert (report.documents_written, report.lines_appended) == (2, 3)


def test_memory_is_private_and_the_workspace_readable_but_not_writable(store: Database, trees: Trees) -> None:
    _put(store, CURRENT, b"{}\n")
    _put(store, SKILL, b"# Report\n", "workspace")
    _append(store, 1)
    trees.projector(store).catch_up()
    assert {mode(path) for path in trees.memory.rglob("*.json*")} == {0o600}
    assert mode(trees.memory) == mode(trees.memory / "system") == 0o700
    assert mode(trees.workspace / SKILL) == 0o444
    assert mode(trees.workspace / "skills") == 0o755


def test_what_changed_is_written_and_what_did_not_is_left_alone(store: Database, trees: Trees) -> None:
    _put(store, "a.json", b"a")
    _put(store, "b.json", b"b")
    projector = trees.projector(store)
    projector.catch_up()
    before = (trees.memory / "b.json").stat()
    _put(store, "a.json", b"other")
    assert projector.catch_up().documents_written == 1
    assert files(trees.memory) == {"a.json": b"other", "b.json": b"b"}
    after = (trees.memory / "b.json").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_nothing_to_do_touches_no_file_and_takes_no_lock(store: Database, trees: Trees) -> None:
    _put(store, CURRENT, b"{}\n")
    _append(store, 1)
    projector = trees.projector(store)
    projector.catch_up()
    with single_writer(store, trees.memory):
        assert projector.catch_up() == ProjectionReport()


def test_lines_are_appended_to_the_same_file(store: Database, trees: Trees) -> None:
    _append(store, 1)
    projector = trees.projector(store)
    projector.catch_up()
    inode = (trees.memory / f"{RECEIPTS}.jsonl").stat().st_ino
    _append(store, 2, 3)
    projector.catch_up()
    assert (trees.memory / f"{RECEIPTS}.jsonl").read_bytes() == _lines(1, 2, 3)
    assert (trees.memory / f"{RECEIPTS}.jsonl").stat().st_ino == inode


def test_more_lines_than_one_pass_takes_are_all_appended(
    sqlite_store: Database, trees: Trees, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stores.stream_projection.ENTRIES_A_PASS", 4)
    monkeypatch.setattr("stores.expected_streams._LINES_A_READ", 3)
    _append(sqlite_store, *range(5))
    _append(sqlite_store, *range(5, 9), stream=CHECKPOINTS)
    _append(sqlite_store, *range(9, 15))
    projector = trees.projector(sqlite_store)
    projector.catch_up()
    assert (trees.memory / f"{RECEIPTS}.jsonl").read_bytes() == _lines(*range(5), *range(9, 15))
    assert (trees.memory / f"{CHECKPOINTS}.jsonl").read_bytes() == _lines(*range(5, 9))
    before = trees.snapshot()
    projector.rebuild()
    assert trees.snapshot() == before


def test_a_removed_document_leaves_neither_file_nor_folder_nor_row(store: Database, trees: Trees) -> None:
    _put(store, CURRENT, b"{}\n")
    _put(store, "system/abilities/a.json", b"a")
    _put(store, SKILL, b"# Report\n", "workspace")
    projector = trees.projector(store)
    projector.catch_up()
    _remove(store, CURRENT)
    _remove(store, SKILL, "workspace")
    assert projector.catch_up().documents_removed == 2
    assert snapshot(trees.memory).keys() == {"system", "system/abilities", "system/abilities/a.json"}
    assert snapshot(trees.workspace) == {}
    with store.read() as connection:
        assert connection.execute(documents.select()).one().path == "system/abilities/a.json"


def test_a_document_put_again_before_the_projector_came_by_stays(store: Database, trees: Trees) -> None:
    _put(store, CURRENT, b"{}\n")
    projector = trees.projector(store)
    projector.catch_up()
    _remove(store, CURRENT)
    _put(store, CURRENT, b"{}\n")
    projector.catch_up()
    assert files(trees.memory) == {CURRENT: b"{}\n"}


def test_a_file_may_become_a_folder_and_a_folder_a_file(store: Database, trees: Trees) -> None:
    projector = trees.projector(store)
    for gone, path in ((None, "a"), ("a", "a/b/c"), ("a/b/c", "a/b"), ("a/b", "a")):
        if gone is not None:
            _remove(store, gone)
        _put(store, path, b"x")
        projector.catch_up()
        assert files(trees.memory) == {path: b"x"}


def test_files_of_others_in_the_workspace_are_never_touched(store: Database, trees: Trees) -> None:
    notes = trees.workspace / "skills/report/notes.md"
    notes.parent.mkdir(parents=True)
    notes.write_bytes(b"mine")
    (trees.workspace / "AGENTS.md").write_bytes(b"also mine")
    others = snapshot(trees.workspace)
    projector = trees.projector(store)
    _put(store, SKILL, b"# Report\n", "workspace")
    projector.catch_up()
    assert projector.verify().intact
    projector.rebuild()
    assert snapshot(trees.workspace) == others | {SKILL: b"# Report\n"}
    _remove(store, SKILL, "workspace")
    projector.catch_up()
    assert snapshot(trees.workspace) == others


def test_a_folder_of_others_stays_even_when_it_becomes_empty(store: Database, trees: Trees) -> None:
    (trees.workspace / "skills").mkdir(parents=True)
    projector = trees.projector(store)
    _put(store, SKILL, b"# Report\n", "workspace")
    projector.catch_up()
    _remove(store, SKILL, "workspace")
    projector.catch_up()
    assert snapshot(trees.workspace) == {"skills": None}


def test_a_place_taken_by_someone_elses_file_is_refused_and_all_else_is_written(
    store: Database, trees: Trees
) -> None:
    (trees.workspace / SKILL).parent.mkdir(parents=True)
    (trees.workspace / SKILL).write_bytes(b"theirs")
    _put(store, SKILL, b"ours", "workspace")
    _put(store, CURRENT, b"{}\n")
    _append(store, 1)
    projector = trees.projector(store)
    with pytest.raises(ProjectionError, match="not ours") as refused:
        projector.catch_up()
    assert [failure.path for failure in refused.value.failures] == [SKILL]
    assert (trees.workspace / SKILL).read_bytes() == b"theirs"
    assert files(trees.memory).keys() == {CURRENT, f"{RECEIPTS}.jsonl"}
    (trees.workspace / SKILL).unlink()
    projector.catch_up()
    assert (trees.workspace / SKILL).read_bytes() == b"ours"


def test_removing_a_document_that_never_got_its_place_leaves_the_others_file(
    store: Database, trees: Trees
) -> None:
    (trees.workspace / SKILL).parent.mkdir(parents=True)
    (trees.workspace / SKILL).write_bytes(b"theirs")
    projector = trees.projector(store)
    _put(store, SKILL, b"ours", "workspace")
    with pytest.raises(ProjectionError):
        projector.catch_up()
    _remove(store, SKILL, "workspace")
    projector.catch_up()
    assert files(trees.workspace) == {SKILL: b"theirs"}


def test_an_equal_file_that_is_already_there_is_taken_over(store: Database, trees: Trees) -> None:
    (trees.workspace / SKILL).parent.mkdir(parents=True)
    (trees.workspace / SKILL).write_bytes(b"# Report\n")
    _put(store, SKILL, b"# Report\n", "workspace")
    projector = trees.projector(store)
    projector.catch_up()
    _put(store, SKILL, b"# Second\n", "workspace")
    projector.catch_up()
    assert files(trees.workspace) == {SKILL: b"# Second\n"}


def test_a_link_planted_in_the_workspace_leads_no_write_out_of_it(store: Database, trees: Trees) -> None:
    outside = trees.folder / "outside"
    outside.mkdir()
    trees.workspace.mkdir()
    (trees.workspace / "skills").symlink_to(outside)
    _put(store, SKILL, b"# Report\n", "workspace")
    with pytest.raises(ProjectionError, match=SKILL):
        trees.projector(store).catch_up()
    assert snapshot(outside) == {}


def test_a_link_in_place_of_our_file_is_replaced_and_its_target_kept(store: Database, trees: Trees) -> None:
    outside = trees.folder / "outside"
    outside.write_bytes(b"precious")
    _put(store, SKILL, b"one", "workspace")
    projector = trees.projector(store)
    projector.catch_up()
    (trees.workspace / SKILL).unlink()
    (trees.workspace / SKILL).symlink_to(outside)
    _put(store, SKILL, b"two", "workspace")
    projector.catch_up()
    assert outside.read_bytes() == b"precious"
    assert not (trees.workspace / SKILL).is_symlink()
    assert (trees.workspace / SKILL).read_bytes() == b"two"


def test_missing_and_short_files_are_mended_at_the_start(store: Database, trees: Trees) -> None:
    _put(store, CURRENT, b"{}\n")
    _put(store, SKILL, b"# Report\n", "workspace")
    _append(store, 1, 2)
    _append(store, 3, stream=CHECKPOINTS)
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
    _append(store, 1, 2)
    projector = trees.projector(store)
    projector.catch_up()
    os.truncate(trees.memory / f"{RECEIPTS}.jsonl", 5)
    _append(store, 3)
    projector.catch_up()
    assert (trees.memory / f"{RECEIPTS}.jsonl").read_bytes() == _lines(1, 2, 3)


@pytest.mark.parametrize("fresh_lines", [(), (3,)])
def test_a_torn_tail_is_cut_off(store: Database, trees: Trees, fresh_lines: tuple[int, ...]) -> None:
    _append(store, 1, 2)
    trees.projector(store).catch_up()
    with (trees.memory / f"{RECEIPTS}.jsonl").open("ab") as file:
        file.write(_lines(3)[:7])
    if fresh_lines:
        _append(store, *fresh_lines)
    trees.projector(store).catch_up()
    assert (trees.memory / f"{RECEIPTS}.jsonl").read_bytes() == _lines(1, 2, *fresh_lines)


def test_archived_lines_move_to_their_archive(store: Database, trees: Trees) -> None:
    projector = trees.projector(store)
    upto = _append(store, 1, 2)
    _append(store, 3)
    projector.catch_up()
    _archive(store, upto)
    projector.catch_up()
    expected = {ARCHIVE: _lines(1, 2), f"{RECEIPTS}.jsonl": _lines(3)}
    assert files(trees.memory) == expected
    assert projector.verify().intact
    _append(store, 4)
    projector.catch_up()
    expected[f"{RECEIPTS}.jsonl"] = _lines(3, 4)
    assert files(trees.memory) == expected
    projector.rebuild()
    assert files(trees.memory) == expected
    assert projector.verify().intact


def test_archives_follow_each_other_and_may_leave_the_stream_empty(store: Database, trees: Trees) -> None:
    projector = trees.projector(store)
    _archive(store, _append(store, 1))
    second = "system/learning/archived/receipts-2.jsonl"
    _archive(store, _append(store, 2, 3), second)
    projector.catch_up()
    assert files(trees.memory) == {ARCHIVE: _lines(1), second: _lines(2, 3), f"{RECEIPTS}.jsonl": b""}
    _append(store, 4)
    projector.catch_up()
    projector.rebuild()
    assert (trees.memory / f"{RECEIPTS}.jsonl").read_bytes() == _lines(4)
    assert projector.verify().intact


def test_a_rebuild_from_nothing_is_byte_identical(store: Database, trees: Trees) -> None:
    projector = trees.projector(store)
    for round_ in range(3):
        _put(store, CURRENT, b'{"round":%d}\n' % round_)
        _put(store, f"system/proposals/{round_}.json", b"{}\n")
        _put(store, SKILL, b"# %d\n" % round_, "workspace")
        last = _append(store, round_, round_ + 10)
        projector.catch_up()
    _archive(store, last - 1)
    _remove(store, "system/proposals/1.json")
    projector.catch_up()
    elsewhere = Trees(trees.folder / "elsewhere")
    elsewhere.projector(store).rebuild()
    assert elsewhere.snapshot() == trees.snapshot()


def test_a_rebuild_puts_right_what_was_changed_added_and_taken_away(store: Database, trees: Trees) -> None:
    projector = trees.projector(store)
    _put(store, CURRENT, b"{}\n")
    _put(store, "system/kept.json", b"kept")
    _put(store, SKILL, b"# Report\n", "workspace")
    _append(store, 1, 2)
    projector.catch_up()
    before = trees.snapshot()
    (trees.memory / CURRENT).write_bytes(b"[]\n")
    (trees.memory / "system/kept.json").chmod(0o666)
    (trees.workspace / SKILL).unlink()
    (trees.memory / f"{RECEIPTS}.jsonl").write_bytes(b"x" * len(_lines(1, 2)))
    (trees.memory / "unexplained/folder").mkdir(parents=True)
    (trees.memory / "unexplained/file").write_bytes(b"?")
    (trees.memory / "link").symlink_to(trees.folder)
    with store.write() as connection:
        connection.execute(update(projection_offsets).values(size_bytes=1))
    assert not projector.verify().intact
    assert projector.rebuild().unexplained_removed == 2
    assert trees.snapshot() == before
    assert mode(trees.memory / "system/kept.json") == 0o600
    assert projector.verify().intact


@pytest.mark.parametrize(
    ("damage", "kind", "words"),
    [
        (lambda root: (root / CURRENT).unlink(), "missing", "missing"),
        (lambda root: (root / CURRENT).write_bytes(b"{ \n"), "changed", "byte 2"),
        (lambda root: (root / CURRENT).chmod(0o644), "permissions", "0644"),
        (lambda root: (root / "stranger").write_bytes(b"?"), "unexplained", "no document"),
        (lambda root: os.truncate(root / f"{RECEIPTS}.jsonl", len(_lines(1)) + 3), "changed", "line 2 "),
        (lambda root: (root / f"{RECEIPTS}.jsonl").write_bytes(_lines(1, 2, 3)), "changed", "line 3 "),
    ],
)
def test_a_file_that_is_not_as_the_store_says_is_named_with_the_remedy(
    sqlite_store: Database, trees: Trees, damage, kind: str, words: str
) -> None:
    _put(sqlite_store, CURRENT, b"{}\n")
    _append(sqlite_store, 1, 2)
    projector = trees.projector(sqlite_store)
    projector.catch_up()
    assert projector.verify().intact
    damage(trees.memory)
    (difference,) = projector.verify().differences
    assert (difference.kind, difference.root) == (kind, "memory")
    assert words in difference.message
    assert "memory rebuild" in difference.remedy


def test_verifying_reports_a_journal_that_was_tampered_with(store: Database, trees: Trees) -> None:
    _append(store, 1, 2)
    projector = trees.projector(store)
    projector.catch_up()
    with store.write() as connection:
        connection.execute(update(journal).values(owner="mallory"))
    report = projector.verify()
    assert report.differences == ()
    assert report.chains.fault is not None
    assert not report.intact


def test_verifying_counts_what_is_still_to_be_written_and_changes_nothing(
    store: Database, trees: Trees
) -> None:
    projector = trees.projector(store)
    _put(store, CURRENT, b"{}\n")
    _append(store, 1)
    projector.catch_up()
    before = trees.snapshot()
    _put(store, CURRENT, b"[]\n")
    _put(store, "new.json", b"")
    _append(store, 2)
    report = projector.verify()
    assert (report.intact, report.pending) == (True, 2)
    assert trees.snapshot() == before


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
