"""Index of the abilities that fit a request: which to judge, and how rare each word is among them.

Only abilities that share a content word with the request are judged, those that share the rarest words first.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from functools import partial
from heapq import nlargest
from math import log
from typing import TYPE_CHECKING, TypeAlias

from contracts.abilities.availability import AbilityAvailabilityEntry, InstallLane
from contracts.abilities.lookup import (
    MAX_MATCHES,
    AbilityFit,
    AbilityLookupQuery,
    AbilityLookupResult,
    AbilityMatch,
    Fit,
)
from contracts.base import clipped
from domain.abilities.fit.deciding import MAX_DOUBTS, Decide, Doubt, decided, is_doubtful
from domain.abilities.fit.fit import judge
from domain.abilities.fit.goals import ability_of, goals_of
from domain.abilities.fit.reading import Reading, read
from domain.abilities.fit.ruling import Judgement, Profile
from domain.abilities.fit.spelling import telling_words
from domain.abilities.fit.together import read_again
from domain.abilities.fit.words import Word, base_weight
from domain.abilities.lookup_index import changed_holders
from domain.abilities.matching import is_listed

if TYPE_CHECKING:
    from domain.abilities.fit.meaning import Meanings

UNKNOWN_WEIGHT = 0.6
"""The weight of a word that no ability knows: it tells little."""

UNKNOWN_FORM_WEIGHT = 0.3
"""The same for a participle, such as "finished"."""

MAX_JUDGED = 200
"""The most goals of abilities that are judged for one request."""

MAX_NEAR = 50
"""The most goals that are judged besides because they mean something near."""

_ORDER = {Fit.YES: 0, Fit.MAYBE: 1, Fit.NO: 2}
_NONE = Counter[str]()
_PRIVATE = InstallLane.EXPERIMENTAL_PRIVATE

_Judged: TypeAlias = tuple[AbilityAvailabilityEntry, Judgement]
"""A goal of an ability and whether it fits."""


class FitIndex:
    """A fixed set of abilities, prepared for the question which of them fit. Safe to share between threads.

    Abilities that no lookup lists are left out. How rare a word is, is counted among the abilities that the asking
    person may see. Without ``meanings`` the rules alone decide, and only words find. ``changed`` makes another index,
    which shares what is as it was.
    """

    def __init__(
        self, entries: Iterable[AbilityAvailabilityEntry], meanings: "Meanings | None" = None
    ) -> None:
        self._meanings = meanings
        self._entries: dict[str, AbilityAvailabilityEntry] = {}
        self._goals_of: dict[str, tuple[AbilityAvailabilityEntry, ...]] = {}
        self._goals: dict[str, AbilityAvailabilityEntry] = {}
        self._profiles: dict[str, Profile] = {}
        self._having: dict[str, set[str]] = {}
        self._counts: dict[str, Counter[str]] = {}
        self._sizes = Counter[str]()
        self._change((), {entry.ability_id: entry for entry in entries})

    def changed(
        self,
        entries: Iterable[AbilityAvailabilityEntry],
        gone: Iterable[str] = (),
        meanings: "Meanings | None" = None,
    ) -> "FitIndex":
        """The index with ``entries`` new or as they are now, and without ``gone``; takes milliseconds.

        ``meanings`` are those of all that the new index holds.
        """
        made = copy(self)
        made._meanings = meanings
        made._entries, made._goals_of = self._entries.copy(), self._goals_of.copy()
        made._goals, made._profiles = self._goals.copy(), self._profiles.copy()
        made._counts, made._sizes = self._counts.copy(), self._sizes.copy()
        now = {entry.ability_id: entry for entry in entries}
        made._change({*gone, *now}, now)
        return made

    def _change(self, gone: Iterable[str], now: Mapping[str, AbilityAvailabilityEntry]) -> None:
        old = [goal for one in gone if self._entries.pop(one, None) for goal in self._goals_of.pop(one)]
        for goal in old:
            del self._goals[goal.ability_id]
            self._profiles.pop(goal.ability_id, None)
        listed = {one: entry for one, entry in now.items() if is_listed(entry)}
        goals = {one: goals_of(entry) for one, entry in listed.items()}
        new = [goal for some in goals.values() for goal in some]
        self._entries |= listed
        self._goals_of |= goals
        self._goals |= {goal.ability_id: goal for goal in new}
        lost = [(goal, _meanings_of(goal)) for goal in old]
        won = [(goal, _meanings_of(goal)) for goal in new]
        self._having = changed_holders(self._having, _pairs(lost), _pairs(won))
        for audience in {_audience(goal) for goal, _ in (*lost, *won)}:
            self._counts[audience] = self._counts.get(audience, _NONE).copy()
        for goal, words in lost:
            self._counts[_audience(goal)].subtract(words)
            self._sizes[_audience(goal)] -= 1
        for goal, words in won:
            self._counts[_audience(goal)].update(words)
            self._sizes[_audience(goal)] += 1

    def with_fits(
        self,
        result: AbilityLookupResult,
        query: AbilityLookupQuery,
        *,
        caller_user_id: str,
        decide: Decide | None = None,
    ) -> AbilityLookupResult:
        """The answer to a lookup with what fits, and with the fit of each match."""
        judged = self._best(query, caller_user_id, decide)
        request = read(query.user_query)
        matches: list[AbilityMatch] = []
        for match in result.matches:
            one = match.ability_id
            found = judged[one] if one in judged else self._judged(request, one, caller_user_id)[1]
            matches.append(match.changed(fit=found.fit, fit_reasons=found.reasons))
        return result.changed(matches=tuple(matches), fitting=self._listed(judged))

    def fitting(
        self, query: AbilityLookupQuery, *, caller_user_id: str, decide: Decide | None = None
    ) -> tuple[AbilityFit, ...]:
        """At most ten abilities that fit or may fit, best first, equal ones by id; doubts are left to ``decide``.

        The same lanes answer as for a lookup by score. What cannot be used now is listed as well.
        """
        return self._listed(self._best(query, caller_user_id, decide))

    def judged(
        self,
        text: str,
        ability_id: str,
        *,
        caller_user_id: str,
        by_rules: bool = False,
        decide: Decide | None = None,
    ) -> Judgement | None:
        """Whether one ability fits ``text``, by the rules alone if asked so, and why; None for one never listed."""
        if ability_id not in self._entries:
            return None
        best = self._judged(read(text), ability_id, caller_user_id, by_rules=by_rules)
        return self._decided(text, {ability_id: best}, decide)[ability_id]

    def weight(self, caller_user_id: str, word: Word) -> float:
        """The weight of a word: full for one that a single ability has, down to half of that."""
        shared, own = self._counts.get("", _NONE), self._counts.get(caller_user_id, _NONE)
        having = shared[word.meaning] + own[word.meaning]
        if not having:
            formed = word.token.endswith(("ed", "ing"))
            return (UNKNOWN_FORM_WEIGHT if formed else UNKNOWN_WEIGHT) * base_weight(word.meaning)
        size = self._sizes[""] + self._sizes[caller_user_id]
        rarity = log(1 + size / having) / log(1 + size)
        return base_weight(word.meaning) * (0.5 + 0.5 * rarity)

    def _best(
        self, query: AbilityLookupQuery, caller_user_id: str, decide: Decide | None
    ) -> dict[str, Judgement]:
        """The judgement of each ability that is looked at, by its best goal."""
        request = read(query.user_query)
        goals = (self._goals[one] for one in self._candidates(request, query, caller_user_id))
        best: dict[str, _Judged] = {}
        for found in self._judged_goals(request, goals, caller_user_id):
            ability_id = ability_of(found[0].ability_id)
            best[ability_id] = min(best.get(ability_id, found), found, key=_rank_of)
        return self._decided(query.user_query, best, decide)

    def _decided(self, text: str, best: Mapping[str, _Judged], decide: Decide | None) -> dict[str, Judgement]:
        """The judgements, after ``decide`` was asked about the likeliest of the doubtful ones."""
        judged = {one: found for one, (_, found) in best.items()}
        doubtful = sorted(
            (one for one in judged if is_doubtful(judged[one])),
            key=lambda one: (_rank(judged[one]), -judged[one].likely, one),
        )
        if decide is None or not doubtful:
            return judged
        goals = ((one, best[one][0]) for one in doubtful[:MAX_DOUBTS])
        doubts = [Doubt(one, goal.title, goal.method[0] if goal.method else "") for one, goal in goals]
        found = decide(text, doubts)
        return judged | {one: decided(judged[one], does_it) for one, does_it in found.items()}

    def _listed(self, judged: Mapping[str, Judgement]) -> tuple[AbilityFit, ...]:
        fitting = (one for one, found in judged.items() if found.fit is not Fit.NO)
        ordered = sorted(fitting, key=lambda one: (_rank(judged[one]), one))
        return tuple(_shown(judged[one], self._entries[one]) for one in ordered[:MAX_MATCHES])

    def _judged(
        self, request: Reading, ability_id: str, caller_user_id: str, *, by_rules: bool = False
    ) -> _Judged:
        goals = self._goals_of[ability_id]
        return min(self._judged_goals(request, goals, caller_user_id, by_rules=by_rules), key=_rank_of)

    def _judged_goals(
        self,
        request: Reading,
        goals: Iterable[AbilityAvailabilityEntry],
        caller_user_id: str,
        *,
        by_rules: bool = False,
    ) -> list[_Judged]:
        meanings = None if by_rules else self._meanings
        weigh = partial(self.weight, caller_user_id)
        found: list[_Judged] = []
        for goal in goals:
            profile = self._profiles.get(goal.ability_id)
            if profile is None:
                profile = self._profiles[goal.ability_id] = Profile.of(goal)
            compare = partial(meanings.nearness, request, goal.ability_id) if meanings else None
            found.append((goal, judge(request, profile, weigh, compare)))
        if meanings is None or meanings.together is None:
            return found
        return read_again(request.text, found, meanings.together)

    def _candidates(self, request: Reading, query: AbilityLookupQuery, caller_user_id: str) -> list[str]:
        """The ids of the goals to judge."""
        shared: dict[str, float] = defaultdict(float)
        for meaning in telling_words(request.text):
            weight = self.weight(caller_user_id, Word(meaning))
            for goal_id in self._having.get(meaning, ()):
                shared[goal_id] += weight

        def may_be(one: str) -> bool:
            return one in self._goals and _visible(self._goals[one], query, caller_user_id)

        found = nlargest(MAX_JUDGED, filter(may_be, shared), key=lambda one: (shared[one], one))
        near = self._meanings.nearest(request.text, MAX_NEAR, may_be) if self._meanings else ()
        return list(dict.fromkeys((*found, *near)))


def _pairs(
    goals: Iterable[tuple[AbilityAvailabilityEntry, frozenset[str]]],
) -> Iterator[tuple[str, str]]:
    return ((word, goal.ability_id) for goal, words in goals for word in words)


def _rank(found: Judgement) -> tuple[int, float]:
    """Sorts the better first."""
    return (_ORDER[found.fit], -found.closeness)


def _rank_of(judged: _Judged) -> tuple[int, float, float]:
    """The same for the goals of an ability; of those that are refused the likeliest comes first."""
    _, found = judged
    return (*_rank(found), -found.likely)


def _meanings_of(entry: AbilityAvailabilityEntry) -> frozenset[str]:
    phrases = (entry.title, *entry.trigger_phrases, *entry.aliases)
    return frozenset[str]().union(*map(telling_words, phrases))


def _audience(entry: AbilityAvailabilityEntry) -> str:
    """Whose the ability is, where its owner alone sees it; else nobody's."""
    return entry.owner_user_id if entry.install_lane is _PRIVATE else ""


def _visible(entry: AbilityAvailabilityEntry, query: AbilityLookupQuery, caller_user_id: str) -> bool:
    if entry.install_lane is not _PRIVATE:
        return entry.install_lane in query.install_lanes_allowed
    allowed = query.include_private_owned_by_user or _PRIVATE in query.install_lanes_allowed
    return allowed and entry.owner_user_id == caller_user_id


def _shown(found: Judgement, entry: AbilityAvailabilityEntry) -> AbilityFit:
    return AbilityFit(
        ability_id=entry.ability_id,
        title=entry.title,
        fit=found.fit,
        closeness=found.closeness,
        reasons=tuple(clipped(reason, 240) for reason in found.reasons),
        install_lane=entry.install_lane,
        usable_now=entry.usable_now,
        reason_unusable=entry.reason_unusable,
    )
