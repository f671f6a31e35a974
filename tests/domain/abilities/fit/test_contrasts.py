"""Contrasts that likeness does not show."""

import pytest

from domain.abilities.fit.contrasts import (
    KINDS,
    chosen_by,
    contrary,
    denies,
    goes_back,
    kinds_of,
    plain_words,
    shared_kinds,
)


@pytest.mark.parametrize(
    ("asked", "said", "found"),
    [
        ("delete the newest file", "Delete the oldest files", True),
        ("take the first rows", "Take the last rows", True),
        ("list what is unused", "List what is used", True),
        ("delete the oldest file", "Delete the oldest files", False),
        ("delete the newest file", "Delete the oldest and the newest files", False),
        ("delete the newest file", "Delete the files", False),
    ],
)
def test_the_contrary_choice_is_one_that_is_not_said(asked: str, said: str, found: bool) -> None:
    assert (contrary(plain_words(asked), plain_words(said)) > 0) is found


def test_going_back_denying_and_choosing_are_read_from_the_words() -> None:
    said = plain_words("Copy the project to the disk")
    assert goes_back(plain_words("copy the project back"), said)
    assert not goes_back(plain_words("copy it back"), plain_words("Bring it back"))
    assert denies(plain_words("talks that have no subtitles"))
    assert not denies(plain_words("talks with subtitles"))
    assert chosen_by("find photos that were changed this week") == " were changed this week"
    assert chosen_by("which photos are dark") == ""


def test_kinds_of_work_are_shared_where_there_are_several() -> None:
    assert dict(zip(KINDS, kinds_of(frozenset({"delete"})), strict=True))["remove"] == 1.0
    assert sum(kinds_of(frozenset({"delete", "find"}))) == 1.0
    assert kinds_of(frozenset[str]()) == (0.0,) * len(KINDS)
    assert shared_kinds((1.0, 0.0), (0.5, 0.5)) == 1.0
    assert shared_kinds((1.0, 0.0), (0.0, 1.0)) == 0.0
    assert shared_kinds((0.0, 0.0), (0.0, 1.0)) == 0.5
