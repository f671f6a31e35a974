"""Which trends are given out: window, engagement, topics to leave out, order, number (CH-07…CH-09)."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

MAX_BYTES = 800_000
"""The most that the trends of one answer may take as JSON; what is beyond it is left out, and said."""

_LONGEST = timedelta(days=36_500)
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True)
class Wanted:
    """What is asked for."""

    window: timedelta
    min_engagement: int
    exclude: tuple[str, ...]
    limit: int


@dataclass(frozen=True)
class Chosen:
    """The trends, the most talked about first; whether there were more, and how many name no engagement."""

    trends: tuple[dict[str, Any], ...]
    truncated: bool
    unmeasured: int


def window_of(text: str) -> timedelta:
    """``4h`` or ``2d`` as a time; a hundred years at most."""
    number, unit = int(text[:-1][:9]), text[-1]
    if len(text) > 10:
        return _LONGEST
    return min(timedelta(hours=number) if unit == "h" else timedelta(days=number), _LONGEST)


def choose(found: Sequence[dict[str, Any]], wanted: Wanted, now: datetime) -> Chosen:
    """The trends that are asked for; each once."""
    excluded = [words for topic in wanted.exclude if (words := _words(topic))]
    fitting = dict[str, dict[str, Any]]()
    unmeasured = 0
    for trend in found:
        recent = datetime.fromisoformat(trend["detected_at"]) >= now - wanted.window
        if not recent or any(_names(trend, words) for words in excluded):
            continue
        if trend["engagement_score"] < wanted.min_engagement:
            unmeasured += trend["engagement_score"] == 0
            continue
        fitting.setdefault(trend["trend_id"], trend)
    ordered = sorted(
        fitting.values(), key=lambda one: (one["engagement_score"], one["detected_at"]), reverse=True
    )
    kept = _within_bytes(ordered[: wanted.limit])
    return Chosen(tuple(kept), len(ordered) > len(kept), unmeasured)


def _names(trend: dict[str, Any], excluded: tuple[str, ...]) -> bool:
    """Whether a trend is about an excluded topic: its words in a row, in the topic or as one of the hashtags."""
    if any(
        _words(tag) == excluded or "".join(excluded) == tag.casefold() for tag in trend.get("hashtags", ())
    ):
        return True
    words = _words(trend["topic"])
    size = len(excluded)
    return any(words[start : start + size] == excluded for start in range(len(words) - size + 1))


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORDS.findall(text.casefold()))


def _within_bytes(trends: list[dict[str, Any]]) -> list[dict[str, Any]]:
    size = 0
    for number, trend in enumerate(trends):
        size += len(json.dumps(trend)) + 2
        if size > MAX_BYTES:
            return trends[:number]
    return trends
