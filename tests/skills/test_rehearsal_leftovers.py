from pathlib import Path

from skills.rehearsal_leftovers import ABANDONED_AFTER_SECONDS, remove_leftovers


def test_only_folders_that_no_rehearsal_can_still_use_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "rehearsal-a"
    (folder / "work").mkdir(parents=True)
    (folder / "work" / "made.txt").write_text("x")
    stranger = tmp_path / "notes"
    stranger.mkdir()
    written = folder.stat().st_mtime
    assert remove_leftovers(tmp_path, written + ABANDONED_AFTER_SECONDS) == 0
    assert folder.is_dir()
    assert remove_leftovers(tmp_path, written + ABANDONED_AFTER_SECONDS + 1) == 1
    assert not folder.exists()
    assert stranger.is_dir()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.mkdir()
    root = tmp_path / "rehearsals"
    root.mkdir()
    (root / "rehearsal-link").symlink_to(target)
    assert remove_leftovers(root, target.stat().st_mtime + 10 * ABANDONED_AFTER_SECONDS) == 0
    assert target.is_dir()


def test_a_worker_that_never_rehearsed_has_nothing_to_remove(tmp_path: Path) -> None:
    assert remove_leftovers(tmp_path / "rehearsals") == 0
