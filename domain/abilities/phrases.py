"""Which trigger phrases and titles answer a query, found by words and whole phrases instead of one by one."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import accumulate

from domain.abilities.matching import (
    TRIGGER_PHRASE_WEIGHT,
    TRIGGER_WORDS_WEIGHT,
    PreparedQuery,
    split_words,
)


class PhraseIndex:
    """The trigger phrases of many abilities, which are named by their position in what it is built from."""

    def __init__(self, phrases_of: Iterable[Iterable[str]]) -> None:
        self._number: dict[str, int] = {}
        self._owners: list[list[tuple[int, int]]] = []
        self._by_word: dict[str, set[int]] = defaultdict(set)
        for ability, phrases in enumerate(phrases_of):
            for position, phrase in enumerate(phrases):
                self._owners[self._add(phrase.lower())].append((ability, position))
        self._lengths = sorted({len(phrase) for phrase in self._number})
        self._starts = list(accumulate((len(phrase) + 1 for phrase in self._number), initial=0))
        self._text = "\n".join(self._number)

    def weights(self, query: PreparedQuery) -> dict[int, float]:
        """For each ability with a phrase that answers, the weight of the first one that does."""
        answering = dict.fromkeys(_twice(query.words, self._with_word), TRIGGER_WORDS_WEIGHT)
        for number in self._within(query.text) | self._around(query.text):
            answering[number] = TRIGGER_PHRASE_WEIGHT
        first: dict[int, tuple[int, float]] = {}
        for number, weight in answering.items():
            for ability, position in self._owners[number]:
                known = first.get(ability)
                if known is None or position < known[0]:
                    first[ability] = (position, weight)
        return {ability: weight for ability, (_, weight) in first.items()}

    def _add(self, phrase: str) -> int:
        number = self._number.setdefault(phrase, len(self._owners))
        if number == len(self._owners):
            self._owners.append([])
            for word in split_words(phrase):
                self._by_word[word].add(number)
        return number

    def _with_word(self, word: str) -> Collection[int]:
        return self._by_word.get(word, frozenset[int]())

    def _within(self, text: str) -> set[int]:
        """The phrases that ``text`` holds."""
        number = self._number
        return {
            number[part]
            for length in self._lengths[: bisect_right(self._lengths, len(text))]
            for start in range(len(text) - length + 1)
            if (part := text[start : start + length]) in number
        }

    def _around(self, text: str) -> set[int]:
        """The phrases that hold ``text``; a find across the seam of two phrases is none."""
        if len(split_words(text)) == 1:
            return _with_part(self._by_word, text)
        found: set[int] = set()
        at = self._text.find(text)
        while at >= 0:
            number = bisect_right(self._starts, at) - 1
            end = self._starts[number + 1]
            inside = at + len(text) < end
            if inside:
                found.add(number)
            at = self._text.find(text, end if inside else at + 1)
        return found


class TitleIndex:
    """The titles of many abilities, which are named by their position in what it is built from."""

    def __init__(self, titles: Iterable[str]) -> None:
        self._by_word: Mapping[str, set[int]] = defaultdict(set)
        for ability, title in enumerate(titles):
            for word in split_words(title.lower()):
                self._by_word[word].add(ability)

    def holding(self, query: PreparedQuery) -> set[int]:
        """The abilities whose title holds at least two of the query's words, each repeat counted."""
        return _twice(query.words, lambda word: _with_part(self._by_word, word))


def _with_part(by_word: Mapping[str, set[int]], part: str) -> set[int]:
    # A word has no white space in it, so a text holds it exactly if one of the text's words does.
    return set[int]().union(*(holders for word, holders in by_word.items() if part in word))


def _twice(words: Collection[str], having: Callable[[str], Collection[int]]) -> set[int]:
    """What has at least two of ``words``, where ``having`` gives all that has one."""
    once: set[int] = set()
    twice: set[int] = set()
    for word, times in Counter(words).items():
        found = having(word)
        twice.update(found if times > 1 else once.intersection(found))
        once.update(found)
    return twice
