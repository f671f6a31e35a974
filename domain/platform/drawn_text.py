"""Text as it is drawn without a font at hand: cleaned, cut into lines by estimated widths, in its direction.

Widths are in em and rather too large than too small, so that a line that fits by them fits in every common font.
"""

import re
import unicodedata
from collections.abc import Iterator
from html import escape

_JOINERS = "\u200c\u200d"
"""Part of Persian and Indic spelling and of emoji; other format characters turn text around or hide some of it."""

_MOST_CODE_POINTS = 12
"""Of one letter with its marks; the longest emoji in use has ten."""

_NARROW = frozenset("fijlrtI.,:;'|!()[] ")


def drawable(text: str) -> str:
    """``text`` on one line, without what XML forbids, what turns text around and what shows nothing."""
    return " ".join("".join(c for c in text if _is_kept(c)).split())


def xml_text(text: str) -> str:
    """``drawable`` text, escaped for an element's content or an attribute."""
    return escape(drawable(text))


def is_right_to_left(text: str) -> bool:
    """Whether the first letter that has a direction is of a script that is written to the left."""
    directions = (unicodedata.bidirectional(c) for c in text)
    return next((one != "L" for one in directions if one in ("L", "R", "AL")), False)


def lines_of(text: str, width: float, most_lines: int) -> tuple[list[str], bool]:
    """The lines of ``drawable`` text, each at most ``width`` em wide, and whether all of it is there.

    Where it is not, the last line ends with an ellipsis. A word that is wider than a line is broken between letters,
    never within one and its marks.
    """
    lines: list[list[str]] = [[]]
    used = 0.0
    for word in drawable(text).split():
        letters = list(_letters(word))
        wide = sum(map(_width, letters))
        if used and used + _width(" ") + wide > width and wide <= width:
            lines.append([])
            used = 0.0
        if used:
            letters.insert(0, " ")
        for letter in letters:
            if used + _width(letter) > width and used:
                lines.append([])
                used = 0.0
            lines[-1].append(letter)
            used += _width(letter)
        if len(lines) > most_lines:
            break
    whole = len(lines) <= most_lines
    if not whole:
        last = lines[most_lines - 1]
        while last and sum(map(_width, last)) + _width("…") > width:
            last.pop()
        last.append("…")
    return [line for line in ("".join(one).strip() for one in lines[:most_lines]) if line], whole


def _is_kept(character: str) -> bool:
    if character.isspace() or character in _JOINERS:
        return True
    code = ord(character)
    never_a_character = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
    return not never_a_character and unicodedata.category(character) not in ("Cc", "Cf", "Cs")


_MARK = re.compile("[\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\u200c\u200d]")


def _letters(word: str) -> Iterator[str]:
    """What is seen as one sign each: a letter with its marks, an emoji with what is joined to it, a flag."""
    kept = ""
    for c in word:
        joined = _MARK.match(c) or unicodedata.category(c)[0] == "M" or kept.endswith("\u200d")
        flag = len(kept) == 1 and _is_flag_half(kept) and _is_flag_half(c)
        if kept and not (joined or flag):
            yield kept
            kept = ""
        if len(kept) < _MOST_CODE_POINTS:
            kept += c
    if kept:
        yield kept


def _is_flag_half(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _width(letter: str) -> float:
    """Of one sign, in em; of an emoji with what is joined to it, as a font shows it that cannot join."""
    joined = 0.6 * sum(c >= "\U0001f000" for c in letter[1:])
    return _width_of_first(letter) + joined


def _width_of_first(letter: str) -> float:
    first = letter[0]
    code = ord(first)
    if code >= 0x1F000 or letter.endswith("\ufe0f"):
        return 1.4
    if unicodedata.east_asian_width(first) in ("W", "F") or 0x2010 <= code <= 0x2BFF:
        return 1.0
    if first in _NARROW:
        return 0.4
    if code < 0x250:
        return 0.95 if first in "MWmw@%" else 0.75 if first.isupper() else 0.6
    return 0.75
