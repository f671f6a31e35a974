"""Orders of lines: by a field or by whole lines, as text, as numbers and in the other ways that ``sort`` compares."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "colon": ":", "bar": "|", "space": None}
"""The signs that divide fields, by name; ``None`` for blanks of any number."""

TO_THE_END = -1
"""In the place of a last field: the key goes on to the end of the line."""

_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)?")
_SIZE = re.compile(r"(\d+(?:[.,]\d+)?)([KMGTPE]?)", re.IGNORECASE)
_UNITS = ("", "K", "M", "G", "T", "P", "E")
_DIGITS = re.compile(r"(\d+)")

_Key = float | str | tuple[int, float] | tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Order:
    """How lines are sorted: by one field (counted from 1; 0 is the whole line), after a number of header lines.

    ``kind`` is how keys are compared: ``text``, ``folded`` (upper and lower case alike), ``numbers`` (that at a key's
    beginning, 0 where there is none), ``sizes`` (2K, 1G) or ``versions``. ``to`` is the last field of the key, where
    it is not the only one, or ``TO_THE_END``.
    """

    separator: str = "space"
    field: int = 0
    kind: str = "text"
    descending: bool = False
    header: int = 0
    to: int = 0

    @classmethod
    def parse(cls, text: str) -> "Order":
        """The order that an argument of a ``sorted`` condition names."""
        found = dict(part.split("=", 1) for part in text.split())
        separator, place = found["by"].split(":")
        field, dash, to = place.partition("-")
        return cls(
            separator,
            int(field),
            found["as"],
            found["order"] == "descending",
            int(found["header"]),
            int(to or TO_THE_END) if dash else 0,
        )

    @property
    def argument(self) -> str:
        """The order as the argument of a condition."""
        to = f"-{'' if self.to == TO_THE_END else self.to}" if self.to else ""
        order = "descending" if self.descending else "ascending"
        return f"by={self.separator}:{self.field}{to} as={self.kind} order={order} header={self.header}"

    def keys(self, lines: Sequence[str]) -> Sequence[_Key] | None:
        """The keys of the lines after the header; ``None`` where a line has none, or none is of this kind."""
        texts = self.texts(lines)
        if texts is None:
            return None
        match self.kind:
            case "numbers":
                return _numbers(texts)
            case "sizes":
                return [_size(text) for text in texts]
            case "versions":
                return [_version(text) for text in texts]
            case "folded":
                return [text.upper() for text in texts]
            case _:
                return texts

    def texts(self, lines: Sequence[str]) -> list[str] | None:
        """The keys as they stand there; ``None`` where a line has too few fields."""
        found = [text for line in lines[self.header :] if (text := _text_of(line, self)) is not None]
        return found if len(found) == len(lines[self.header :]) else None

    def holds(self, lines: Sequence[str]) -> bool:
        """Whether the lines are in this order."""
        keys = self.keys(lines)
        return keys is not None and list(keys) == sorted(keys, reverse=self.descending)  # type: ignore[type-var]


def _text_of(line: str, order: Order) -> str | None:
    """The key of a line; ``None`` where it has fewer fields."""
    if order.field == 0:
        return line
    fields = fields_of(line, order.separator)
    if order.field > len(fields):
        return None
    last = len(fields) if order.to == TO_THE_END else max(order.field, order.to)
    return (SEPARATORS[order.separator] or " ").join(fields[order.field - 1 : last])


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


def _size(text: str) -> tuple[int, float]:
    found = _SIZE.match(text.strip())
    return (_UNITS.index(found[2].upper()), float(found[1].replace(",", "."))) if found else (-1, 0.0)


def _version(text: str) -> tuple[tuple[int, str], ...]:
    """Numbers within the text compared as such, and what stands between them as text."""
    return tuple((int(piece), "") if piece.isdigit() else (-1, piece) for piece in _DIGITS.split(text))
