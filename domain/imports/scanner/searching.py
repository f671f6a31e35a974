"""Patterns that are tried only where a text has the letters that they cannot do without.

Most passages hold nothing of what a rule looks for. Which words a passage holds is found once for all patterns; to see
that some are missing is much faster than to try each pattern at every letter.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Protocol, TypeVar

_MOST_WORDS = 80
"""With more alternatives the pattern itself is as fast."""

_UPPER = str.maketrans({"\u0130": "i", "\u0131": "i", "\u017f": "s", "\u212a": "k"})
"""Letters beside A to Z that a pattern without regard to case takes for one of them."""

_all_words: set[str] = set()
"""The words of all searches that were made."""

_spaced_words: set[str] = set()
"""Those of them that hold a space."""


class SearchedText(Protocol):
    """A text with the words of searches that it holds, as ``words_in`` finds them."""

    @property
    def text(self) -> str:
        """The text itself."""
        ...

    @property
    def words(self) -> frozenset[str]:
        """At least those that it holds."""
        ...


class Search:
    """A pattern without regard to case, and the words that a text must hold for it to match."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.regex = re.compile(pattern, re.IGNORECASE | flags)
        self._ways = needed_words(pattern)
        words = {word for way in self._ways for needed in way for word in needed}
        _all_words.update(words)
        _spaced_words.update(word for word in words if " " in word)

    def search(self, searched: SearchedText) -> re.Match[str] | None:
        """The first match, as ``re.Pattern.search``."""
        return self.regex.search(searched.text) if self.may_match(searched.words) else None

    def finditer(self, searched: SearchedText) -> Iterator[re.Match[str]]:
        """All matches, as ``re.Pattern.finditer``."""
        return self.regex.finditer(searched.text) if self.may_match(searched.words) else iter(())

    def may_match(self, words: frozenset[str]) -> bool:
        """Whether a text with these words has all that one of the pattern's alternatives needs."""
        # Called for each passage and rule: generators would take twice as long.
        for way in self._ways:
            for needed in way:
                if needed.isdisjoint(words):
                    break
            else:
                return True
        return False


class Rule(Protocol):
    """What has a search as its pattern."""

    @property
    def pattern(self) -> Search:
        """The search."""
        ...


R = TypeVar("R", bound=Rule)


def by_words(rules: Sequence[R]) -> Callable[[frozenset[str]], tuple[R, ...]]:
    """Which of ``rules`` may match a text with given words; remembered, since most texts hold the same few."""

    @lru_cache(maxsize=4096)
    def candidates(words: frozenset[str]) -> tuple[R, ...]:
        return tuple(rule for rule in rules if rule.pattern.may_match(words))

    return candidates


def words_in(texts: Sequence[str]) -> tuple[frozenset[str], ...]:
    """The words of all searches that each of the texts holds."""
    folded = [_folded(text) for text in texts]
    together = "\n".join(folded)
    here = [word for word in _all_words if word in together]
    return tuple(frozenset([word for word in here if word in text]) for text in folded)


def joined_words(each: Iterable[SearchedText], joined: str) -> frozenset[str]:
    """The words of a text that was joined of others with a space between them."""
    found = frozenset[str]().union(*(one.words for one in each))
    folded = _folded(joined)
    return found | {word for word in _spaced_words if word in folded}


def _folded(text: str) -> str:
    return (text if text.isascii() else text.translate(_UPPER)).lower()


def needed_words(pattern: str) -> tuple[tuple[frozenset[str], ...], ...]:
    """For each alternative of ``pattern`` sets of words in lower case: a match of it has a word of each of its sets."""
    return tuple(_useful(one) for one in _PatternReader(pattern).branches())


def _useful(needs: "_Needs") -> tuple[frozenset[str], ...]:
    useful = {one for one in needs if len(one) <= _MOST_WORDS and all(map(_is_useful, one))}
    return tuple(sorted(useful, key=lambda one: (-min(map(len, one)), len(one), sorted(one))))


def _is_useful(word: str) -> bool:
    """Whether few enough texts hold the word; letters beyond ASCII have more forms than ``lower`` makes alike."""
    return word.isascii() and (len(word) > 1 or not (word.isalnum() or word.isspace()))


_QUANTIFIER = re.compile(r"(?:[*+?]|\{(?=[\d,]*\d)(\d*)(?:,\d*)?\})[?+]?")
_GROUP = re.compile(r"\?(?:[:>]|P<\w+>|(?P<around><?[=!]))")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_NO_WIDTH, _CLASSES = "bBAZ", "dDwWsSnt"
_Needs = list[frozenset[str]]


class _PatternReader:
    """Reads of a pattern which letters it needs.

    Python's own reader of patterns is private. This one knows what rules are written with: letters, classes, groups,
    assertions, alternatives and repetitions.
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    def branches(self) -> list[_Needs]:
        """What each alternative needs, up to the end of the pattern or the group."""
        found = [self._sequence()]
        while self._takes("|"):
            found.append(self._sequence())
        return found

    def _alternatives(self) -> _Needs:
        """What a group needs: of several alternatives, one word of any."""
        branches = self.branches()
        if len(branches) == 1:
            return branches[0]
        best = [max(one, key=_worth, default=frozenset[str]()) for one in branches]
        return [frozenset[str]().union(*best)] if all(best) else []

    def _sequence(self) -> _Needs:
        needs: _Needs = []
        run = ""
        while self._at < len(self._pattern) and self._pattern[self._at] not in "|)":
            atom = self._atom()
            if atom == "":
                continue
            least = self._least()
            if isinstance(atom, str) and least is None:
                run += atom
                continue
            if run:
                needs.append(frozenset({run}))
            run = ""
            if least != 0:
                needs += [frozenset({atom})] if isinstance(atom, str) else atom
        return [*needs, frozenset({run})] if run else needs

    def _atom(self) -> str | _Needs:
        """A letter, what a group needs, or an empty text for what has no width."""
        one = self._pattern[self._at]
        if one == "(":
            return self._group()
        if one == "[":
            found = _CLASS.match(self._pattern, self._at)
            assert found is not None, "Python has compiled it"
            self._at = found.end()
            return []
        self._at += 1
        if one == "\\":
            return self._escaped()
        return "" if one in "^$" else [] if one == "." else one.lower()

    def _group(self) -> str | _Needs:
        self._at += 1
        kind = _GROUP.match(self._pattern, self._at)
        self._at = kind.end() if kind else self._at
        inside = self._alternatives()
        self._at += 1
        return "" if kind is not None and kind["around"] else inside

    def _escaped(self) -> str | _Needs:
        one = self._pattern[self._at]
        self._at += 1
        if one in _NO_WIDTH:
            return ""
        if one.isalnum() and one not in _CLASSES:
            raise ValueError(f"the words of a pattern with \\{one} are not known")
        return [] if one.isalnum() else one

    def _least(self) -> int | None:
        """How often at least the atom before is repeated; None where it stands once."""
        found = _QUANTIFIER.match(self._pattern, self._at)
        if found is None:
            return None
        self._at = found.end()
        if found[0][0] == "{":
            return int(found[1] or 0)
        return 1 if found[0][0] == "+" else 0

    def _takes(self, one: str) -> bool:
        if self._pattern[self._at : self._at + 1] != one:
            return False
        self._at += 1
        return True


def _worth(words: frozenset[str]) -> tuple[int, int]:
    return min(map(len, words)), -len(words)
