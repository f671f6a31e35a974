"""Characters that a reader does not see and a model or a compiler does.

Legitimate uses stay: joiners inside emoji and in scripts that join (Arabic, Persian, Indic), marks of direction in
right-to-left text, flags made of tags, variants of an ideograph, soft hyphens, a byte order mark at the start.
"""

import re
import unicodedata
from collections.abc import Iterator

from contracts.imports.scanning import ScanCode
from domain.imports.scanner.findings import BLOCKS, HINTS, WARNS, Found, Weight

_TAGS = re.compile("[\U000e0000-\U000e007f]+")
_FLAG = re.compile("^[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,7}\U000e007f$")
_BLACK_FLAG = "\U0001f3f4"
_BYTES = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]+")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
_OVERRIDES = "\u202d\u202e"
_MARKS = re.compile("[\u200e\u200f\u061c]")
_ZERO = re.compile("[\u00ad\u034f\u180e\u200b-\u200d\u2060-\u2064\u206a-\u206f\ufeff]+")
_JOINERS = "\u200c\u200d"
_FILLERS = re.compile("[\u115f\u1160\u3164\uffa0]")
_UNSEEN = re.compile("|".join(one.pattern for one in (_TAGS, _BYTES, _BIDI, _MARKS, _ZERO, _FILLERS)))
_LONG = 4
"""So many in a row are a message and no accident."""

_MANY = 12
"""So many strays in one file are a message, too."""

_WHY_TEXT = "Holds characters that nobody sees and a model reads. Remove them."
_WHY_BIDI = "Turns the direction of text around, so that a reader sees another order than a program does."


def unseen_characters(text: str, *, code: bool) -> Iterator[Found]:
    """The hidden characters of a file, a finding for each kind and line."""
    if text.isascii():
        return
    stray = 0
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if line.isascii() or not _UNSEEN.search(line):
            continue
        yield from _tags(line, number)
        yield from _selectors(line, number)
        yield from _directions(line, number, code=code)
        found = list(_zero_width(line, number))
        stray += len(found)
        yield from found
        if code and (filler := _FILLERS.search(line)):
            yield _found(WARNS, number, line, "Uses a letter that shows nothing as a name.", filler.start())
    if stray >= _MANY:
        yield _found(BLOCKS, None, "", f"{stray} lines or places hold unseen characters. {_WHY_TEXT}", 0)


def _tags(line: str, number: int) -> Iterator[Found]:
    for match in _TAGS.finditer(line):
        if _before(line, match) == _BLACK_FLAG and _FLAG.match(match[0]):
            continue
        said = "".join(chr(ord(one) - 0xE0000) for one in match[0] if 0xE0020 <= ord(one) < 0xE007F)
        yield _found(
            BLOCKS,
            number,
            line,
            f"Hides the text “{said[:120]}” in characters that nobody sees.",
            match.start(),
        )


def _selectors(line: str, number: int) -> Iterator[Found]:
    for match in _BYTES.finditer(line):
        if len(match[0]) == 1:
            before = _before(line, match)
            if before and (match[0] <= "\ufe0f" or unicodedata.name(before, "").startswith("CJK")):
                continue
            yield _found(WARNS, number, line, _WHY_TEXT, match.start())
        else:
            weight = BLOCKS if len(match[0]) >= _LONG else WARNS
            yield _found(
                weight,
                number,
                line,
                f"Hides {len(match[0])} bytes in variation selectors. {_WHY_TEXT}",
                match.start(),
            )


def _directions(line: str, number: int, *, code: bool) -> Iterator[Found]:
    match = _BIDI.search(line)
    if match is not None:
        if any(one in line for one in _OVERRIDES) or code:
            yield _found(BLOCKS, number, line, _WHY_BIDI, match.start())
        elif not _is_right_to_left(line):
            yield _found(WARNS, number, line, _WHY_BIDI, match.start())
    elif (mark := _MARKS.search(line)) and not _is_right_to_left(line):
        yield _found(
            HINTS, number, line, "Holds a mark of direction without text that needs one.", mark.start()
        )


def _is_right_to_left(line: str) -> bool:
    return any(unicodedata.bidirectional(one) in ("R", "AL") for one in line)


def _zero_width(line: str, number: int) -> Iterator[Found]:
    split_words = 0
    strays: list[int] = []
    for match in _ZERO.finditer(line):
        run, before, after = match[0], _before(line, match), line[match.end() : match.end() + 1]
        if len(run) == 1 and _belongs(run, before, after):
            continue
        if len(run) >= _LONG:
            yield _found(
                BLOCKS, number, line, f"Hides {len(run)} characters without width. {_WHY_TEXT}", match.start()
            )
            return
        split_words += before.isascii() and before.isalpha() and after.isascii() and after.isalpha()
        strays.append(match.start())
    if strays:
        weight = BLOCKS if split_words >= 2 or len(strays) >= 2 * _LONG else WARNS
        yield _found(
            weight, number, line, f"Holds {len(strays)} characters without width. {_WHY_TEXT}", strays[0]
        )


def _before(line: str, match: re.Match[str]) -> str:
    """The letter before a match; empty at the start of the line."""
    return line[max(0, match.start() - 1) : match.start()]


def _belongs(one: str, before: str, after: str) -> bool:
    if one == "\u00ad":
        return before.isalpha() and after.isalpha()
    if one in _JOINERS:
        if any(_joins(side) for side in (before, after)):
            return True
        return one == "\u200d" and bool(before) and (_is_picture(before) and _is_picture(after))
    if one == "\u200b":
        return any(_breaks(side) for side in (before, after))
    return one in "\u2060\ufeff" and before.isdigit() and after.isdigit()


def _joins(one: str) -> bool:
    """Whether it is of a script that uses joiners: Arabic, Syriac, Indic, Khmer, Mongolian, and their neighbours."""
    return bool(one) and (
        0x0600 <= ord(one) <= 0x0DFF or 0x1000 <= ord(one) <= 0x109F or 0x1780 <= ord(one) <= 0x18AF
    )


def _breaks(one: str) -> bool:
    """Whether it is of a script whose words are broken without spaces: Thai, Lao, Khmer, Burmese, Tibetan, CJK."""
    return bool(one) and (
        0x0E00 <= ord(one) <= 0x109F or 0x1780 <= ord(one) <= 0x17FF or 0x2E80 <= ord(one) <= 0x9FFF
    )


def _is_picture(one: str) -> bool:
    return bool(one) and (
        ord(one) >= 0x1F000 or unicodedata.category(one) in ("So", "Sk", "Mn") or 0x2190 <= ord(one) <= 0x2BFF
    )


def _found(weight: Weight, line: int | None, quote: str, why: str, at: int) -> Found:
    return Found(ScanCode.HIDDEN_TEXT, weight, line, quote, why, at)
