"""Whatever is decided, projected, damaged or cut off, and in whatever order: the end is the same."""

import shutil
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from sqlalchemy import insert

from stores.platform.canonical import canonical_json
from stores.platform.database import Database
from stores.platform.journal.chains import verify_chains
from stores.platform.journal.journal import append
from stores.platform.migrate import upgrade
from stores.platform.projection.documents import (
    DocumentConflictError,
    put_document,
    read_document,
    remove_document,
)
from stores.platform.tables import stream_archives
from tests.stores.platform.journal_drafts import CHECKPOINTS, RECEIPTS, draft
from tests.stores.platform.projection.power_cuts import WatchedDisk, run_on
from tests.stores.platform.projection.tree_snapshots import Trees, files

ROOTS = st.sampled_from(["memory", "workspace"])
PATHS = st.sampled_from(["a", "a/b", "a/b/c", "system/x.json", "system/y/z.json", "skills/s/SKILL.md"])
CONTENTS = st.sampled_from([b"", b"one\n", b"two\n", b"\x00" * 5_000])
STREAMS = st.sampled_from([RECEIPTS, CHECKPOINTS, "system/x"])


class Projection(RuleBasedStateMachine):
    """A store, its trees, and beside them the plainest account of what must be in them."""

    migrated: Path

    @initialize()
    def start(self) -> None:
        self.temporary = TemporaryDirectory()
        folder = Path(self.temporary.name)
        shutil.copy(self.migrated, folder / "store.db")
        self.store = Database(f"sqlite:///{folder / 'store.db'}")
        self.trees = Trees(folder / "trees")
        self.projector = self.trees.projector(self.store)
        self.documents: dict[tuple[str, str], bytes] = {}
        self.lines: dict[str, bytes] = {}
        self.newest: dict[str, int] = {}
        self.number = 0

    def teardown(self) -> None:
        if not hasattr(self, "store"):
            return
        self.trees.projector(self.store).catch_up()
        self.it_is_what_was_decided()
        elsewhere = Trees(self.trees.folder.parent / "elsewhere")
        elsewhere.projector(self.store).rebuild()
        assert elsewhere.snapshot() == self.trees.snapshot()
        report = self.projector.verify()
        assert (report.differences, report.pending, report.chains.fault) == ((), 0, None)
        self.store.close()
        self.temporary.cleanup()

    @rule(root=ROOTS, path=PATHS, content=CONTENTS)
    def put(self, root, path: str, content: bytes) -> None:
        rivals = [
            other
            for other_root, other in self.documents
            if other_root == root and (other.startswith(f"{path}/") or path.startswith(f"{other}/"))
        ]
        refused = pytest.raises(DocumentConflictError) if rivals else nullcontext()
        with refused, self.store.write() as connection:
            put_document(connection, root, path, content)
        if not rivals:
            self.documents[root, path] = content

    @rule(root=ROOTS, path=PATHS)
    def remove(self, root, path: str) -> None:
        with self.store.write() as connection:
            remove_document(connection, root, path)
        self.documents.pop((root, path), None)

    @rule(stream=STREAMS, count=st.integers(1, 3))
    def append(self, stream: str, count: int) -> None:
        drafts = [
            draft(self.number + step, stream=stream, aggregate=f"session/{step}") for step in range(count)
        ]
        with self.store.write() as connection:
            self.newest[stream] = append(connection, drafts)[-1]
        self.number += count
        fresh = "".join(f"{canonical_json(entry.document)}\n" for entry in drafts).encode()
        path = f"{stream}.jsonl"
        self.lines[path] = self.lines.get(path, b"") + fresh

    @rule(stream=STREAMS)
    def archive(self, stream: str) -> None:
        if not self.lines.get(f"{stream}.jsonl"):
            return
        name = f"archived/{stream}-{self.newest[stream]}.jsonl"
        row = {"stream": stream, "archive": name, "upto_seq": self.newest[stream], "created_at": "2026"}
        with self.store.write() as connection:
            connection.execute(insert(stream_archives), row)
        self.lines[name] = self.lines[f"{stream}.jsonl"]
        self.lines[f"{stream}.jsonl"] = b""

    @rule()
    def catch_up(self) -> None:
        self.projector.catch_up()
        self.it_is_what_was_decided()

    @rule()
    def rebuild(self) -> None:
        self.projector.rebuild()
        self.it_is_what_was_decided()

    @rule(cut=st.integers(1, 60), starts_anew=st.booleans(), rebuilds=st.booleans())
    def be_cut_off(self, cut: int, starts_anew: bool, rebuilds: bool) -> None:
        run_on(WatchedDisk(cut), self.projector.rebuild if rebuilds else self.projector.catch_up)
        if starts_anew:
            self.projector = self.trees.projector(self.store)

    @rule(data=st.data(), keep=st.sampled_from([None, 0, 3]))
    def lose_part_of_a_file(self, data: st.DataObject, keep: int | None) -> None:
        there = sorted(path for path in self.trees.folder.rglob("*") if path.is_file())
        if there:
            path = data.draw(st.sampled_from(there))
            content = path.read_bytes()
            path.unlink()
            if keep is not None:
                path.write_bytes(content[:keep])
                path.chmod(0o600 if self.trees.memory in path.parents else 0o444)
        self.projector = self.trees.projector(self.store)

    @invariant()
    def the_store_says_what_was_decided(self) -> None:
        if not hasattr(self, "store"):
            return
        with self.store.read() as connection:
            for (root, path), content in self.documents.items():
                assert read_document(connection, root, path) == content
        assert verify_chains(self.store).intact

    def it_is_what_was_decided(self) -> None:
        memory = {path: content for (root, path), content in self.documents.items() if root == "memory"}
        workspace = {path: content for (root, path), content in self.documents.items() if root == "workspace"}
        assert files(self.trees.memory) == memory | self.lines
        assert files(self.trees.workspace) == workspace


@pytest.fixture
def migrated(tmp_path: Path) -> Path:
    path = tmp_path / "template.db"
    upgrade(f"sqlite:///{path}")
    return path


@pytest.mark.thorough
def test_any_order_of_decisions_projections_crashes_and_losses_ends_as_a_rebuild_does(migrated: Path) -> None:
    Projection.migrated = migrated
    machine = settings(
        max_examples=25,
        stateful_step_count=20,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    Projection.TestCase.settings = machine
    Projection.TestCase().runTest()
