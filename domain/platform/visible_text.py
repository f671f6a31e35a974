"""Text with its unseen characters spelled out, for people who decide on it."""

import re
import unicodedata

_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2028\u2029\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef"
"""Letters, marks and symbols that show nothing, though they count as such."""

_MAY_BE_UNSEEN = re.compile(f"[{_BLANK}]|[^\\x20-\\x7e\\xa1-\\xac\\xae-\\u02ff\\n\\t]")
_BLANKS = re.compile(f"[{_BLANK}]")


def visible(text: str) -> str:
    """``text`` with control, format, filler and other unseen characters as ``\\uXXXX``; line ends and tabs stay."""
    return _MAY_BE_UNSEEN.sub(_spelled, text)


def _spelled(found: re.Match[str]) -> str:
    character = found[0]
    if unicodedata.category(character)[0] != "C" and not _BLANKS.match(character):
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
