"""The folder of a rehearsal outlives neither the rehearsal nor, for long, a worker that was killed in it."""

import contextlib
import tempfile
from pathlib import Path

from skills.rehearsal.rehearsal import fresh_folder


def abandoned(parent: Path) -> Path:
    """What a killed worker leaves: a folder that nobody holds, which a command has closed to itself."""
    root = Path(tempfile.mkdtemp(prefix="rehearsal-", dir=parent))
    (root / "closed").mkdir()
    (root / "closed" / "file").write_text("left")
    (root / "closed").chmod(0)
    return root


def test_it_is_gone_at_the_end_even_when_the_rehearsal_fails(tmp_path: Path) -> None:
    with contextlib.suppress(ZeroDivisionError), fresh_folder(tmp_path) as root:
        (root / "made").write_text("something")
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_worker_left_is_removed_when_the_next_rehearsal_begins(tmp_path: Path) -> None:
    left = abandoned(tmp_path)
    with fresh_folder(tmp_path) as root:
        assert list(tmp_path.iterdir()) == [root]
        assert root != left


def test_a_rehearsal_that_goes_on_beside_it_is_left_alone(tmp_path: Path) -> None:
    with fresh_folder(tmp_path) as one:
        (one / "made").write_text("something")
        with fresh_folder(tmp_path) as other:
            assert {*tmp_path.iterdir()} == {one, other}
        assert (one / "made").read_text() == "something"


def test_other_folders_and_links_are_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (tmp_path / "rehearsal-link").symlink_to(target)
    with fresh_folder(tmp_path):
        pass
    assert target.is_dir()
    assert (tmp_path / "rehearsal-link").is_symlink()
