"""The lessons themselves: each can be shown again, and is not passed by doing nothing."""

from pathlib import Path

import pytest

from tests.lessons.catalogue import LESSONS
from tests.lessons.lesson import Lesson

each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)


def contents(folder: Path) -> dict[str, bytes]:
    """The files below a folder; git notes in its index when it last looked."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "index")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_there_are_thirty_lessons_of_different_names() -> None:
    assert len({lesson.name for lesson in LESSONS}) == len(LESSONS) == 30


@each_lesson
def test_a_lesson_prepares_the_same_folder_each_time(lesson: Lesson, tmp_path: Path) -> None:
    prepared: list[dict[str, bytes]] = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        lesson.prepare(tmp_path / name)
        prepared.append(contents(tmp_path / name))
    assert prepared[0] == prepared[1] != {}


@each_lesson
def test_what_is_expected_of_a_lesson_was_typed(lesson: Lesson) -> None:
    typed = "\n".join(lesson.typed)
    assert [value for value in lesson.parameters if value not in typed] == []
    assert set(lesson.other_values) <= set(lesson.parameters)
    assert len({*lesson.finds, *lesson.near_misses}) == 6
    assert all(wording for fact in lesson.facts for wording in fact)


@each_lesson
def test_the_other_folder_is_not_right_before_the_ability_was_tried(lesson: Lesson, tmp_path: Path) -> None:
    lesson.other(tmp_path)
    with pytest.raises(AssertionError):
        lesson.check(tmp_path)
