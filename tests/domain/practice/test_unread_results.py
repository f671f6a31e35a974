"""A file that is only made is said not to have been looked into."""

from typing import Any

import pytest

from contracts.practice.practice import PracticeCondition
from domain.practice.conditions import partly_read, unread_note, unread_results

MADE = {"kind": "file_exists", "path": "sorted.csv"}
ALSO_MADE = {"kind": "file_exists", "path": "names.txt"}
HOLDS = {"kind": "file_contains", "path": "sorted.csv", "text": "a,1"}
CHECKED = {"kind": "command_exits", "command": "sort -c sorted.csv"}


@pytest.mark.parametrize(
    ("conditions", "unread", "partly"),
    [
        ([MADE], ("sorted.csv",), ()),
        ([MADE, ALSO_MADE], ("sorted.csv", "names.txt"), ()),
        ([MADE, HOLDS, ALSO_MADE], ("names.txt",), ("sorted.csv",)),
        ([MADE, HOLDS], (), ("sorted.csv",)),
        ([HOLDS], (), ("sorted.csv",)),
        ([MADE, CHECKED], (), ()),
        ([HOLDS, CHECKED], (), ()),
    ],
)
def test_a_file_is_unread_where_no_text_and_no_check_looks_at_it(
    conditions: list[dict[str, Any]], unread: tuple[str, ...], partly: tuple[str, ...]
) -> None:
    given = [PracticeCondition.model_validate(one) for one in conditions]
    assert unread_results(given) == unread
    assert partly_read(given) == partly
    note = unread_note(given)
    assert bool(note) is bool(unread or partly)
    assert all(path in note for path in (*unread, *partly))
