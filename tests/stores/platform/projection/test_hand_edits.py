"""A workspace file that somebody edited is not written over by a restart; a damaged one is put right."""

from pathlib import Path

import pytest

from stores.platform.database import Database
from stores.platform.projection.document_projection import WorkspaceEdits
from tests.stores.platform.projection.projection_steps import CURRENT, SKILL, put
from tests.stores.platform.projection.tree_snapshots import Trees

TEXT = b"# Report\n\nWrite the report.\n"


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    return Trees(tmp_path)


def written(store: Database, trees: Trees) -> Path:
    put(store, SKILL, TEXT, "workspace")
    put(store, CURRENT, b'{"a": 1}\n')
    trees.projector(store).catch_up()
    file = trees.workspace / SKILL
    file.chmod(0o644)
    return file


@pytest.mark.parametrize("edited", [TEXT + b"Ask Maria.\n", b"# Mine\n", b"# Rep0rt\n\nWrite the report.\n"])
def test_a_restart_leaves_a_hand_edited_workspace_file_alone(
    store: Database, trees: Trees, edited: bytes
) -> None:
    file = written(store, trees)
    file.write_bytes(edited)
    trees.projector(store).catch_up()

    assert file.read_bytes() == edited
    assert WorkspaceEdits(store, trees.workspace).of_skill("report") == {SKILL: edited}


@pytest.mark.parametrize("left", [b"", b"# Rep"])
def test_a_workspace_file_that_was_cut_short_is_put_right(store: Database, trees: Trees, left: bytes) -> None:
    file = written(store, trees)
    file.write_bytes(left)
    trees.projector(store).catch_up()

    assert file.read_bytes() == TEXT


def test_a_missing_workspace_file_comes_back(store: Database, trees: Trees) -> None:
    file = written(store, trees)
    file.unlink()
    trees.projector(store).catch_up()

    assert file.read_bytes() == TEXT


def test_a_memory_file_of_another_length_is_put_right_whatever_it_holds(
    store: Database, trees: Trees
) -> None:
    written(store, trees)
    (trees.memory / CURRENT).write_bytes(b"something else")
    trees.projector(store).catch_up()

    assert (trees.memory / CURRENT).read_bytes() == b'{"a": 1}\n'


def test_a_rebuild_keeps_hand_edits_and_says_so_unless_they_are_to_go(store: Database, trees: Trees) -> None:
    file = written(store, trees)
    edited = TEXT + b"Ask Maria.\n"
    file.write_bytes(edited)
    (trees.memory / CURRENT).write_bytes(b"changed")
    kept = trees.projector(store).rebuild()

    assert (file.read_bytes(), kept.edits_kept) == (edited, 1)
    assert (trees.memory / CURRENT).read_bytes() == b'{"a": 1}\n'
    discarded = trees.projector(store).rebuild(discard_edits=True)
    assert (file.read_bytes(), discarded.edits_kept) == (TEXT, 0)


def test_a_rebuild_puts_permissions_right(store: Database, trees: Trees) -> None:
    file = written(store, trees)
    trees.projector(store).rebuild()

    assert file.stat().st_mode & 0o777 == 0o444
