"""Ranks memories for a query: rare words count more, words that stand together more, new ones a little more (AI-34)."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise

from domain.memory.words import index_words

LEAST_SCORE = 0.25
"""What has less of the query than this is not relevant."""

_TOGETHER = 0.15
_NEWNESS = 0.05
_HALF_OLD_DAYS = 90.0


def rarity(frequencies: Mapping[str, int], total: int) -> dict[str, float]:
    """The weight of each word: the rarer among ``total`` texts, the heavier; one of no text weighs as if it had one."""
    return {term: math.log(1 + (total + 1) / (max(count, 1) + 0.5)) for term, count in frequencies.items()}


def relevance(
    text: str, terms: Sequence[str], weights: Mapping[str, float], at: datetime, now: datetime
) -> float:
    """How relevant a text is, from 0 to 1: the weight of the query's words that it has.

    Words of the query that stand beside each other in the text too add to it, and of equal texts the newer is first.
    """
    whole = sum(weights[term] for term in terms)
    if not whole:
        return 0.0
    words = index_words(text)
    there = frozenset(words)
    covered = sum(weights[term] for term in terms if term in there) / whole
    if covered < LEAST_SCORE:
        return 0.0
    days = max((now - at).total_seconds() / 86_400, 0.0)
    newness = math.exp(-days / _HALF_OLD_DAYS)
    score = covered * (1 - _TOGETHER - _NEWNESS) + _TOGETHER * _together(words, terms) * covered
    return round(min(score + _NEWNESS * newness * covered, 1.0), 4)


def _together(words: Sequence[str], terms: Sequence[str]) -> float:
    """The share of neighbouring words of the query that are neighbours in the text; a single word is its own."""
    wanted = list(pairwise(terms))
    if not wanted:
        return 1.0
    pairs = {frozenset(pair) for pair in pairwise(words)}
    return sum(frozenset(pair) in pairs for pair in wanted) / len(wanted)
