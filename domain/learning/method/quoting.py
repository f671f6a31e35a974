"""Quoting of values within a sentence, and lists joined by commas and ``and``."""

import re
from collections.abc import Sequence

_NAMED = {" ": "a space", "\t": "a tab", "\n": "a newline", "\0": "NUL", "": "nothing"}
_LINE_BREAKS = re.compile(r"\s*[\r\n]+\s*")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def quoted(value: str) -> str:
    """``value`` in quotes on one line: line breaks become spaces, tabs ``\\t``, other controls ``?``."""
    if value in _NAMED:
        return _NAMED[value]
    line = _CONTROLS.sub("?", _LINE_BREAKS.sub(" ", value.strip("\n")).replace("\t", "\\t"))
    return f'"{line}"' if "'" in line else f"'{line}'"


def is_shown_whole(value: str) -> bool:
    """Whether `quoted` keeps every character of ``value``."""
    return value in _NAMED or value in quoted(value)


def joined(items: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join((", ".join(items[:-1]), items[-1])) if len(items) > 1 else "".join(items)
