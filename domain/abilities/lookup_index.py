"""Index for lookups over many abilities: the same result as scoring each one, without scoring each.

DOC3 §0C.11, §0C.11C.

A score depends on the query through two things only: which trigger phrase answers first, and whether two words of the
query occur in the title. The index finds where these hold, by words and whole phrases. All other abilities share one
score within a group of equal lane, scope, checkpoint health and usability. By the document's numbers they can be
listed as well: a global ability in the shared lane scores 0.05 + 0.1, which reaches 0.15.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from heapq import merge
from itertools import accumulate, islice, pairwise
from typing import NamedTuple

from contracts.abilities.availability import AbilityAvailabilityEntry, InstallLane
from contracts.abilities.lookup import (
    INCLUDE_FROM_SCORE,
    MAX_MATCHES,
    AbilityLookupQuery,
    AbilityLookupResult,
    AbilityMatch,
)
from domain.abilities.matching import (
    PROJECT_SCOPE_WEIGHT,
    TITLE_WEIGHT,
    TRIGGER_PHRASE_WEIGHT,
    TRIGGER_WORDS_WEIGHT,
    PreparedQuery,
    is_listed,
    negative_match,
    scope_weight,
    split_words,
    total_score,
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


class _Audience(NamedTuple):
    """Who may see a group: everybody, or one owner."""

    lane: InstallLane
    owner_user_id: str


class _Group(NamedTuple):
    """Abilities that score alike where the query says nothing of them, in the order of their ids."""

    sample: AbilityAvailabilityEntry
    members: list[int]


class AbilityIndex:
    """A fixed set of abilities, prepared for lookup. Building takes time in proportion to their text.

    Abilities that are pending, quarantined or switched off are left out: no lookup lists them (R11.2-31).
    Raises ``ValueError`` when two entries have the same ``ability_id``.
    """

    def __init__(self, entries: Iterable[AbilityAvailabilityEntry]) -> None:
        ordered = sorted(entries, key=lambda entry: entry.ability_id)
        for entry, following in pairwise(ordered):
            if entry.ability_id == following.ability_id:
                raise ValueError(f"two abilities have the id {entry.ability_id}; an index needs unique ids")
        self._entries = [entry for entry in ordered if is_listed(entry)]
        self._negatives = [
            tuple(phrase.lower() for phrase in entry.negative_triggers) for entry in self._entries
        ]
        self._triggers = PhraseIndex(entry.trigger_phrases for entry in self._entries)
        self._titles = TitleIndex(entry.title for entry in self._entries)
        self._in_project: dict[str, set[int]] = defaultdict(set)
        self._groups: list[_Group] = []
        self._group_of: list[int] = []
        self._seen_by: dict[_Audience, list[int]] = defaultdict(list)
        numbers: dict[tuple[object, ...], int] = {}
        for rank, entry in enumerate(self._entries):
            for project_id in entry.project_scopes:
                self._in_project[project_id].add(rank)
            private = entry.install_lane is InstallLane.EXPERIMENTAL_PRIVATE
            audience = _Audience(entry.install_lane, entry.owner_user_id if private else "")
            alike = (audience, scope_weight(entry, None), entry.checkpoint_health, entry.usable_now)
            number = numbers.setdefault(alike, len(self._groups))
            if number == len(self._groups):
                self._groups.append(_Group(entry, []))
                self._seen_by[audience].append(number)
            self._groups[number].members.append(rank)
            self._group_of.append(number)

    def __len__(self) -> int:
        """How many abilities can be listed at all."""
        return len(self._entries)

    def lookup(self, query: AbilityLookupQuery, *, caller_user_id: str, now: datetime) -> AbilityLookupResult:
        """At most ten matches of at least 0.15, best first, equal ones by id.

        The approved and the shared lane answer where the query allows them. The private lane answers its
        owner alone, where ``include_private_owned_by_user`` is set or the lane is allowed by name.
        """
        prepared = PreparedQuery.of(query.user_query)
        ranked: Iterator[tuple[float, int]] = iter(())
        if not prepared.blank:
            ranked = self._ranked(prepared, query.project_id, self._visible(query, caller_user_id))
        return AbilityLookupResult(
            matches=tuple(self._match(score, rank) for score, rank in islice(ranked, MAX_MATCHES)),
            created_at=now,
        )

    def _visible(self, query: AbilityLookupQuery, caller_user_id: str) -> frozenset[int]:
        private = InstallLane.EXPERIMENTAL_PRIVATE
        audiences = [_Audience(lane, "") for lane in query.install_lanes_allowed if lane is not private]
        if query.include_private_owned_by_user or private in query.install_lanes_allowed:
            audiences.append(_Audience(private, caller_user_id))
        return frozenset(number for audience in audiences for number in self._seen_by.get(audience, ()))

    def _ranked(
        self, query: PreparedQuery, project_id: str | None, visible: frozenset[int]
    ) -> Iterator[tuple[float, int]]:
        """(score, rank) from the best down; whom a negative trigger excludes is found on the way."""
        singled_out, tiers = self._singled_out(query, project_id, visible)
        alike: dict[float, list[Iterable[int]]] = defaultdict(list)
        for number in visible:
            group = self._groups[number]
            score = total_score(0.0, scope_weight(group.sample, None), group.sample)
            alike[score].append(rank for rank in group.members if rank not in singled_out)
        for score in sorted(tiers.keys() | alike.keys(), reverse=True):
            if score < INCLUDE_FROM_SCORE:
                return
            for rank in merge(sorted(tiers.get(score, ())), *alike.get(score, ())):
                if negative_match(query, self._negatives[rank]) is None:
                    yield score, rank

    def _singled_out(
        self, query: PreparedQuery, project_id: str | None, visible: frozenset[int]
    ) -> tuple[set[int], dict[float, list[int]]]:
        """The abilities that the query or its project says something of, and the visible ones by score."""
        triggered = self._triggers.weights(query)
        titled = self._titles.holding(query)
        in_project = self._in_project.get(project_id, frozenset[int]()) if project_id else frozenset[int]()
        singled_out = {*triggered, *titled, *in_project}
        tiers: dict[float, list[int]] = defaultdict(list)
        scores: dict[tuple[float, bool, int], float] = {}
        for rank in singled_out:
            number = self._group_of[rank]
            if number not in visible:
                continue
            words_weight = triggered.get(rank, 0.0)
            if rank in titled:
                words_weight += TITLE_WEIGHT
            key = (words_weight, rank in in_project, number)
            score = scores.get(key)
            if score is None:
                sample = self._groups[number].sample
                scope = PROJECT_SCOPE_WEIGHT if rank in in_project else scope_weight(sample, None)
                score = scores[key] = total_score(words_weight, scope, sample)
            tiers[score].append(rank)
        return singled_out, tiers

    def _match(self, score: float, rank: int) -> AbilityMatch:
        entry = self._entries[rank]
        return AbilityMatch(
            ability_id=entry.ability_id,
            score=score,
            install_lane=entry.install_lane,
            usable_now=entry.usable_now,
            reason_unusable=entry.reason_unusable,
        )
