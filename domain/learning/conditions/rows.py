"""Row-like files: texts whose lines are records, so that their order and number may be other next time."""

import posixpath
import re
from collections.abc import Sequence
from typing import cast

from domain.learning.conditions.conditions import FolderContents, lines_of

FEWEST_ROWS = 4
"""A file with fewer lines after its first is not varied by rows, unless it is a table."""

_FEWEST_OF_TABLE = 3

_ROWS = frozenset(
    {
        ".csv",
        ".tsv",
        ".txt",
        ".log",
        ".dat",
        ".tab",
        ".psv",
        ".list",
        ".jsonl",
        ".ndjson",
        ".out",
        ".sorted",
        "",
    }
)
_SEPARATED = re.compile(r"[,;\t|]")
_NUMBER = re.compile(r"[-+]?[\d.,:/ -]*\d[\d.,:/ -]*")


_DIVIDERS = (",", ";", "\t", "|")
_PLAIN_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


def with_exchanged_numbers(rows: Sequence[object]) -> list[object]:
    """The rows with all numbers of the first given to the last and so on; what stands beside them stays.

    Rows are lines that one sign divides into equally many fields, or flat records. What only happens to go by the
    numbers that were shown, such as totals that fall as the names rise, no longer does. The rows as they are where
    no column is of numbers alone, or all are.
    """
    divider, table = _as_table(rows)
    names = list(table[0]) if table else []
    numbers = [name for name in names if all(_is_number(row[name]) for row in table)]
    if not numbers or len(numbers) == len(names):
        return list(rows)
    exchanged = [
        row | {name: other[name] for name in numbers}
        for row, other in zip(table, reversed(table), strict=True)
    ]
    if divider is None:
        return list[object](exchanged)
    return [divider.join(str(value) for value in row.values()) for row in exchanged]


def _as_table(rows: Sequence[object]) -> tuple[str | None, list[dict[object, object]]]:
    """What divides the lines (none for records), and the fields of each row by name or place; empty for no table."""
    if rows and all(isinstance(row, dict) for row in rows):
        records = [cast("dict[object, object]", row) for row in rows]
        return None, records if all(one.keys() == records[0].keys() for one in records) else []
    lines = [row for row in rows if isinstance(row, str) and '"' not in row]
    for divider in _DIVIDERS if len(lines) == len(rows) else ():
        fields = [dict[object, object](enumerate(line.split(divider))) for line in lines]
        if fields and len(fields[0]) > 1 and all(len(one) == len(fields[0]) for one in fields):
            return divider, fields
    return None, []


def _is_number(value: object) -> bool:
    if isinstance(value, str):
        return _PLAIN_NUMBER.fullmatch(value.strip()) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


def may_hold_rows(path: str) -> bool:
    """Whether a file of this name is one of rows, as far as its name tells."""
    return posixpath.splitext(path)[1].lower() in _ROWS


def has_rows(path: str, contents: FolderContents) -> bool:
    """Whether the lines of a file are rows that a variation can shuffle and leave out."""
    text = contents.text(path)
    if text is None or not may_hold_rows(path):
        return False
    mode = contents.mode(path) or 0
    lines = lines_of(text)
    fewest = _FEWEST_OF_TABLE if _is_table(lines) else FEWEST_ROWS
    return len(lines) > fewest and not mode & 0o111 and not lines[0].startswith("#!")


def _is_table(lines: Sequence[str]) -> bool:
    """Whether one sign divides every line into equally many fields: few lines are rows then all the same."""
    return any(
        len({line.count(mark) for line in lines}) == 1 and mark in lines[0] for mark in _DIVIDERS if lines
    )


def looks_like_header(text: str) -> bool:
    """Whether the first line names columns: several of them, none a number, and each name once."""
    lines = lines_of(text)
    if not lines:
        return False
    names = [name.strip().strip('"') for name in _SEPARATED.split(lines[0])]
    return (
        len(names) > 1
        and len(set(names)) == len(names)
        and all(name and not _NUMBER.fullmatch(name) for name in names)
    )
