"""Where a resulting folder may be put is judged before anything is sent."""

import os
from pathlib import Path

import pytest

from cli.platform.folders import refuse_unfit
from cli.platform.invocation import NothingToDo


def is_writable_by_its_owner(place: Path, _: int) -> bool:
    return bool(place.stat().st_mode & 0o200)


@pytest.mark.parametrize("place", ["new", "new/below/it", "empty"])
def test_a_new_or_an_empty_folder_takes_a_result(tmp_path: Path, place: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "handed-in").mkdir()
    refuse_unfit(tmp_path / place, [tmp_path / "handed-in"])
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("place", ["handed-in", "handed-in/out", "link/out", "empty/../handed-in/out"])
def test_no_result_is_put_into_a_folder_that_is_handed_in(tmp_path: Path, place: str) -> None:
    (tmp_path / "handed-in").mkdir()
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("handed-in")
    with pytest.raises(NothingToDo, match="handed-in, which stays as it is"):
        refuse_unfit(tmp_path / place, [tmp_path / "other", tmp_path / "handed-in"])


@pytest.mark.parametrize(
    ("place", "problem"), [("file", "is no folder"), ("file/below/it", "cannot be made")]
)
def test_a_result_needs_a_folder_above_it(tmp_path: Path, place: str, problem: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(NothingToDo, match=problem):
        refuse_unfit(tmp_path / place)


@pytest.mark.parametrize(
    ("place", "problem"), [("closed", "cannot be written to"), ("closed/out", "cannot be made")]
)
def test_a_place_that_cannot_be_written_to_is_refused(
    tmp_path: Path, place: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    if os.geteuid() == 0:
        # Root may write anywhere: it is answered what the owner would be.
        monkeypatch.setattr(os, "access", is_writable_by_its_owner)
    with pytest.raises(NothingToDo, match=problem):
        refuse_unfit(tmp_path / place)


def test_a_place_that_cannot_be_looked_at_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NothingToDo, match="cannot be used: File name too long"):
        refuse_unfit(tmp_path / ("n" * 300))
