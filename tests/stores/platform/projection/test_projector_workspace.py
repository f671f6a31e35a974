from pathlib import Path

import pytest

from stores.platform.database import Database
from stores.platform.projection.projector import ProjectionError
from tests.stores.platform.journal_drafts import RECEIPTS
from tests.stores.platform.projection.projection_steps import CURRENT, SKILL, append_entries, put, remove
from tests.stores.platform.projection.tree_snapshots import Trees, files, snapshot


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    return Trees(tmp_path)


def test_files_of_others_in_the_workspace_are_never_touched(store: Database, trees: Trees) -> None:
    notes = trees.workspace / "skills/report/notes.md"
    notes.parent.mkdir(parents=True)
    notes.write_bytes(b"mine")
    (trees.workspace / "AGENTS.md").write_bytes(b"also mine")
    others = snapshot(trees.workspace)
    projector = trees.projector(store)
    put(store, SKILL, b"# Report\n", "workspace")
    projector.catch_up()
    assert projector.verify().intact
    projector.rebuild()
    assert snapshot(trees.workspace) == others | {SKILL: b"# Report\n"}
    remove(store, SKILL, "workspace")
    projector.catch_up()
    assert snapshot(trees.workspace) == others


def test_a_folder_of_others_stays_even_when_it_becomes_empty(store: Database, trees: Trees) -> None:
    (trees.workspace / "skills").mkdir(parents=True)
    projector = trees.projector(store)
    put(store, SKILL, b"# Report\n", "workspace")
    projector.catch_up()
    remove(store, SKILL, "workspace")
    projector.catch_up()
    assert snapshot(trees.workspace) == {"skills": None}


def test_a_place_taken_by_someone_elses_file_is_refused_and_all_else_is_written(
    store: Database, trees: Trees
) -> None:
    (trees.workspace / SKILL).parent.mkdir(parents=True)
    (trees.workspace / SKILL).write_bytes(b"theirs")
    put(store, SKILL, b"ours", "workspace")
    put(store, CURRENT, b"{}\n")
    append_entries(store, 1)
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
    put(store, SKILL, b"ours", "workspace")
    with pytest.raises(ProjectionError):
        projector.catch_up()
    remove(store, SKILL, "workspace")
    projector.catch_up()
    assert files(trees.workspace) == {SKILL: b"theirs"}


def test_an_equal_file_that_is_already_there_is_taken_over(store: Database, trees: Trees) -> None:
    (trees.workspace / SKILL).parent.mkdir(parents=True)
    (trees.workspace / SKILL).write_bytes(b"# Report\n")
    put(store, SKILL, b"# Report\n", "workspace")
    projector = trees.projector(store)
    projector.catch_up()
    put(store, SKILL, b"# Second\n", "workspace")
    projector.catch_up()
    assert files(trees.workspace) == {SKILL: b"# Second\n"}


def test_a_link_planted_in_the_workspace_leads_no_write_out_of_it(store: Database, trees: Trees) -> None:
    outside = trees.folder / "outside"
    outside.mkdir()
    trees.workspace.mkdir()
    (trees.workspace / "skills").symlink_to(outside)
    put(store, SKILL, b"# Report\n", "workspace")
    with pytest.raises(ProjectionError, match=SKILL):
        trees.projector(store).catch_up()
    assert snapshot(outside) == {}


def test_a_link_in_place_of_our_file_is_replaced_and_its_target_kept(store: Database, trees: Trees) -> None:
    outside = trees.folder / "outside"
    outside.write_bytes(b"precious")
    put(store, SKILL, b"one", "workspace")
    projector = trees.projector(store)
    projector.catch_up()
    (trees.workspace / SKILL).unlink()
    (trees.workspace / SKILL).symlink_to(outside)
    put(store, SKILL, b"two", "workspace")
    projector.catch_up()
    assert outside.read_bytes() == b"precious"
    assert not (trees.workspace / SKILL).is_symlink()
    assert (trees.workspace / SKILL).read_bytes() == b"two"
