"""Variations of a lesson's input: the same folder with other rows and files, on which the method must still work.

Deterministic: the same folder gives the same variations. Rows are changed in every row-like file that is read: their
order, their number, (once) repeated, and the numbers in them, so that what holds only for the rows that were shown is
found out.
"""

import json
import posixpath
import random
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from domain.learning.conditions.conditions import FolderContents, lines_of
from domain.learning.conditions.path_patterns import FEWEST_MEMBERS
from domain.learning.conditions.rows import FEWEST_ROWS, has_rows, looks_like_header, with_exchanged_numbers

__all__ = ["FEWEST_ROWS", "Variation", "quiet_variations", "variations"]

_MOST_QUIET = 4
_DOCUMENTS = frozenset({".md", ".markdown", ".rst", ".html", ".htm", ".xml", ".tex", ".adoc", ".org"})
"""Texts of which a line may be missing without another meaning of the rest."""

_WORD = re.compile(r"[^\s,;:\"'()<>|=\[\]]+")
_LONG_WORD = 4

_THIRDS = (
    "every third row left out",
    "every third row left out, from the second on",
    "every third row left out, from the third on",
)


@dataclass(frozen=True)
class Variation:
    """One changed input: the files to write, those to copy, and those to take away."""

    label: str
    """What was changed, in words."""
    written: Mapping[str, str] = field(default_factory=dict[str, str])
    removed: tuple[str, ...] = ()
    copied: Mapping[str, str] = field(default_factory=dict[str, str])
    """New files, by the one whose content they have."""
    has_repeated_rows: bool = False
    """Whether rows come twice, which a key among them may forbid."""


def variations(
    before: FolderContents, inputs: Sequence[str], named: Collection[str], taken: Collection[str] = ()
) -> tuple[Variation, ...]:
    """The variations of the files that the commands use.

    ``named`` are those that a command names literally, ``taken`` those that a pattern in one reaches: these may be
    more, or be called otherwise, even where one alone was shown.
    """
    return (*_by_rows(before, inputs), *_by_files(before, inputs, named, taken))


def _by_rows(before: FolderContents, inputs: Sequence[str]) -> Iterator[Variation]:
    rows = [path for path in inputs if has_rows(path, before)]
    records = [path for path in inputs if path.endswith(".json") and before.text(path)]

    def of(
        label: str, change: Callable[[list[object], str], list[object]], *, repeats: bool = False
    ) -> Iterator[Variation]:
        written = {path: _with_rows(before.text(path) or "", change, path) for path in rows}
        written |= {path: _with_records(before.text(path) or "", change, path) for path in records}
        written = {path: text for path, text in written.items() if text != before.text(path)}
        if written:
            yield Variation(label, written, has_repeated_rows=repeats)

    yield from of("the rows in another order", _shuffled)
    for offset, label in enumerate(_THIRDS):
        yield from of(
            label, lambda rows, _path, offset=offset: [row for n, row in enumerate(rows) if n % 3 != offset]
        )
    yield from of("every row twice", lambda rows, _path: [*rows, *rows], repeats=True)
    yield from of("the numbers of the rows exchanged", lambda rows, _path: with_exchanged_numbers(rows))


def quiet_variations(
    before: FolderContents, inputs: Sequence[str], named: Collection[str], results: Sequence[str]
) -> tuple[Variation, ...]:
    """For each text of a result the input without what it speaks of: the faults of a report, the rows of a selection.

    A result that is made of all its input has none: nothing of it would be left.
    """
    found: dict[tuple[object, ...], Variation] = {}
    for text in results:
        for one in (_without_lines_in(text, before, inputs), _without_files_in(text, before, inputs, named)):
            if one is not None and len(found) < _MOST_QUIET:
                found.setdefault((*sorted(one.written.items()), *one.removed), one)
    return tuple(found.values())


def _without_lines_in(result: str, before: FolderContents, inputs: Sequence[str]) -> Variation | None:
    written: dict[str, str] = {}
    for path in inputs:
        text = before.text(path) or ""
        if has_rows(path, before):
            header = lines_of(text)[: int(looks_like_header(text))]
            left = [row for row in lines_of(text)[len(header) :] if not _speaks_of(row, result)]
        elif posixpath.splitext(path)[1].lower() in _DOCUMENTS:
            words = [word for word in _WORD.findall(result) if len(word) >= _LONG_WORD]
            header, left = [], [line for line in lines_of(text) if not any(word in line for word in words)]
        else:
            continue
        if left and len(header) + len(left) < len(lines_of(text)):
            written[path] = "".join(f"{line}\n" for line in (*header, *left))
    return Variation("without the lines that the result speaks of", written) if written else None


def _speaks_of(row: str, result: str) -> bool:
    """Whether a line of the result stands in the row, or the row in one of its lines."""
    return row in result or any(line in row for line in lines_of(result) if line.strip())


def _without_files_in(
    result: str, before: FolderContents, inputs: Sequence[str], named: Collection[str]
) -> Variation | None:
    gone: list[str] = []
    for group in _kinds(before, inputs, named):
        spoken = [path for path in group if posixpath.basename(path) in result]
        gone += spoken if len(spoken) < len(group) else []
    return Variation("without the files that the result names", removed=tuple(gone)) if gone else None


def _shuffled(rows: list[object], path: str) -> list[object]:
    # Repeatable on purpose; nothing secret hangs on it.
    random.Random(path).shuffle(rows)  # noqa: S311
    return rows


def _with_rows(text: str, change: Callable[[list[object], str], list[object]], path: str) -> str:
    """The text with its lines after the first changed: the first may be a header."""
    first, *rest = lines_of(text)
    changed = [str(line) for line in change(list(rest), path)]
    return "\n".join([first, *changed]) + ("\n" if text.endswith("\n") else "")


def _with_records(text: str, change: Callable[[list[object], str], list[object]], path: str) -> str:
    """JSON with the elements of its outermost lists of objects changed."""

    def changed(value: object) -> object:
        if isinstance(value, list):
            items = cast("list[object]", value)
            is_table = len(items) >= FEWEST_ROWS - 1 and all(isinstance(item, dict) for item in items)
            return change(list(items), path) if is_table else items
        if isinstance(value, dict):
            return {key: changed(inner) for key, inner in cast("dict[str, object]", value).items()}
        return value

    try:
        found: object = json.loads(text)
    except ValueError:
        return text
    after = changed(found)
    return text if after == found else json.dumps(after, ensure_ascii=False, indent=2) + "\n"


def _kinds(
    before: FolderContents, inputs: Sequence[str], named: Collection[str], taken: Collection[str] = ()
) -> list[list[str]]:
    """The inputs of one folder and extension that no command names, at least so many that a pattern takes them."""
    groups: dict[tuple[str, str], list[str]] = {}
    for path in inputs:
        if path not in named and path in before.paths():
            groups.setdefault((posixpath.dirname(path), posixpath.splitext(path)[1]), []).append(path)
    return [
        sorted(group) for group in groups.values() if len(group) >= FEWEST_MEMBERS or {*group} <= {*taken}
    ]


def _by_files(
    before: FolderContents, inputs: Sequence[str], named: Collection[str], taken: Collection[str]
) -> Iterator[Variation]:
    """One more file, one file less and one renamed, of the kinds that the commands take by pattern."""
    kinds = _kinds(before, inputs, named, taken)
    if not kinds:
        return
    last = [group[-1] for group in kinds]
    shown = " and ".join(last[:2])
    more = {_renamed(path, before): path for path in last}
    yield Variation(f"one more file like {shown}", copied=more)
    yield Variation(f"without the file {shown}", removed=tuple(last))
    first = [group[0] for group in kinds]
    again = {_renamed(path, before): path for path in first}
    yield Variation(f"{' and '.join(first[:2])} by another name", copied=again, removed=tuple(first))


def _renamed(path: str, before: FolderContents) -> str:
    stem, extension = posixpath.splitext(path)
    name = f"{stem}-more"
    while f"{name}{extension}" in before.paths():
        name += "-more"
    return f"{name}{extension}"
