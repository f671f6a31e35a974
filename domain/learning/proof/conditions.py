"""Checks conditions on a folder before and after the work (DOC3 §0A.18; our addition: ``ProofCondition``).

Pure: the folders are given as :class:`FolderContents`.
"""

import csv
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from contracts.learning.evidence import ConditionKind, ProofCondition

_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)?")
_SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "colon": ":", "bar": "|", "space": None}


class FolderContents(Protocol):
    """The files of a folder at one moment; links are not followed."""

    def paths(self) -> Collection[str]:
        """Every file, by its path relative to the folder."""
        ...

    def text(self, path: str) -> str | None:
        """The text of a file; ``None`` where there is none, or it is no text of a moderate size."""
        ...

    def digest(self, path: str) -> str | None:
        """The SHA-256 of a file's content; ``None`` where there is none."""
        ...

    def mode(self, path: str) -> int | None:
        """A file's permission bits."""
        ...

    def members(self, path: str) -> Collection[str] | None:
        """The files in an archive; ``None`` where it is no readable archive."""
        ...

    def facts(self) -> Mapping[str, str]:
        """What is true of the state behind files (git, databases), by subject and aspect."""
        ...


@dataclass(frozen=True)
class Order:
    """How lines are sorted: by one field (counted from 1; 0 is the whole line), after a number of header lines."""

    separator: str = "space"
    field: int = 0
    numeric: bool = False
    descending: bool = False
    header: int = 0

    @classmethod
    def parse(cls, text: str) -> "Order":
        """The order that an argument of a ``sorted`` condition names."""
        found = dict(part.split("=", 1) for part in text.split())
        return cls(
            found["by"].split(":")[0],
            int(found["by"].split(":")[1]),
            found["as"] == "numbers",
            found["order"] == "descending",
            int(found["header"]),
        )

    @property
    def argument(self) -> str:
        """The order as the argument of a condition."""
        kind, order = (
            ("numbers" if self.numeric else "text"),
            ("descending" if self.descending else "ascending"),
        )
        return f"by={self.separator}:{self.field} as={kind} order={order} header={self.header}"

    def keys(self, lines: Sequence[str]) -> list[float] | list[str] | None:
        """The keys of the lines after the header; ``None`` where a line has none of this kind."""
        words = [field_of(line, self.separator, self.field) for line in lines[self.header :]]
        if any(word is None for word in words):
            return None
        texts = [word or "" for word in words]
        if not self.numeric:
            return texts
        numbers = [_NUMBER.fullmatch(text.strip().strip('"')) for text in texts]
        return None if None in numbers else [float(m.group().replace(",", ".")) for m in numbers if m]

    def holds(self, lines: Sequence[str]) -> bool:
        """Whether the lines are in this order."""
        keys = self.keys(lines)
        if keys is None:
            return False
        ordered = sorted(keys, reverse=self.descending)  # type: ignore[type-var]
        return keys == ordered


def field_of(line: str, separator: str, field: int) -> str | None:
    """One field of a line, counted from 1; the whole line for 0; ``None`` where it has fewer."""
    if field == 0:
        return line
    mark = _SEPARATORS[separator]
    fields = line.split(mark) if mark else line.split()
    return fields[field - 1] if field <= len(fields) else None


def lines_of(text: str) -> list[str]:
    """The lines of a text, without the empty one that a final line feed leaves."""
    return text.splitlines()


def objection(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    """Why the condition does not hold on the folder ``after`` the work; ``None`` where it does."""
    there = condition.path in after.paths()
    match condition.kind:
        case ConditionKind.ABSENT:
            if there:
                return f"{condition.path} is still there"
            return None if condition.path in before.paths() else f"{condition.path} was never there"
        case ConditionKind.STATE:
            found = after.facts().get(condition.path)
            return None if found == condition.argument else f"it is {found or 'unknown'}"
        case ConditionKind.CHECK_PASSES:
            return None
        case _ if not there:
            return f"{condition.path} is not there"
        case _:
            return _CHECKS[condition.kind](condition, before, after)


_Check = Callable[[ProofCondition, FolderContents, FolderContents], str | None]


def _exists(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    was = before.digest(condition.path)
    if was is not None and was == after.digest(condition.path) and not condition.argument:
        return f"{condition.path} was there before the first command and has not changed since"
    return None


def _not_empty(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    text = after.text(condition.path)
    return f"{condition.path} is empty" if text is not None and not text.strip() else None


def _lines(condition: ProofCondition, after: FolderContents) -> list[str]:
    return lines_of(after.text(condition.path) or "")


def _sorted(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    holds = Order.parse(condition.argument).holds(_lines(condition, after))
    return None if holds else f"the lines of {condition.path} are in another order"


def _line_count(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    count = len(_lines(condition, after))
    if condition.other is None:
        most = int(condition.argument)
        return None if count <= most else f"{condition.path} has {count} lines"
    wanted = len(lines_of(_source(condition, before, after))) + int(condition.argument or 0)
    return None if count == wanted else f"{condition.path} has {count} lines and not {wanted}"


def _source(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str:
    other = condition.other or ""
    text = before.text(other)
    return (after.text(other) or "") if text is None else text


def _lines_of(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    source = set(lines_of(_source(condition, before, after)))
    strange = next((line for line in _lines(condition, after) if line not in source), None)
    return None if strange is None else f"{condition.path} has a line that {condition.other} does not have"


def _distinct_lines(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    lines = _lines(condition, after)
    return None if len(set(lines)) == len(lines) else f"{condition.path} has a line twice"


def _header_of(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    wanted = lines_of(_source(condition, before, after))[:1]
    return None if _lines(condition, after)[:1] == wanted else f"{condition.path} begins with another line"


def _holds_text(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    held = condition.argument in (after.text(condition.path) or "")
    return None if held else f"{condition.path} does not hold “{condition.argument}”"


def _lacks_text(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    held = condition.argument in (after.text(condition.path) or "")
    return f"{condition.path} still holds “{condition.argument}”" if held else None


def columns_of(text: str, separator: str) -> int | None:
    """The number of columns that every row of a delimited text has; ``None`` where they differ or are one."""
    mark = _SEPARATORS[separator] or " "
    try:
        counts = {len(row) for row in csv.reader(lines_of(text), delimiter=mark) if row}
    except csv.Error:
        return None
    return counts.pop() if len(counts) == 1 and counts != {1} else None


def _columns(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    separator, count = condition.argument.split(":")
    found = columns_of(after.text(condition.path) or "", separator)
    return None if found == int(count) else f"not every row of {condition.path} has {count} columns"


def _valid_json(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    try:
        json.loads(after.text(condition.path) or "")
    except ValueError as error:
        return f"{condition.path} is no valid JSON: {error}"
    return None


def _same_content(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    other = condition.other or ""
    wanted = before.digest(other) or after.digest(other)
    same = wanted is not None and after.digest(condition.path) == wanted
    return None if same else f"{condition.path} and {condition.other} differ"


def _members_of(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    members = after.members(condition.path)
    if members is None:
        return f"{condition.path} is no readable archive"
    wanted = {path for path in before.paths() if path.startswith(f"{condition.other}/")}
    missing = wanted - {member.removeprefix("./") for member in members}
    return f"{condition.path} lacks {min(missing)}" if missing else None


def _mode(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    mode = after.mode(condition.path)
    held = mode is not None and f"{mode:o}" == condition.argument
    return None if held else f"{condition.path} has the mode {mode or 0:o}"


_CHECKS: dict[ConditionKind, _Check] = {
    ConditionKind.EXISTS: _exists,
    ConditionKind.NOT_EMPTY: _not_empty,
    ConditionKind.SORTED: _sorted,
    ConditionKind.LINE_COUNT: _line_count,
    ConditionKind.LINES_OF: _lines_of,
    ConditionKind.DISTINCT_LINES: _distinct_lines,
    ConditionKind.HEADER_OF: _header_of,
    ConditionKind.HOLDS_TEXT: _holds_text,
    ConditionKind.LACKS_TEXT: _lacks_text,
    ConditionKind.COLUMNS: _columns,
    ConditionKind.VALID_JSON: _valid_json,
    ConditionKind.SAME_CONTENT: _same_content,
    ConditionKind.MEMBERS_OF: _members_of,
    ConditionKind.MODE: _mode,
}
