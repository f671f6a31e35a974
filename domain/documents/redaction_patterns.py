"""Find sensitive text for redaction preparation, mask the findings, and parse page ranges.

DOC3 §0.2F ``page_range``.

A kind is a regular expression that cannot take exponential time, and a check of its digits where it has one:
card numbers (ISO/IEC 7812, Luhn), IBAN (ISO 13616, remainder 97), United States social security numbers
(numbers that are never given out).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

SHOWN_CHARACTERS = 4
"""The most characters of a value that a review sees."""

_DATE = re.compile(r"\d{4}[-./ ]\d{1,2}[-./ ]\d{1,2}|\d{1,2}[-./ ]\d{1,2}[-./ ]\d{4}")


@dataclass(frozen=True)
class RedactionPattern:
    """One thing to look for. ``literal_index`` is its place in the request when it is a text."""

    kind: str
    expression: "re.Pattern[str]"
    has_check: bool
    is_right: Callable[[str], bool]
    literal_index: int | None = None


def _luhn(text: str) -> bool:
    digits = [int(one) for one in text if one.isdigit()]
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    doubled = [one * 2 - 9 if one > 4 else one * 2 for one in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _iban(text: str) -> bool:
    packed = "".join(text.split()).upper()
    if not 15 <= len(packed) <= 34:
        return False
    turned = packed[4:] + packed[:4]
    return int("".join(str(int(one, 36)) for one in turned)) % 97 == 1


def _social_security(text: str) -> bool:
    area, group, serial = re.split(r"[- ]", text)
    return area not in {"000", "666"} and not area.startswith("9") and group != "00" and serial != "0000"


def _phone(text: str) -> bool:
    if _DATE.fullmatch(text):
        return False
    return 8 <= sum(one.isdigit() for one in text) <= 15


def _always(_text: str) -> bool:
    return True


_KINDS: dict[str, tuple[str, bool, Callable[[str], bool]]] = {
    "email": (r"[A-Za-z0-9._%+\-]{1,64}@[A-Za-z0-9\-]{1,63}(?:\.[A-Za-z0-9\-]{1,63}){1,8}", False, _always),
    "iban": (r"\b[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]{4}){2,7}(?:[ ]?[A-Z0-9]{1,3})?\b", True, _iban),
    "credit_card": (r"(?<![\d\-])\d(?:[ \-]?\d){12,18}(?![\d\-])", True, _luhn),
    "ssn": (r"(?<![\d\-])\d{3}[- ]\d{2}[- ]\d{4}(?![\d\-])", True, _social_security),
    "phone": (
        r"(?<![\w+\-.])(?:\+\d{1,3}[ \-./]?)?(?:\(\d{1,5}\)[ \-./]?)?\d{1,5}(?:[ \-./]\d{2,8}){1,5}(?![\w\-])",
        False,
        _phone,
    ),
}

KINDS = tuple(_KINDS)
"""The kinds by name; where places overlap, the one that is named first stands."""


def patterns_of(pattern_set: tuple[str, ...]) -> tuple[RedactionPattern, ...]:
    """What ``pattern_set`` asks for: a kind by its name, else the text itself, in any case and spacing.

    Every kind when it is empty. Kinds come before texts.
    """
    named = [kind for kind in KINDS if kind in pattern_set] if pattern_set else list(KINDS)
    kinds = [RedactionPattern(kind, re.compile(_KINDS[kind][0]), *_KINDS[kind][1:]) for kind in named]
    literals = [
        RedactionPattern("literal", _literal(text), False, _always, place)
        for place, text in enumerate(pattern_set)
        if text not in _KINDS and text.strip()
    ]
    return (*kinds, *literals)


def _literal(text: str) -> "re.Pattern[str]":
    return re.compile(r"\s+".join(re.escape(word) for word in text.split()), re.IGNORECASE)


def hint_of(kind: str, value: str) -> str:
    """The shape of ``value``: its last four characters when it is a long number, else its ends at most.

    A text that the request named is not shown at all: who reviews it knows it.
    """
    if kind == "literal":
        return f"{len(value)} characters, as asked for"
    if kind == "email":
        name, _, domain = value.rpartition("@")
        return f"{name[:1]}•••@{domain[:1]}•••.{domain.rpartition('.')[2][:2]}"
    digits = [one for one in value if one.isalnum()]
    shown = SHOWN_CHARACTERS if kind in {"iban", "credit_card"} else 2
    return "•" * max(len(digits) - shown, 0) + "".join(digits[-shown:])


class PageRangeError(ValueError):
    """The range cannot be read, or names no page of the document; the text says which part and why."""


def pages_of(wanted: str | None, page_count: int) -> tuple[int, ...]:
    """The pages that ``wanted`` names, ascending, each once, counted from one; every page when it is None.

    An open range (``10-``) ends with the document.

    Raises:
        PageRangeError: a part is not a number or two, runs backwards, or names a page that is not there.
    """
    if wanted is None:
        return tuple(range(1, page_count + 1))
    found: set[int] = set()
    for part in wanted.split(","):
        first, last = _ends(part.strip(), page_count)
        if not 1 <= first <= last:
            raise PageRangeError(f"page range {part.strip()!r} runs backwards or starts before page 1")
        if last > page_count:
            raise PageRangeError(
                f"page range {part.strip()!r} goes beyond the document, which ends on page {page_count}"
            )
        found.update(range(first, last + 1))
    return tuple(sorted(found))


def _ends(part: str, page_count: int) -> tuple[int, int]:
    first, dash, last = part.partition("-")
    if not (_is_number(first) and (last == "" or _is_number(last))):
        raise PageRangeError(f"page range {part!r} is not of the form 3, 1-3 or 10-; write such as 1-3,5")
    start = int(first)
    if not dash:
        return start, start
    return start, int(last) if last else max(page_count, start)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 6
