"""Variations of a lesson's input: the same folder with other rows and files, on which the method must still work.

Deterministic: the same folder gives the same variations.
"""

import posixpath
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from domain.learning.proof.conditions import FolderContents, lines_of

FEWEST_ROWS = 4
"""A file with fewer lines after its first is not varied by rows."""

FEWEST_SIBLINGS = 2
"""Files of one kind in a folder from which on one more is added, or one left out."""

_ROWS = frozenset({".csv", ".tsv", ".txt", ".log", ".dat", ".tab", ".psv", ".list", ".jsonl", ".ndjson", ""})
"""Extensions of files whose lines are rows, so that their order and number may be other next time."""


@dataclass(frozen=True)
class Variation:
    """One changed input: the files to write, and those to take away."""

    label: str
    """What was changed, in words."""
    written: Mapping[str, str]
    removed: tuple[str, ...] = ()


def variations(
    before: FolderContents, inputs: Sequence[str], named: Collection[str]
) -> tuple[Variation, ...]:
    """The variations of the files that the commands read. ``named`` are those that a command names literally."""
    rows = [path for path in inputs if _has_rows(path, before)]
    found: list[Variation] = []
    if rows:
        shuffled = {path: _shuffled(before.text(path) or "", path) for path in rows}
        if any(text != before.text(path) for path, text in shuffled.items()):
            found.append(Variation("the rows in another order", shuffled))
        fewer = {path: _fewer(before.text(path) or "") for path in rows}
        if any(text != before.text(path) for path, text in fewer.items()):
            found.append(Variation("every third row left out", fewer))
    found.extend(_by_files(before, inputs, named))
    return tuple(found)


def _has_rows(path: str, before: FolderContents) -> bool:
    text = before.text(path)
    if text is None or posixpath.splitext(path)[1].lower() not in _ROWS:
        return False
    mode = before.mode(path) or 0
    lines = lines_of(text)
    return len(lines) > FEWEST_ROWS and not mode & 0o111 and not lines[0].startswith("#!")


def _shuffled(text: str, path: str) -> str:
    """The lines after the first in another order: the first may be a header."""
    first, *rest = lines_of(text)
    # Repeatable on purpose; nothing secret hangs on it.
    random.Random(path).shuffle(rest)  # noqa: S311
    return _joined([first, *rest], text)


def _fewer(text: str) -> str:
    first, *rest = lines_of(text)
    return _joined([first, *(line for n, line in enumerate(rest) if n % 3 != 1)], text)


def _joined(lines: Sequence[str], like: str) -> str:
    return "\n".join(lines) + ("\n" if like.endswith("\n") else "")


def _by_files(before: FolderContents, inputs: Sequence[str], named: Collection[str]) -> Iterator[Variation]:
    """One more file, and one file less, of the kind that the commands take by pattern."""
    families: dict[tuple[str, str], list[str]] = {}
    for path in inputs:
        if path not in named and before.text(path) is not None:
            families.setdefault((posixpath.dirname(path), posixpath.splitext(path)[1]), []).append(path)
    family = max(families.values(), key=len) if families else []
    if len(family) < FEWEST_SIBLINGS:
        return
    last = sorted(family)[-1]
    stem, extension = posixpath.splitext(last)
    more = f"{stem}-more{extension}"
    if more not in before.paths():
        yield Variation(f"one more file like {last}", {more: before.text(last) or ""})
    yield Variation(f"without the file {last}", {}, (last,))
