"""Relevance of a trend to the goals of a campaign, by their words alone: the same everywhere and every time (CH-18).

A goal counts by the share of its words that the trend has: whole in the topic and the hashtags, less in the summary.
Goals add up as probabilities do, so that one goal that is met wholly gives 1 and further ones take nothing away.
"""

import re
from collections.abc import Sequence

from contracts.base import clipped
from contracts.skills.content import Trend

IN_SUMMARY = 0.85
"""What a word counts that only the summary has."""

MAX_REASONING_CHARS = 500

_WORDS = re.compile(r"[^\W_]+")
_STEM = 5
_LONGER = 3


def relevance(trend: Trend, goals: Sequence[str]) -> tuple[float, str]:
    """The score from 0 to 1, and the words for it."""
    head = _words(" ".join((trend.topic, *trend.hashtags)))
    body = _words(trend.summary or "")
    missing, met = 1.0, list[str]()
    for goal in sorted(dict.fromkeys(goals)):
        words = _words(goal)
        if not words:
            continue
        share = sum(_weight(word, head, body) for word in words) / len(words)
        missing *= 1 - share
        if share:
            met.append(f"{goal.strip()} ({share:.0%})")
    score = round(1 - missing, 4)
    reasoning = (
        f"Words of these goals are in it: {', '.join(met)}." if met else "None of the goals' words are in it."
    )
    return score, clipped(reasoning, MAX_REASONING_CHARS)


def _weight(word: str, head: Sequence[str], body: Sequence[str]) -> float:
    if any(_alike(word, other) for other in head):
        return 1.0
    return IN_SUMMARY if any(_alike(word, other) for other in body) else 0.0


def _alike(one: str, other: str) -> bool:
    """Whether two words are one word in two forms: Africa and African, brand and brands."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if long in (f"{short}s", f"{short}es"):
        return True
    return len(short) >= _STEM and len(long) - len(short) <= _LONGER and long.startswith(short)


def _words(text: str) -> list[str]:
    return _WORDS.findall(text.casefold())
