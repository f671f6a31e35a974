"""The process or the power ends at any moment of a projection; the next one makes everything true."""

import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, insert

from stores.platform.canonical import canonical_json
from stores.platform.database import Database
from stores.platform.journal.chains import verify_chains
from stores.platform.journal.journal import append
from stores.platform.projection.documents import put_document, remove_document
from stores.platform.tables import stream_archives
from tests.stores.platform.journal_drafts import CHECKPOINTS, RECEIPTS, draft
from tests.stores.platform.projection.power_cuts import Tail, WatchedDisk, run_on
from tests.stores.platform.projection.tree_snapshots import Trees, files

OLD, NEW = b'{"state":"old"}\n' * 300, b'{"state":"new"}\n' * 200
CURRENT = "system/runtime/current.json"
ARCHIVE = "system/archived/receipts-1.jsonl"
ROUNDS = 6


def _first_decisions(store: Database) -> None:
    with store.write() as connection:
        put_document(connection, "memory", CURRENT, OLD)
        put_document(connection, "memory", "system/gone/soon.json", OLD)
        put_document(connection, "memory", "system/place", OLD)
        append(connection, [draft(number) for number in range(4)])


def _later_decisions(store: Database) -> None:
    with store.write() as connection:
        put_document(connection, "memory", CURRENT, NEW)
        remove_document(connection, "memory", "system/gone/soon.json")
        remove_document(connection, "memory", "system/place")
        put_document(connection, "memory", "system/place/inner.json", NEW)
        put_document(connection, "memory", "system/fresh/new.json", NEW)
        numbers = append(connection, [draft(number) for number in range(4, 7)])
        append(connection, [draft(number, stream=CHECKPOINTS) for number in range(2)])
        connection.execute(
            insert(stream_archives),
            {"stream": RECEIPTS, "archive": ARCHIVE, "upto_seq": numbers[0], "created_at": "2026-11-01"},
        )


def _lines(*numbers: int) -> bytes:
    return "".join(f"{canonical_json(draft(number).document)}\n" for number in numbers).encode()


EXPECTED = {
    CURRENT: NEW,
    "system/place/inner.json": NEW,
    "system/fresh/new.json": NEW,
    ARCHIVE: _lines(0, 1, 2, 3, 4),
    f"{RECEIPTS}.jsonl": _lines(5, 6),
    f"{CHECKPOINTS}.jsonl": _lines(0, 1),
}


def _sync_nothing(connection: Any, _record: object) -> None:
    connection.execute("PRAGMA synchronous=OFF")


class Scene:
    """A store and trees that are at the old state, copied anew for every cut."""

    def __init__(self, folder: Path, template: Path) -> None:
        shutil.copytree(template, folder)
        self.store = Database(f"sqlite:///{folder / 'store.db'}")
        # The store is not what is cut off here, and its syncs are most of the time.
        event.listen(self.store.engine, "connect", _sync_nothing)
        self.trees = Trees(folder)
        _later_decisions(self.store)

    def close(self) -> None:
        self.store.close()


@pytest.fixture
def template(sqlite_store: Database, tmp_path: Path) -> Path:
    folder = tmp_path / "template"
    folder.mkdir()
    _first_decisions(sqlite_store)
    Trees(folder).projector(sqlite_store).catch_up()
    sqlite_store.close()
    shutil.copy(tmp_path / "store.db", folder / "store.db")
    return folder


def _assert_old_or_new(memory: Path) -> None:
    for path, content in files(memory).items():
        if path.endswith(".json"):
            assert content in (OLD, NEW), f"{path} is neither old nor new"


def _assert_true(scene: Scene, trees: Trees) -> None:
    projector = trees.projector(scene.store)
    assert run_on(WatchedDisk(), projector.catch_up)
    assert files(trees.memory) == EXPECTED
    assert projector.verify().differences == ()
    assert verify_chains(scene.store).intact


@pytest.mark.thorough
@pytest.mark.parametrize("method", ["catch_up", pytest.param("rebuild", marks=pytest.mark.thorough)])
def test_a_process_that_ends_at_any_call_leaves_old_or_new_and_is_caught_up(
    template: Path, tmp_path: Path, method: str
) -> None:
    cut, done = 0, False
    while not done:
        cut += 1
        scene = Scene(tmp_path / f"cut-{cut}", template)
        projector = scene.trees.projector(scene.store)
        done = run_on(WatchedDisk(cut), getattr(projector, method))
        _assert_old_or_new(scene.trees.memory)
        _assert_true(scene, scene.trees)
        scene.close()
        shutil.rmtree(scene.trees.folder)
    assert cut > 20


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("names_kept", "tail"),
    [
        (False, "lost"),
        *(
            pytest.param(*cut, marks=pytest.mark.thorough)
            for cut in [(True, "zeroed"), (False, "half"), (True, "whole")]
        ),
    ],
)
def test_a_power_cut_at_any_call_leaves_old_or_new_and_is_caught_up(
    template: Path, tmp_path: Path, names_kept: bool, tail: Tail
) -> None:
    cut, done = 0, False
    while not done:
        cut += 1
        scene = Scene(tmp_path / f"cut-{cut}", template)
        disk = WatchedDisk(cut)
        disk.assume_synced(scene.trees.folder)
        done = run_on(disk, scene.trees.projector(scene.store).catch_up)
        left = Trees(tmp_path / f"left-{cut}")
        left.folder.mkdir()
        disk.after_power_cut(scene.trees.memory, left.memory, names_kept=names_kept, tail=tail)
        _assert_old_or_new(left.memory)
        assert (left.memory / f"{RECEIPTS}.jsonl").read_bytes().startswith((_lines(0, 1, 2, 3), _lines(5, 6)))
        _assert_true(scene, left)
        scene.close()
        shutil.rmtree(scene.trees.folder)
        shutil.rmtree(left.folder)
    assert cut > 20


CANONICAL = "system/capabilities/manifests/learned.report.json"
COPY = "skills/report/capabilities/learned.report.json"


@pytest.mark.acceptance("9.19-2")
def test_at_any_moment_the_copy_of_a_manifest_is_whole_and_never_newer_than_the_canonical_one(
    sqlite_store: Database, tmp_path: Path
) -> None:
    def decide(content: bytes) -> None:
        with sqlite_store.write() as connection:
            put_document(connection, "memory", CANONICAL, content)
            put_document(connection, "workspace", COPY, content)

    trees = Trees(tmp_path / "trees")
    ages = {None: 0, OLD: 1, NEW: 2}
    seen: set[tuple[int, int]] = set()
    for content in (OLD, NEW):
        decide(content)
        cut, done = 0, False
        while not done:
            cut += 1
            # Fails at its call number ``cut`` like a process that ends there; the next one starts behind that.
            done = run_on(WatchedDisk(cut), trees.projector(sqlite_store).catch_up)
            canonical = ages[files(trees.memory).get(CANONICAL)]
            copy = ages[files(trees.workspace).get(COPY)]
            seen.add((canonical, copy))
            assert canonical >= copy
    assert {(1, 0), (1, 1), (2, 1), (2, 2)} <= seen


WORK_UNTIL_KILLED = """
import sys
from pathlib import Path
from typing import Any
from stores.platform.database import Database
from stores.platform.projection.documents import put_document, remove_document
from stores.platform.journal.journal import append
from stores.platform.projection.projector import Projector
from tests.stores.platform.journal_drafts import CHECKPOINTS, RECEIPTS, draft

database = Database(sys.argv[1])
projector = Projector(database, Path(sys.argv[2]), Path(sys.argv[3]))
number = int(sys.argv[4])
while True:
    number += 1
    with database.write() as connection:
        append(connection, [draft(number), draft(number, stream=CHECKPOINTS, aggregate=f"s/{number % 7}")])
        put_document(connection, "memory", "system/current.json", b"%d" % number * 5000)
        put_document(connection, "memory", f"system/p/{number % 5}/doc.json", b"%d" % number)
        remove_document(connection, "memory", f"system/p/{(number + 2) % 5}/doc.json")
        put_document(connection, "workspace", f"skills/s{number % 3}/SKILL.md", b"%d" % number)
        remove_document(connection, "workspace", f"skills/s{(number + 1) % 3}/SKILL.md")
    projector.catch_up()
    print(number, flush=True)
"""


@pytest.mark.thorough
def test_a_projector_killed_again_and_again_loses_and_doubles_nothing(
    store: Database, tmp_path: Path
) -> None:
    trees = Trees(tmp_path)
    chance = random.Random(20261101)
    url = store.engine.url.render_as_string(hide_password=False)
    for round_ in range(ROUNDS):
        arguments = [url, str(trees.memory), str(trees.workspace), str(round_ * 1_000)]
        with subprocess.Popen(
            [sys.executable, "-c", WORK_UNTIL_KILLED, *arguments], stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdout is not None
            for _ in range(chance.randint(1, 12)):
                assert child.stdout.readline()
            for _ in range(chance.randint(0, 20_000)):
                pass
            child.kill()
        projector = trees.projector(store)
        projector.catch_up()
        report = projector.verify()
        assert report.differences == ()
        assert report.chains.intact
        assert report.pending == 0
    before = trees.snapshot()
    elsewhere = Trees(tmp_path / "elsewhere")
    elsewhere.projector(store).rebuild()
    assert elsewhere.snapshot() == before
    written = (trees.memory / f"{RECEIPTS}.jsonl").read_bytes().splitlines()
    assert len(written) == len(set(written)) == report.chains.entries / 2
