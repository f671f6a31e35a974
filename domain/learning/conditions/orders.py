"""Orders of lines that no ``sort`` was seen to give: by one field or by whole lines, as text or as numbers."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "colon": ":", "bar": "|", "space": None}
"""The signs that divide fields, by name; ``None`` for blanks of any number."""

_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)?")


@dataclass(frozen=True)
class Order:
    """How lines are sorted: by one field (counted from 1; 0 is the whole line), after a number of header lines.

    ``kind`` is how keys are compared: ``text`` or ``numbers`` (that at a key's beginning, 0 where there is none).
    """

    separator: str = "space"
    field: int = 0
    kind: str = "text"
    descending: bool = False
    header: int = 0

    @property
    def argument(self) -> str:
        """The order as the argument of a condition."""
        order = "descending" if self.descending else "ascending"
        return f"by={self.separator}:{self.field} as={self.kind} order={order} header={self.header}"

    def texts(self, lines: Sequence[str]) -> list[str] | None:
        """The keys as they stand there; ``None`` where a line has too few fields."""
        found = [text for line in lines[self.header :] if (text := _text_of(line, self)) is not None]
        return found if len(found) == len(lines[self.header :]) else None

    def different_keys(self, lines: Sequence[str]) -> int:
        """How many different keys the lines after the header have; 0 where one has none, or none is of this kind."""
        return len(set(self._keys(lines) or ()))

    def holds(self, lines: Sequence[str]) -> bool:
        """Whether the lines are in this order."""
        keys = self._keys(lines)
        return keys is not None and list(keys) == sorted(keys, reverse=self.descending)  # type: ignore[type-var]

    def _keys(self, lines: Sequence[str]) -> Sequence[float | str] | None:
        texts = self.texts(lines)
        return _numbers(texts) if texts is not None and self.kind == "numbers" else texts


def _text_of(line: str, order: Order) -> str | None:
    """The key of a line; ``None`` where it has fewer fields."""
    if order.field == 0:
        return line
    fields = fields_of(line, order.separator)
    return fields[order.field - 1] if order.field <= len(fields) else None


def fields_of(line: str, separator: str) -> list[str]:
    """The fields of a line; separators within quotes do not count."""
    mark = SEPARATORS[separator]
    if mark is None:
        return line.split()
    if '"' not in line:
        return line.split(mark)
    try:
        return next(csv.reader([line], delimiter=mark), list[str]())
    except csv.Error:
        return line.split(mark)


def are_numbers(texts: Sequence[str]) -> bool:
    """Whether every text is a number and nothing else."""
    return all(_NUMBER.fullmatch(text.strip().strip('"')) for text in texts)


def _numbers(texts: Sequence[str]) -> list[float] | None:
    found = [_NUMBER.match(text.strip().strip('"')) for text in texts]
    return (
        [float(m.group().replace(",", ".")) if m else 0.0 for m in found] if any(found) or not texts else None
    )
