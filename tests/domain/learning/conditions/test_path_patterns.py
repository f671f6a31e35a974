"""Patterns of files that belong together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.learning.conditions.path_patterns import (
    captured,
    families,
    families_at_any_depth,
    filled,
    is_pattern,
    matching,
    pattern_of,
)

NAMES = st.text(alphabet="ab1_ .-", min_size=1, max_size=6)
PATHS = st.tuples(NAMES, NAMES).map(lambda names: f"{names[0]}/{names[1]}.txt")


@pytest.mark.parametrize(
    ("paths", "pattern"),
    [
        (["letters/1001.txt", "letters/1004.txt"], "letters/*.txt"),
        (["photos/2023/12/IMG_20231224.jpg", "photos/2024/01/IMG_20240106.jpg"], "photos/*/*/IMG_*.jpg"),
        (["scans/lease-001.tif", "scans/lease-002.tif"], "scans/lease-*.tif"),
        (["north.csv", "northwest.csv"], "*.csv"),
        (["a-small.png", "b-small.png"], "*-small.png"),
        (["north/report.csv", "south/report.csv"], "*/report.csv"),
        (["table 1.csv", "table 12.csv"], "table *.csv"),
    ],
)
def test_a_pattern_divides_no_word_and_no_number(paths: list[str], pattern: str) -> None:
    assert pattern_of(paths) == pattern


def test_files_of_one_extension_and_depth_make_a_family() -> None:
    found = families(["out/a.csv", "out/b.csv", "out/log.txt", "c.csv"])
    assert [(one.pattern, one.members) for one in found] == [("out/*.csv", ("out/a.csv", "out/b.csv"))]


def test_files_left_in_one_folder_make_a_family_whatever_their_extensions() -> None:
    found = families(
        ["big/film.mp4", "big/talk.pdf", "a.txt", "b.csv", "out/one.csv", "out/two.csv", "out/log"]
    )
    assert [one.pattern for one in found] == ["big/*", "out/*.csv"]


def test_a_single_file_makes_no_family() -> None:
    assert families(["out/a.csv", "b.txt"]) == ()


def test_files_at_any_depth_are_named_by_one_pattern() -> None:
    (one,) = families_at_any_depth(["run.sh", "tools/clean.sh", "tools/plots/draw all.sh"])
    assert one.pattern == "**/*.sh"
    assert matching(one.pattern, ["run.sh", "tools/plots/draw all.sh", "run.txt"]) == [
        "run.sh",
        "tools/plots/draw all.sh",
    ]


def test_a_star_stands_for_a_part_of_one_name_only() -> None:
    assert captured("a/*.txt", "a/b.txt") == ("b",)
    assert captured("a/*.txt", "a/b/c.txt") is None
    assert captured("a/*.txt", "a/b.txt.old") is None


def test_a_pattern_is_filled_in_order_or_not_at_all() -> None:
    assert filled("in/*-*.md", ("one", "two")) == "in/one-two.md"
    assert filled("in/*.md", ("one", "two")) is None


@given(st.lists(PATHS, min_size=2, max_size=6, unique=True))
def test_every_member_of_a_family_matches_its_pattern_and_fills_it_again(paths: list[str]) -> None:
    for family in (*families(paths), *families_at_any_depth(paths)):
        assert is_pattern(family.pattern)
        for member in family.members:
            captures = captured(family.pattern, member)
            assert captures is not None
            assert filled(family.pattern, captures) == member


@given(st.lists(PATHS, max_size=6, unique=True))
def test_no_path_is_in_two_families(paths: list[str]) -> None:
    members = [member for family in families(paths) for member in family.members]
    assert len(members) == len(set(members))
