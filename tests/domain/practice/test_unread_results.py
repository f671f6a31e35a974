"""A file that is only made is said not to have been looked into."""

from typing import Any

import pytest

from contracts.practice.practice import PracticeCondition
from domain.practice.conditions import unread_note, unread_results

MADE = {"kind": "file_exists", "path": "sorted.csv"}
ALSO_MADE = {"kind": "file_exists", "path": "names.txt"}
HOLDS = {"kind": "file_contains", "path": "sorted.csv", "text": "a,1"}
CHECKED = {"kind": "command_exits", "command": "sort -c sorted.csv"}


@pytest.mark.parametrize(
    ("conditions", "unread"),
    [
        ([MADE], ("sorted.csv",)),
        ([MADE, ALSO_MADE], ("sorted.csv", "names.txt")),
        ([MADE, HOLDS, ALSO_MADE], ("names.txt",)),
        ([MADE, HOLDS], ()),
        ([HOLDS], ()),
        ([MADE, CHECKED], ()),
    ],
)
def test_a_file_is_unread_where_no_text_and_no_check_looks_at_it(
    conditions: list[dict[str, Any]], unread: tuple[str, ...]
) -> None:
    given = [PracticeCondition.model_validate(one) for one in conditions]
    assert unread_results(given) == unread
    note = unread_note(given)
    assert bool(note) is bool(unread)
    assert all(path in note for path in unread)
