"""Patterns that are tried only where a text has the letters that they cannot do without.

Most passages hold nothing of what a rule looks for. To see that a few plain words are missing is some ten times as
fast as to try the pattern at every letter.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

_parsed: Callable[[str, int], Sequence[tuple[Any, Any]]] = import_module("re._parser").parse
"""How Python itself reads a pattern: the one description of it that cannot differ from what is matched."""

_MOST_WORDS = 80
"""With more alternatives the pattern itself is as fast."""


class Search:
    """A pattern without regard to case, and the words of which a text must have one for it to match."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._pattern = re.compile(pattern, re.IGNORECASE | flags)
        self._words = _needed(pattern, flags)

    def search(self, text: str) -> re.Match[str] | None:
        """The first match, as ``re.Pattern.search``."""
        return self._pattern.search(text) if self.may_match(text) else None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """All matches, as ``re.Pattern.finditer``."""
        return self._pattern.finditer(text) if self.may_match(text) else iter(())

    def may_match(self, text: str) -> bool:
        """Whether the text has one of the words that the pattern needs."""
        if not self._words:
            return True
        # Only of plain letters: others have more forms than lower() makes alike.
        if not text.isascii():
            return True
        lower = text.lower()
        return any(word in lower for word in self._words)


def _needed(pattern: str, flags: int) -> tuple[str, ...]:
    """Words in lower case of which every match holds at least one; none where that cannot be said."""
    found = _words_of(_parsed(pattern, flags | re.IGNORECASE))
    if not found or len(found) > _MOST_WORDS or not all(word.isascii() for word in found):
        return ()
    return tuple(sorted(found))


def _words_of(parts: Sequence[tuple[Any, Any]]) -> frozenset[str]:
    """The best set of alternatives that a sequence offers: the one whose shortest word is longest."""
    best, run = frozenset[str](), ""
    for code, value in parts:
        if code.name == "LITERAL":
            run += chr(value).lower()
        else:
            best = _better(_better(best, _word(run)), _words_in(code.name, value))
            run = ""
    return _better(best, _word(run))


def _word(run: str) -> frozenset[str]:
    return frozenset({run}) if run else frozenset()


def _words_in(code: str, value: Any) -> frozenset[str]:
    if code == "SUBPATTERN":
        return _words_of(value[3])
    if code in ("MAX_REPEAT", "MIN_REPEAT") and value[0] > 0:
        return _words_of(value[2])
    if code == "BRANCH":
        each = [_words_of(branch) for branch in value[1]]
        return frozenset[str]().union(*each) if all(each) else frozenset()
    return frozenset()


def _better(one: frozenset[str], other: frozenset[str]) -> frozenset[str]:
    return max((one, other), key=lambda words: (min(map(len, words), default=0), -len(words)))
