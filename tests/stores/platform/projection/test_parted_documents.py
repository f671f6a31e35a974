"""Documents kept in parts: byte for byte what writing the whole gives, in the store and in the file."""

import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import select, update

from contracts.abilities.capability_health import CapabilityStats, CapabilityStatsCurrent
from stores.platform.canonical import document_bytes
from stores.platform.database import Database
from stores.platform.projection import document_projection
from stores.platform.projection.documents import (
    DocumentConflictError,
    document_digest,
    put_document,
    read_document,
    remove_document,
)
from stores.platform.projection.parted_documents import (
    Changes,
    PartedDocument,
    changes_since,
    latest_change,
    mark_behind,
    part_names,
    parts_behind,
    put_parts,
    read_frame,
    read_parts,
    remove_parted,
)
from stores.platform.projection.projector import ProjectionLoop, ProjectionReport, Projector
from stores.platform.tables import documents
from tests.stores.platform.projection.tree_snapshots import Trees, files

STATS = PartedDocument("system/capabilities/stats.json", "capabilities")
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def stats(name: str, uses: int = 0) -> CapabilityStats:
    return CapabilityStats(capability_id=name, uses=uses)


def written(*entries: CapabilityStats) -> bytes:
    return document_bytes(CapabilityStatsCurrent(capabilities=entries, stats_as_of=NOW))


def put(store: Database, *entries: CapabilityStats, gone: tuple[str, ...] = (), whole: bool = False) -> None:
    frame = CapabilityStatsCurrent(capabilities=(), stats_as_of=NOW)
    changed = {one.capability_id: one for one in entries} | dict.fromkeys(gone)
    with store.write() as connection:
        put_parts(connection, STATS, frame, changed, whole=whole)


def held(store: Database) -> bytes | None:
    with store.read() as connection:
        return read_document(connection, "memory", STATS.path)


def is_dirty(store: Database) -> bool | None:
    with store.read() as connection:
        return connection.scalar(select(documents.c.dirty).where(documents.c.path == STATS.path))


def test_parts_that_are_put_changed_and_removed_are_the_whole_document_in_the_order_of_their_names(
    store: Database,
) -> None:
    put(store)
    assert held(store) == written()
    put(store, stats("b"), stats("a_"), stats("a-"), stats("é"), stats("B"))
    assert held(store) == written(stats("B"), stats("a-"), stats("a_"), stats("b"), stats("é"))
    put(store, stats("b", 2), gone=("é", "a-", "nothing"))
    assert held(store) == written(stats("B"), stats("a_"), stats("b", 2))
    put(store, stats("c"), stats("b", 2), whole=True)
    assert held(store) == written(stats("b", 2), stats("c"))
    put(store, whole=True)
    assert held(store) == written()


def test_parts_are_read_by_name_and_the_frame_without_them(store: Database) -> None:
    put(store, stats("a", 1), stats("b"))
    with store.read() as connection:
        found = read_parts(connection, STATS, ["a", "c"])
        assert read_frame(connection, STATS) == written()
    assert {name: CapabilityStats.model_validate_json(part) for name, part in found.items()} == {
        "a": stats("a", 1)
    }


def test_a_removed_document_leaves_no_part_that_comes_back(store: Database) -> None:
    put(store, stats("a"))
    with store.write() as connection:
        remove_parted(connection, STATS)
        assert read_frame(connection, STATS) is None
    assert held(store) is None
    put(store, stats("b"))
    assert held(store) == written(stats("b"))
    with store.write() as connection:
        remove_document(connection, "memory", STATS.path)
    put(store, stats("c"))
    assert held(store) == written(stats("c"))


def test_a_document_that_was_put_whole_is_that_and_is_taken_apart_by_the_next_parts(store: Database) -> None:
    put(store, stats("a"))
    with store.write() as connection:
        put_document(connection, "memory", STATS.path, b"whole\n")
        assert read_frame(connection, STATS) is None
    assert held(store) == b"whole\n"
    put(store, stats("b"))
    assert held(store) == written(stats("b"))


def test_only_other_parts_or_another_frame_make_a_document_dirty_and_change_its_digest(
    store: Database,
) -> None:
    put(store, stats("a"), stats("b"))
    with store.write() as connection:
        connection.execute(update(documents).values(dirty=False))
        before = document_digest(connection, "memory", STATS.path)
    put(store, stats("a"), gone=("c",))
    assert is_dirty(store) is False
    with store.read() as connection:
        assert document_digest(connection, "memory", STATS.path) == before
    put(store, gone=("a",))
    assert is_dirty(store) is True
    with store.read() as connection:
        assert document_digest(connection, "memory", STATS.path) != before


def test_a_part_is_behind_until_it_is_written(store: Database) -> None:
    put(store, stats("a"), stats("b"))
    with store.write() as connection:
        mark_behind(connection, STATS, "a")
        mark_behind(connection, STATS, "nothing")
        assert parts_behind(connection, STATS) == ("a",)
    put(store, stats("b", 1))
    with store.read() as connection:
        assert parts_behind(connection, STATS) == ("a",)
    put(store, stats("a"))
    with store.read() as connection:
        assert parts_behind(connection, STATS) == ()


def test_a_document_in_parts_is_refused_where_a_folder_is(store: Database) -> None:
    with store.write() as connection:
        put_document(connection, "memory", f"{STATS.path}/inside.json", b"{}")
    with pytest.raises(DocumentConflictError):
        put(store, stats("a"))


def test_the_file_holds_the_parts_and_is_mended_rebuilt_and_verified_like_every_other(
    sqlite_store: Database, tmp_path: Path
) -> None:
    trees = Trees(tmp_path / "trees")
    projector = trees.projector(sqlite_store)
    put(sqlite_store, stats("a"), stats("b"))
    projector.catch_up()
    file = trees.memory / STATS.path
    assert files(trees.memory) == {STATS.path: written(stats("a"), stats("b"))}
    put(sqlite_store, stats("b", 3), gone=("a",))
    projector.catch_up()
    assert file.read_bytes() == written(stats("b", 3))
    assert projector.verify().intact

    file.write_bytes(b"{")
    assert [one.kind for one in projector.verify().differences] == ["changed"]
    trees.projector(sqlite_store).catch_up()
    assert file.read_bytes() == written(stats("b", 3))
    file.write_bytes(written(stats("b", 4)))
    projector.rebuild()
    assert file.read_bytes() == written(stats("b", 3))
    assert projector.rebuild().documents_written == 0
    with sqlite_store.write() as connection:
        remove_parted(connection, STATS)
    projector.catch_up()
    assert not file.exists()


def test_changes_name_what_was_written_since_and_tell_that_something_was_removed(store: Database) -> None:
    put(store, stats("a"), stats("b"))
    with store.read() as connection:
        _, first = latest_change(connection, STATS)
    put(store, stats("b", 1), stats("c"))
    with store.read() as connection:
        digest, second = latest_change(connection, STATS)
        assert changes_since(connection, STATS, first) == Changes(("b", "c"), dropped=False)
        assert changes_since(connection, STATS, second) == Changes((), dropped=False)
        assert digest == document_digest(connection, "memory", STATS.path)
    put(store, gone=("a",))
    with store.read() as connection:
        assert changes_since(connection, STATS, second) == Changes((), dropped=True)
        assert part_names(connection, STATS) == {"b", "c"}


def test_a_document_that_is_made_anew_is_ahead_of_what_was_removed(store: Database) -> None:
    put(store, stats("a"))
    with store.write() as connection:
        _, before = latest_change(connection, STATS)
        remove_parted(connection, STATS)
    put(store, stats("b"))
    with store.read() as connection:
        assert changes_since(connection, STATS, before) == Changes(("b",), dropped=True)


def test_whoever_is_waited_for_leaves_a_file_of_many_parts_to_the_loop_which_writes_it_when_it_is_quiet(
    sqlite_store: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_projection, "LARGE_PARTS", 2)
    trees = Trees(tmp_path)
    projector = trees.projector(sqlite_store)
    file = trees.memory / STATS.path
    put(sqlite_store, stats("a"), stats("b"))
    assert projector.catch_up(leave_large=True).large_left == 0
    two = file.read_bytes()
    put(sqlite_store, stats("c"))
    with sqlite_store.write() as connection:
        put_document(connection, "memory", "system/small.json", b"{}")
    report = projector.catch_up(leave_large=True)
    assert (report.large_left, report.documents_written) == (1, 1)
    assert (trees.memory / "system/small.json").read_bytes() == b"{}"
    assert file.read_bytes() == two
    written_by_loop = threading.Event()

    class Watched(Projector):
        def catch_up(self, *, leave_large: bool = False) -> ProjectionReport:
            report = super().catch_up(leave_large=leave_large)
            if report.documents_written:
                written_by_loop.set()
            return report

    loop = ProjectionLoop(Watched(sqlite_store, trees.memory, trees.workspace), lambda: None)
    try:
        assert written_by_loop.wait(20)
    finally:
        loop.close()
    assert file.read_bytes() == written(stats("a"), stats("b"), stats("c"))
