"""What a command does, in the words that steps and checkpoints are written in."""

import pytest

from domain.learning.commands.operations import operation_of


@pytest.mark.parametrize(
    ("command", "does"),
    [
        ("awk '{ t[$1] += $2 } END { for (c in t) print c, t[c] }' sorted.txt > totals.txt", "compute"),
        ("awk 'NR > 1 { n[$1]++ } END { for (c in n) print n[c] }' a.csv > b.csv", "compute"),
        ("awk '{ left = left * 2; left -= 1; print left }' a > b", "compute"),
        ("awk '$2 > 3 { print }' a.csv > b.csv", "filter"),
        ("awk --csv '$2 >= 3' a.csv > b.csv", "filter"),
        ("awk '/=/ { print $1 }' a > b", "filter"),
        ("awk -F= '$1 != \"x\"' a > b", "filter"),
        ("grep -c '+=' a.awk > b", "filter"),
        ("sort a | awk '{ s += $1 } END { print s }' > b", "compute"),
    ],
)
def test_a_program_of_awk_that_adds_up_makes_figures_and_any_other_chooses_lines(
    command: str, does: str
) -> None:
    assert operation_of(command).key == does
