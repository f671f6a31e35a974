"""Times ``AbilityIndex.lookup`` against a plain scan over prepared words, in one process and one run.

Usage: ``python -m bench.lookup [--abilities N] [--rounds N]``. Prints one JSON object. ``ratio`` is the
median over all queries of (ours / scan) time; the two take turns in going first. The run is void, and ends
with status 1, if the two ever answer differently.

Beside them stand two usual ways to find by words, which answer something simpler: the best by BM25 of SQLite's FTS5,
and by the product of a matrix of words with NumPy. Neither weighs scope, lane or health, or refuses by negative
triggers.
"""

import argparse
import json
import random
import sqlite3
import statistics
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from heapq import nsmallest
from time import perf_counter

import numpy as np

from contracts.abilities.availability import (
    AbilityAvailabilityEntry,
    AbilitySource,
    CheckpointHealth,
    InstallLane,
)
from contracts.abilities.lookup import (
    INCLUDE_FROM_SCORE,
    MAX_MATCHES,
    AbilityLookupQuery,
    AbilityLookupResult,
    AbilityMatch,
)
from domain.abilities.lookup_index import AbilityIndex
from domain.abilities.matching import (
    LANE_WEIGHTS,
    TITLE_WEIGHT,
    PreparedQuery,
    negative_match,
    scope_weight,
    split_words,
    total_score,
    trigger_match,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CALLER = "user-0"


def _words(text: str) -> list[str]:
    return text.split()


VERBS = _words("""
    archive backup book cancel check clean collect compare convert copy draft export file find label
    list log merge move order plan print publish rename reply report resize review schedule send share
    sort split summarise sync tag test translate upload verify
""")
THINGS = _words("""
    account agenda album archive branch budget calendar chapter claim contract customer database deck
    deposit dataset diagram email expense flight folder form graph image index invoice journal ledger
    letter log manuscript meeting message note order package page parcel password payment photo playlist
    podcast poem presentation project quote receipt recipe release report roster sample schedule script
    server sheet shift survey table task template ticket timesheet transcript trip video voucher website
""")
LINKS = _words("the a of for in to with from my our all every new old last next weekly monthly")


def abilities(count: int, seed: int = 7) -> list[AbilityAvailabilityEntry]:
    """``count`` varied abilities; the same for the same seed."""
    rng = random.Random(seed)

    def phrase() -> str:
        words = [rng.choice(VERBS), rng.choice(LINKS), rng.choice(THINGS)]
        if rng.random() < 0.7:
            words += [rng.choice(LINKS), rng.choice(THINGS)]
        return " ".join(words)

    return [
        AbilityAvailabilityEntry(
            ability_id=f"ability-{number:06d}",
            owner_user_id=f"user-{rng.randrange(20)}",
            title=phrase().capitalize(),
            family=rng.choice(THINGS),
            source=AbilitySource.LEARNED,
            install_lane=rng.choice(tuple(InstallLane)[1:]),
            enabled=True,
            usable_now=rng.random() < 0.9,
            trigger_phrases=tuple(phrase() for _ in range(rng.randint(3, 6))),
            negative_triggers=tuple(phrase() for _ in range(rng.randint(0, 3))),
            project_scopes=(f"project-{rng.randrange(50)}",) if rng.random() < 0.3 else (),
            checkpoint_health=rng.choice(tuple(CheckpointHealth)[:4]),
        )
        for number in range(count)
    ]


def queries(known: list[AbilityAvailabilityEntry], count: int, seed: int = 11) -> list[AbilityLookupQuery]:
    """What people ask: known phrases in a sentence, paraphrases, single words, and unrelated sentences."""
    rng = random.Random(seed)
    asked: list[AbilityLookupQuery] = []
    for number in range(count):
        phrase = rng.choice(rng.choice(known).trigger_phrases)
        words = phrase.split()
        shuffled = " ".join(rng.sample(words, len(words)))
        text = (
            f"Could you please {phrase} before lunch",
            f"I need to {shuffled} as soon as you can",
            rng.choice(THINGS),
            "what is the weather like in Lisbon tomorrow",
        )[number % 4]
        project = f"project-{rng.randrange(50)}" if rng.random() < 0.5 else None
        asked.append(AbilityLookupQuery(user_query=text, project_id=project))
    return asked


class PlainScan:
    """The floor: every visible ability is scored, its text lowered and split beforehand."""

    def __init__(self, entries: list[AbilityAvailabilityEntry]) -> None:
        self._prepared = [
            (
                entry,
                tuple(
                    (phrase.lower(), frozenset(split_words(phrase.lower())))
                    for phrase in entry.trigger_phrases
                ),
                tuple(phrase.lower() for phrase in entry.negative_triggers),
                entry.title.lower(),
            )
            for entry in entries
        ]

    def lookup(self, query: AbilityLookupQuery, *, caller_user_id: str, now: datetime) -> AbilityLookupResult:
        """Answers as the index does."""
        asked = PreparedQuery.of(query.user_query)
        lanes = set(query.install_lanes_allowed) & LANE_WEIGHTS.keys()
        if query.include_private_owned_by_user:
            lanes.add(InstallLane.EXPERIMENTAL_PRIVATE)
        found: list[tuple[float, str, AbilityAvailabilityEntry]] = []
        for entry, phrases, negatives, title in self._prepared:
            lane = entry.install_lane
            private = lane is InstallLane.EXPERIMENTAL_PRIVATE
            if lane not in lanes or (private and entry.owner_user_id != caller_user_id):
                continue
            if negative_match(asked, negatives) is not None:
                continue
            trigger = trigger_match(asked, phrases)
            words_weight = 0.0 if trigger is None else trigger.weight
            if sum(word in title for word in asked.words) >= 2:
                words_weight += TITLE_WEIGHT
            score = total_score(words_weight, scope_weight(entry, query.project_id), entry)
            if score >= INCLUDE_FROM_SCORE:
                found.append((-score, entry.ability_id, entry))
        best = nsmallest(MAX_MATCHES, found, key=lambda item: item[:2])
        return AbilityLookupResult(
            matches=tuple(
                AbilityMatch(
                    ability_id=entry.ability_id,
                    score=-minus_score,
                    install_lane=entry.install_lane,
                    usable_now=entry.usable_now,
                    reason_unusable=entry.reason_unusable,
                )
                for minus_score, _, entry in best
            ),
            created_at=now,
        )


class FullText:
    """SQLite's full-text search over titles and phrases, in memory."""

    def __init__(self, entries: list[AbilityAvailabilityEntry]) -> None:
        self._database = sqlite3.connect(":memory:")
        self._database.execute("CREATE VIRTUAL TABLE ability USING fts5(title, phrases)")
        rows = [(entry.title, " ".join(entry.trigger_phrases)) for entry in entries]
        self._database.executemany("INSERT INTO ability (title, phrases) VALUES (?, ?)", rows)

    def best(self, query: AbilityLookupQuery) -> list[int]:
        """The rows that hold any of the words, best first."""
        words = " OR ".join(f'"{word}"' for word in split_words(query.user_query.lower()))
        found = self._database.execute(
            "SELECT rowid FROM ability WHERE ability MATCH ? ORDER BY rank LIMIT ?", (words, MAX_MATCHES)
        )
        return [row for (row,) in found]


class WordMatrix:
    """A matrix of abilities by words, weighted by how rare a word is, each row of length one."""

    def __init__(self, entries: list[AbilityAvailabilityEntry]) -> None:
        texts = [split_words(" ".join((entry.title, *entry.trigger_phrases)).lower()) for entry in entries]
        self._columns = {
            word: at for at, word in enumerate(sorted({word for text in texts for word in text}))
        }
        counts = np.zeros((len(texts), len(self._columns)), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text:
                counts[row, self._columns[word]] += 1
        self._rarity = np.log(len(texts) / np.count_nonzero(counts, axis=0)).astype(np.float32)
        weighed = counts * self._rarity
        self._rows = weighed / np.linalg.norm(weighed, axis=1, keepdims=True)

    def best(self, query: AbilityLookupQuery) -> list[int]:
        """The rows nearest to the words of the query, best first."""
        asked = np.zeros(len(self._columns), dtype=np.float32)
        for word in split_words(query.user_query.lower()):
            if word in self._columns:
                asked[self._columns[word]] = self._rarity[self._columns[word]]
        likeness = self._rows @ asked
        best = np.argpartition(likeness, -MAX_MATCHES)[-MAX_MATCHES:]
        return [int(row) for row in best[np.argsort(likeness[best])][::-1]]


def _timed(index: AbilityIndex | PlainScan, query: AbilityLookupQuery) -> tuple[float, AbilityLookupResult]:
    began = perf_counter()
    result = index.lookup(query, caller_user_id=CALLER, now=NOW)
    return (perf_counter() - began) * 1000, result


def _milliseconds(find: Callable[[AbilityLookupQuery], list[int]], query: AbilityLookupQuery) -> float:
    began = perf_counter()
    find(query)
    return (perf_counter() - began) * 1000


def _p99(values: list[float]) -> float:
    return statistics.quantiles(values, n=100)[98]


def measure(count: int, rounds: int) -> dict[str, float | int | bool]:
    """Milliseconds for ours and the scan over ``rounds`` queries on ``count`` abilities."""
    known = abilities(count)
    began = perf_counter()
    ours = AbilityIndex(known)
    build_ms = (perf_counter() - began) * 1000
    scan, full_text, matrix = PlainScan(known), FullText(known), WordMatrix(known)
    asked = queries(known, rounds)
    for query in asked[:4]:
        _timed(ours, query)
        _timed(scan, query)
    times: dict[str, list[float]] = {"ours": [], "scan": [], "fts5": [], "numpy": []}
    equal = True
    for number, query in enumerate(asked):
        pair: list[tuple[str, AbilityIndex | PlainScan]] = [("ours", ours), ("scan", scan)]
        answers: list[AbilityLookupResult] = []
        for name, side in pair if number % 2 else reversed(pair):
            spent, answer = _timed(side, query)
            times[name].append(spent)
            answers.append(answer)
        equal = equal and answers[0] == answers[1]
        times["fts5"].append(_milliseconds(full_text.best, query))
        times["numpy"].append(_milliseconds(matrix.best, query))
    ratios = [a / b for a, b in zip(times["ours"], times["scan"], strict=True)]
    return {
        "abilities": count,
        "queries": rounds,
        "equal_answers": equal,
        "build_ms": round(build_ms, 1),
        "ours_ms_p50": round(statistics.median(times["ours"]), 3),
        "ours_ms_p99": round(_p99(times["ours"]), 3),
        "scan_ms_p50": round(statistics.median(times["scan"]), 3),
        "scan_ms_p99": round(_p99(times["scan"]), 3),
        "fts5_ms_p50": round(statistics.median(times["fts5"]), 3),
        "numpy_ms_p50": round(statistics.median(times["numpy"]), 3),
        "ratio_to_fts5": round(statistics.median(times["ours"]) / statistics.median(times["fts5"]), 3),
        "ratio_to_numpy": round(statistics.median(times["ours"]) / statistics.median(times["numpy"]), 3),
        "ratio": round(statistics.median(ratios), 4),
        "worst_ratio": round(max(ratios), 4),
    }


def main() -> int:
    """Runs the measurement and prints it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--abilities", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=60)
    given = parser.parse_args()
    result = measure(given.abilities, given.rounds)
    print(json.dumps(result))
    return 0 if result["equal_answers"] else 1


if __name__ == "__main__":
    sys.exit(main())
