"""Lookup over many abilities (DOC3 §0C.11, §0C.11C): the very result of scoring each, without scoring each.

A score depends on the query through two things only: which trigger phrase answers first, and whether two
words of the query occur in the title. ``domain.abilities.phrases`` finds where these hold. All others share
one score within a group of equal lane, scope, checkpoint health and usability. By the document's numbers they
can be listed as well: a global ability in the shared lane scores 0.05 + 0.1, which reaches 0.15.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from heapq import merge
from itertools import islice, pairwise
from typing import NamedTuple

from contracts.abilities.availability import AbilityAvailabilityEntry
from contracts.abilities.lookup import (
    INCLUDE_FROM_SCORE,
    MAX_MATCHES,
    AbilityLookupQuery,
    AbilityLookupResult,
    AbilityMatch,
)
from contracts.learning.proposal import InstallLane
from domain.abilities.matching import (
    PROJECT_SCOPE_WEIGHT,
    TITLE_WEIGHT,
    PreparedQuery,
    is_listed,
    negative_match,
    scope_weight,
    total_score,
)
from domain.abilities.phrases import PhraseIndex, TitleIndex


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
