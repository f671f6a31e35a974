import os
from pathlib import Path

import pytest
from sqlalchemy import update

from stores.platform.database import Database
from stores.platform.tables import journal, projection_offsets
from tests.stores.platform.journal_drafts import RECEIPTS
from tests.stores.platform.projection.projection_steps import (
    CURRENT,
    SKILL,
    append_entries,
    archive,
    lines,
    put,
    remove,
)
from tests.stores.platform.projection.tree_snapshots import Trees, mode


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    return Trees(tmp_path)


def test_a_rebuild_from_nothing_is_byte_identical(store: Database, trees: Trees) -> None:
    projector = trees.projector(store)
    for round_ in range(3):
        put(store, CURRENT, b'{"round":%d}\n' % round_)
        put(store, f"system/proposals/{round_}.json", b"{}\n")
        put(store, SKILL, b"# %d\n" % round_, "workspace")
        last = append_entries(store, round_, round_ + 10)
        projector.catch_up()
    archive(store, last - 1)
    remove(store, "system/proposals/1.json")
    projector.catch_up()
    elsewhere = Trees(trees.folder / "elsewhere")
    elsewhere.projector(store).rebuild()
    assert elsewhere.snapshot() == trees.snapshot()


def test_a_rebuild_puts_right_what_was_changed_added_and_taken_away(store: Database, trees: Trees) -> None:
    projector = trees.projector(store)
    put(store, CURRENT, b"{}\n")
    put(store, "system/kept.json", b"kept")
    put(store, SKILL, b"# Report\n", "workspace")
    append_entries(store, 1, 2)
    projector.catch_up()
    before = trees.snapshot()
    (trees.memory / CURRENT).write_bytes(b"[]\n")
    (trees.memory / "system/kept.json").chmod(0o666)
    (trees.workspace / SKILL).unlink()
    (trees.memory / f"{RECEIPTS}.jsonl").write_bytes(b"x" * len(lines(1, 2)))
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
        (lambda root: os.truncate(root / f"{RECEIPTS}.jsonl", len(lines(1)) + 3), "changed", "line 2 "),
        (lambda root: (root / f"{RECEIPTS}.jsonl").write_bytes(lines(1, 2, 3)), "changed", "line 3 "),
    ],
)
def test_a_file_that_is_not_as_the_store_says_is_named_with_the_remedy(
    sqlite_store: Database, trees: Trees, damage, kind: str, words: str
) -> None:
    put(sqlite_store, CURRENT, b"{}\n")
    append_entries(sqlite_store, 1, 2)
    projector = trees.projector(sqlite_store)
    projector.catch_up()
    assert projector.verify().intact
    damage(trees.memory)
    (difference,) = projector.verify().differences
    assert (difference.kind, difference.root) == (kind, "memory")
    assert words in difference.message
    assert "memory rebuild" in difference.remedy


def test_verifying_reports_a_journal_that_was_tampered_with(store: Database, trees: Trees) -> None:
    append_entries(store, 1, 2)
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
    put(store, CURRENT, b"{}\n")
    append_entries(store, 1)
    projector.catch_up()
    before = trees.snapshot()
    put(store, CURRENT, b"[]\n")
    put(store, "new.json", b"")
    append_entries(store, 2)
    report = projector.verify()
    assert (report.intact, report.pending) == (True, 2)
    assert trees.snapshot() == before
