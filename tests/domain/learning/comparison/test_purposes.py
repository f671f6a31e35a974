"""What a parameter is for is said by the command that takes its value."""

import pytest

from domain.learning.comparison.purposes import piece_with, purpose_of
from domain.learning.comparison.single_demonstration import shown_parameters


@pytest.mark.parametrize(
    ("value", "command", "purpose"),
    [
        ("Project A", "find 'Project A' -name '*.log'", "find: looks in it"),
        ("a.csv", "sort a.csv b.csv", "sort: reads it and b.csv"),
        ("2026-10-31", "awk '$1<=\"2026-10-31\"' a.csv", "awk: $1 is at most it"),
        ("2", "head -n 2 a12.csv", "head: only the first 2 lines"),
        ("8080", "PORT=8080", "the variable PORT"),
        ("2026-05", "mkdir 2026-05", "mkdir: makes the folder"),
        ("logs", "zcat logs/*.gz", "in the name of what is read by zcat"),
        ("1", "awk 'NR==12' a.csv", ""),
    ],
)
def test_a_purpose_names_the_program_and_what_it_takes_the_value_for(
    value: str, command: str, purpose: str
) -> None:
    assert purpose_of(value, [command]) == purpose


def test_a_piece_ends_outside_of_quotes() -> None:
    assert piece_with("20", "cat a | awk -F';' '$2<20 {print}' b; rm c") == "awk -F';' '$2<20 {print}' b"


def described(*lines: str) -> list[str]:
    inputs = ("guests-a.csv", "guests-b.csv")
    found = shown_parameters("List the new guests", [(line, ".") for line in lines], inputs, ())
    return [p.description.partition("; ")[2] for p in found]


def test_two_files_that_a_program_reads_alike_are_told_apart_by_where_they_go() -> None:
    assert described("comm -13 <(sort guests-a.csv) <(sort guests-b.csv) > new.txt") == [
        "sort: reads it, comm: its first file",
        "sort: reads it, comm: its second file",
    ]
    assert described(
        "sort guests-a.csv | uniq > a.txt", "sort guests-b.csv > b.txt", "comm -13 a.txt b.txt"
    ) == [
        "sort: reads it, for a.txt",
        "sort: reads it, for b.txt",
    ]


def test_files_that_are_read_for_the_same_result_have_nothing_added() -> None:
    assert described("(sort guests-a.csv; sort guests-b.csv) > both.txt") == [
        "sort: reads it",
        "sort: reads it",
    ]
