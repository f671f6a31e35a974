"""Orders that the options of ``sort`` give: keys as GNU ``sort`` takes them out of a line and compares them.

A locale other than C has rules of its own for letters and for the signs within numbers, and a host that lacks it falls
back to C. There lines count as in order where one of the ways to compare them finds them so, and two texts only by
what every such way says of them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from itertools import pairwise

from domain.learning.conditions.orders import SEPARATORS, Order

TO_THE_END = -1
"""In the place of a last field: the key goes on to the end of the line."""

_CODE_POINTS = re.compile(r"(?i)(?:C|POSIX)(?:\.[\w-]+)?|")
_ALPHABETS = frozenset({"en", "de", "fr", "es", "it", "pt", "nl"})
"""Languages in which digits and the letters from a to z are ordered as in English, each by itself."""

_BY_LETTERS = frozenset({"text", "folded"})
_FIELD = re.compile(r"[ \t]*[^ \t]+|[ \t]+")
_BLANKS = " \t"
_UNITS = {unit: place for place, units in enumerate(("kK", *"MGTPEZYRQ"), start=1) for unit in units}
_FLOAT = re.compile(
    r"\s*(?P<sign>[-+]?)(?:(?P<hex>0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[-+]?[0-9]+)?)|(?P<inf>inf)|(?P<nan>nan)|"
    r"(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?))",
    re.IGNORECASE,
)
_STEM = re.compile(r"(.+?)(?:\.[A-Za-z~][A-Za-z0-9~]*)*", re.DOTALL)
_RUNS = re.compile(r"([^0-9]*)([0-9]*)")
_UPPER = {ord(letter): letter.upper() for letter in "abcdefghijklmnopqrstuvwxyz"}
_LETTERS_AND_DIGITS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")

_Versions = tuple[tuple[tuple[int, ...], tuple[int, str]], ...]
"""What stands between numbers, and each number by its length and its digits."""

_NO_RUN = ((0,), (0, ""))
_Value = str | Decimal | tuple[int, Decimal] | tuple[int, float] | tuple[int, _Versions, _Versions]


@dataclass(frozen=True)
class SortKey:
    """A part of a line: from one field (counted from 1) to the end of another, or ``TO_THE_END``.

    ``kind`` is how it is compared: ``text``, ``folded`` (upper and lower case alike), ``numbers`` (that at its
    beginning, 0 where there is none), ``floats`` (1e3), ``sizes`` (2K, 1G) or ``versions``.
    """

    field: int = 1
    to: int = TO_THE_END
    kind: str = "text"
    descending: bool = False
    without_blanks: bool = False
    """Whether blanks at its beginning do not count."""

    @property
    def is_whole_line(self) -> bool:
        """Whether it is all of the line."""
        return (self.field, self.to) == (1, TO_THE_END)


@dataclass(frozen=True)
class _Way:
    """The signs within numbers, and whether texts are compared as in a dictionary instead of by code points."""

    point: str = "."
    groups: str = ""
    is_dictionary: bool = False


_C = (_Way(),)
_LOCAL = (*_C, _Way(".", ",", True), _Way(",", ".", True), _Way(",", "", True))


@dataclass(frozen=True)
class SortOrder:
    """How ``sort`` puts lines in order: by its keys, a later one where those before it are equal."""

    separator: str = "space"
    keys: tuple[SortKey, ...] = (SortKey(),)
    header: int = 0
    is_local: bool = False
    """Whether the rules of a locale decide."""

    @property
    def kind(self) -> str:
        """How the first key is compared."""
        return self.keys[0].kind

    @property
    def descending(self) -> bool:
        """Whether the first key descends."""
        return self.keys[0].descending

    @property
    def argument(self) -> str:
        """The order as the argument of a condition."""
        keys = ",".join(map(_written, self.keys))
        local = " in=locale" if self.is_local else ""
        return f"sort={self.separator} keys={keys} header={self.header}{local}"

    def different_keys(self, lines: Sequence[str]) -> int:
        """How many different keys the lines after the header have."""
        return len({self._values(line, _Way()) for line in lines[self.header :]})

    def holds(self, lines: Sequence[str]) -> bool:
        """Whether the lines are in this order."""
        rest = lines[self.header :]
        return any(self._holds(rest, way) for way in (_LOCAL if self.is_local else _C))

    def _holds(self, lines: Sequence[str], way: _Way) -> bool:
        values = [self._values(line, way) for line in lines]
        return all(self._in_order(*pair, way) for pair in pairwise(values))

    def _values(self, line: str, way: _Way) -> tuple[_Value, ...]:
        mark = SEPARATORS[self.separator]
        return tuple(_value(_text(line, key, mark), key.kind, way) for key in self.keys)

    def _in_order(self, first: Sequence[_Value], second: Sequence[_Value], way: _Way) -> bool:
        for key, one, other in zip(self.keys, first, second, strict=True):
            if one == other:
                continue
            if way.is_dictionary and isinstance(one, str) and isinstance(other, str):
                is_less = _in_dictionary(one, other)
                return is_less is None or is_less != key.descending
            return (one < other) != key.descending  # type: ignore[operator]
        return True


def order_of(argument: str) -> Order | SortOrder:
    """The order that an argument of a ``sorted`` condition names."""
    found = dict(part.split("=", 1) for part in argument.split())
    header = int(found["header"])
    if "sort" in found:
        keys = tuple(map(_read, found["keys"].split(",")))
        return SortOrder(found["sort"], keys, header, "in" in found)
    separator, place = found["by"].split(":")
    field, dash, to = place.partition("-")
    kind, descending = found["as"], found["order"] == "descending"
    if not dash and kind in ("text", "numbers"):
        return Order(separator, int(field), kind, descending, header)
    # As these were written before an order could have several keys.
    last = int(to or TO_THE_END) if dash else int(field)
    whole = SortKey(kind=kind, descending=descending)
    return SortOrder(
        separator, (whole if field == "0" else replace(whole, field=int(field), to=last),), header
    )


def in_locale(order: SortOrder, locale: str) -> SortOrder | None:
    """The order as it is where ``sort`` runs in this locale; ``None`` where its letters have an order of their own."""
    if collates_by_code_points(locale):
        return order
    knows_letters = re.split(r"[_.@]", locale)[0] in _ALPHABETS
    if not knows_letters and any(key.kind in _BY_LETTERS for key in order.keys):
        return None
    return replace(order, is_local=True)


def collates_by_code_points(locale: str) -> bool:
    """Whether texts are ordered in this locale as in C."""
    return _CODE_POINTS.fullmatch(locale) is not None


def _written(key: SortKey) -> str:
    to = "" if key.to == TO_THE_END else key.to
    order = "descending" if key.descending else "ascending"
    return f"{key.field}-{to}:{key.kind}:{order}{':unblanked' if key.without_blanks else ''}"


def _read(text: str) -> SortKey:
    place, kind, order, *more = text.split(":")
    field, _, to = place.partition("-")
    return SortKey(int(field), int(to or TO_THE_END), kind, order == "descending", bool(more))


def _text(line: str, key: SortKey, mark: str | None) -> str:
    """The key of a line as it stands there; empty where the line has fewer fields."""
    last = None if key.to == TO_THE_END else key.to
    if key.is_whole_line:
        text = line
    elif mark is None:
        text = "".join(_FIELD.findall(line)[key.field - 1 : last])
    else:
        text = mark.join(line.split(mark)[key.field - 1 : last])
    return text.lstrip(_BLANKS) if key.without_blanks else text


def _value(text: str, kind: str, way: _Way) -> _Value:
    match kind:
        case "numbers":
            return _number(text, way)[0]
        case "floats":
            return _float(text, way)
        case "sizes":
            return _size(text, way)
        case "versions":
            return _version(text)
        case "folded":
            return text.translate(_UPPER)
        case _:
            return text


@cache
def _numbers_of(way: _Way) -> re.Pattern[str]:
    digits = f"[0-9{re.escape(way.groups)}]*"
    return re.compile(rf"[ \t]*(-?)({digits})(?:{re.escape(way.point)}([0-9]*))?")


def _number(text: str, way: _Way) -> tuple[Decimal, int]:
    """The number at the beginning of a text, and where it ends."""
    found = _numbers_of(way).match(text)
    assert found is not None
    whole = found[2].replace(way.groups, "") if way.groups else found[2]
    return Decimal(f"{found[1]}{whole or 0}.{found[3] or 0}"), found.end()


def _size(text: str, way: _Way) -> tuple[int, Decimal]:
    value, end = _number(text, way)
    unit = _UNITS.get(text[end : end + 1], 0) if value else 0
    return (-unit if value < 0 else unit), value


def _float(text: str, way: _Way) -> tuple[int, float]:
    """What is no number comes first, then what is said to be none."""
    found = _FLOAT.match(text if way.point == "." else text.replace(way.point, "."))
    if found is None:
        return 0, 0.0
    if found["nan"]:
        return 1, 0.0
    if found["hex"] is None:
        return 2, float(found["sign"] + (found["inf"] or found["number"]))
    try:
        return 2, float.fromhex(found["sign"] + found["hex"])
    except OverflowError:
        return 2, float(found["sign"] + "inf")


def _version(text: str) -> tuple[int, _Versions, _Versions]:
    """Numbers within the text compared as such; the endings of names count where the rest is equal."""
    rank = ("", ".", "..").index(text) if text in ("", ".", "..") else 3 if text.startswith(".") else 4
    stem = _STEM.fullmatch(text)
    return rank, _runs(stem[1] if stem else ""), _runs(text)


def _runs(text: str) -> _Versions:
    found = ((run, number.lstrip("0")) for run, number in _RUNS.findall(text))
    runs = [((*map(_rank, run), 0), (len(number), number)) for run, number in found]
    while runs and runs[-1] == _NO_RUN:
        runs.pop()
    # What has no more is before what has, but for a tilde.
    return (*runs, _NO_RUN)


def _rank(character: str) -> int:
    if character == "~":
        return -2
    code = ord(character)
    return code if character.isascii() and character.isalpha() else code + 256


def _in_dictionary(one: str, other: str) -> bool | None:
    """Whether a text comes before another one in every alphabet; ``None`` where that depends on more than letters."""
    for a, b in _letters(one.lower(), other.lower()):
        if a == b and a in _LETTERS_AND_DIGITS:
            continue
        known = (a in _LETTERS_AND_DIGITS or not a) and (b in _LETTERS_AND_DIGITS or not b)
        return a < b if known and a != b else None
    return None


def _letters(one: str, other: str) -> Iterator[tuple[str, str]]:
    """The characters of both texts side by side; an empty one after the shorter of them."""
    for place in range(max(len(one), len(other))):
        yield one[place : place + 1], other[place : place + 1]
