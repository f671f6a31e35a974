"""Row-like files: texts whose lines are records, so that their order and number may be other next time."""

import posixpath
import re

from domain.learning.proof.conditions import FolderContents, lines_of

FEWEST_ROWS = 4
"""A file with fewer lines after its first is not varied by rows."""

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


def has_rows(path: str, contents: FolderContents) -> bool:
    """Whether the lines of a file are rows that a variation can shuffle and leave out."""
    text = contents.text(path)
    if text is None or posixpath.splitext(path)[1].lower() not in _ROWS:
        return False
    mode = contents.mode(path) or 0
    lines = lines_of(text)
    return len(lines) > FEWEST_ROWS and not mode & 0o111 and not lines[0].startswith("#!")


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
