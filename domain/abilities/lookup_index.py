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
from copy import copy
from datetime import datetime
from heapq import merge
from itertools import accumulate, islice, pairwise
from typing import NamedTuple, TypeVar

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

_T = TypeVar("_T")


class PhraseIndex:
    """The trigger phrases of many abilities, by the abilities' ids. Never changed: a change makes another one."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {}
        self._owners: list[tuple[tuple[str, int], ...]] = []
        self._by_word: dict[str, set[int]] = {}
        self._lengths: list[int] = []
        self._starts: list[int] = []
        self._text = ""
        self._idle = 0

    def changed(self, gone: Mapping[str, Iterable[str]], added: Mapping[str, Iterable[str]]) -> "PhraseIndex":
        """The index without the phrases of ``gone`` and with those of ``added``, both by ability."""
        made = copy(self)
        made._number, made._owners = self._number.copy(), self._owners.copy()
        made._by_word = self._by_word.copy()
        for ability, phrases in gone.items():
            for phrase in {phrase.lower() for phrase in phrases}:
                made._forget(ability, made._number[phrase])
        known = len(made._owners)
        for ability, phrases in added.items():
            for position, phrase in enumerate(phrases):
                number = made._number.setdefault(phrase.lower(), len(made._owners))
                if number == len(made._owners):
                    made._owners.append(())
                elif number < known and not made._owners[number]:
                    made._idle -= 1
                made._owners[number] = (*made._owners[number], (ability, position))
        if made._idle > len(made._owners) // 2:
            return made._without_idle()
        if len(made._owners) > known:
            made._read(known)
        return made

    def _forget(self, ability: str, number: int) -> None:
        left = tuple(owner for owner in self._owners[number] if owner[0] != ability)
        self._idle += bool(self._owners[number]) and not left
        self._owners[number] = left

    def _without_idle(self) -> "PhraseIndex":
        """The same without the phrases that no ability has any more."""
        made = PhraseIndex()
        used = [(phrase, self._owners[number]) for phrase, number in self._number.items()]
        for phrase, owners in used:
            if owners:
                made._number[phrase] = len(made._owners)
                made._owners.append(owners)
        made._read(0)
        return made

    def _read(self, first: int) -> None:
        """Takes in the words and the text of the phrases from number ``first`` on."""
        having: dict[str, set[int]] = defaultdict(set)
        new = list(islice(self._number, first, None))
        for number, phrase in enumerate(new, first):
            for word in split_words(phrase):
                having[word].add(number)
        for word, numbers in having.items():
            self._by_word[word] = self._by_word.get(word, set[int]()) | numbers
        self._lengths = sorted({*self._lengths, *map(len, new)})
        self._starts = list(accumulate((len(phrase) + 1 for phrase in self._number), initial=0))
        self._text = "\n".join(self._number)

    def weights(self, query: PreparedQuery) -> dict[str, float]:
        """For each ability with a phrase that answers, the weight of the first one that does."""
        answering = dict.fromkeys(_twice(query.words, self._with_word), TRIGGER_WORDS_WEIGHT)
        for number in self._within(query.text) | self._around(query.text):
            answering[number] = TRIGGER_PHRASE_WEIGHT
        first: dict[str, tuple[int, float]] = {}
        for number, weight in answering.items():
            for ability, position in self._owners[number]:
                known = first.get(ability)
                if known is None or position < known[0]:
                    first[ability] = (position, weight)
        return {ability: weight for ability, (_, weight) in first.items()}

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
    """The titles of many abilities, by the abilities' ids. Never changed: a change makes another one."""

    def __init__(self) -> None:
        self._by_word: dict[str, set[str]] = {}

    def changed(self, gone: Mapping[str, str], added: Mapping[str, str]) -> "TitleIndex":
        """The index without the titles of ``gone`` and with those of ``added``, both by ability."""
        made = copy(self)
        made._by_word = changed_holders(self._by_word, _words_of(gone), _words_of(added))
        return made

    def holding(self, query: PreparedQuery) -> set[str]:
        """The abilities whose title holds at least two of the query's words, each repeat counted."""
        return _twice(query.words, lambda word: _with_part(self._by_word, word))


def changed_holders(
    holders: Mapping[str, set[str]], gone: Iterable[tuple[str, str]], added: Iterable[tuple[str, str]]
) -> dict[str, set[str]]:
    """Who has what, without the pairs of ``gone`` and with those of ``added`` (what, who); sets are shared."""
    made = dict(holders)
    leaving, coming = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for what, who in gone:
        leaving[what].add(who)
    for what, who in added:
        coming[what].add(who)
    for what in {**leaving, **coming}:
        left = (made.get(what, _NOBODY) - leaving[what]) | coming[what]
        if left:
            made[what] = left
        else:
            made.pop(what, None)
    return made


_NOBODY = set[str]()


def _words_of(titles: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    return ((word, ability) for ability, title in titles.items() for word in split_words(title.lower()))


def _with_part(by_word: Mapping[str, set[_T]], part: str) -> set[_T]:
    # A word has no white space in it, so a text holds it exactly if one of the text's words does.
    return set[_T]().union(*(holders for word, holders in by_word.items() if part in word))


def _twice(words: Collection[str], having: Callable[[str], Collection[_T]]) -> set[_T]:
    """What has at least two of ``words``, where ``having`` gives all that has one."""
    once, twice = set[_T](), set[_T]()
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
    """Tells their score; it may be gone."""
    members: list[str]


class AbilityIndex:
    """A fixed set of abilities, prepared for lookup. Building takes time in proportion to their text.

    Abilities that are pending, quarantined or switched off are left out: no lookup lists them (R11.2-31).
    Safe to share between threads: ``changed`` makes another index, which shares what is as it was.
    Raises ``ValueError`` when two entries have the same ``ability_id``.
    """

    def __init__(self, entries: Iterable[AbilityAvailabilityEntry]) -> None:
        self._entries: dict[str, AbilityAvailabilityEntry] = {}
        self._triggers = PhraseIndex()
        self._titles = TitleIndex()
        self._in_project: dict[str, set[str]] = {}
        self._groups: list[_Group] = []
        self._numbers: dict[tuple[object, ...], int] = {}
        self._seen_by: dict[_Audience, list[int]] = defaultdict(list)
        self._group_of: dict[str, int] = {}
        ordered = sorted(entries, key=lambda entry: entry.ability_id)
        for entry, following in pairwise(ordered):
            if entry.ability_id == following.ability_id:
                raise ValueError(f"two abilities have the id {entry.ability_id}; an index needs unique ids")
        self._change((), ordered)

    def changed(
        self, entries: Iterable[AbilityAvailabilityEntry], gone: Iterable[str] = ()
    ) -> "AbilityIndex":
        """The index with ``entries`` new or as they are now, and without ``gone``; takes milliseconds."""
        made = copy(self)
        made._entries, made._group_of = self._entries.copy(), self._group_of.copy()
        made._groups, made._numbers = self._groups.copy(), self._numbers.copy()
        made._seen_by = defaultdict(list, {who: groups.copy() for who, groups in self._seen_by.items()})
        now = {entry.ability_id: entry for entry in entries}
        made._change({*gone, *now}, now.values())
        return made

    def _change(self, gone: Iterable[str], entries: Iterable[AbilityAvailabilityEntry]) -> None:
        old = {one: self._entries.pop(one) for one in gone if one in self._entries}
        new = {entry.ability_id: entry for entry in entries if is_listed(entry)}
        self._entries |= new
        self._triggers = self._triggers.changed(
            {one: entry.trigger_phrases for one, entry in old.items()},
            {one: entry.trigger_phrases for one, entry in new.items()},
        )
        self._titles = self._titles.changed(
            {one: entry.title for one, entry in old.items()}, {one: entry.title for one, entry in new.items()}
        )
        self._in_project = changed_holders(
            self._in_project, _in_projects(old.values()), _in_projects(new.values())
        )
        left, joined = defaultdict[int, set[str]](set), defaultdict[int, list[str]](list)
        for one in old:
            left[self._group_of.pop(one)].add(one)
        for one, entry in new.items():
            number = self._group_of[one] = self._number_of(entry)
            joined[number].append(one)
        for number in {**left, **joined}:
            sample, members = self._groups[number]
            stay = (one for one in members if one not in left[number])
            self._groups[number] = _Group(sample, sorted([*stay, *joined[number]]))

    def _number_of(self, entry: AbilityAvailabilityEntry) -> int:
        """The number of the group that the ability belongs to."""
        private = entry.install_lane is InstallLane.EXPERIMENTAL_PRIVATE
        audience = _Audience(entry.install_lane, entry.owner_user_id if private else "")
        alike = (audience, scope_weight(entry, None), entry.checkpoint_health, entry.usable_now)
        number = self._numbers.setdefault(alike, len(self._groups))
        if number == len(self._groups):
            self._groups.append(_Group(entry, []))
            self._seen_by[audience].append(number)
        return number

    def __len__(self) -> int:
        """How many abilities can be listed at all."""
        return len(self._entries)

    def lookup(self, query: AbilityLookupQuery, *, caller_user_id: str, now: datetime) -> AbilityLookupResult:
        """At most ten matches of at least 0.15, best first, equal ones by id.

        The approved and the shared lane answer where the query allows them. The private lane answers its
        owner alone, where ``include_private_owned_by_user`` is set or the lane is allowed by name.
        """
        prepared = PreparedQuery.of(query.user_query)
        ranked: Iterator[tuple[float, str]] = iter(())
        if not prepared.blank:
            ranked = self._ranked(prepared, query.project_id, self._visible(query, caller_user_id))
        return AbilityLookupResult(
            matches=tuple(self._match(score, one) for score, one in islice(ranked, MAX_MATCHES)),
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
    ) -> Iterator[tuple[float, str]]:
        """(score, id) from the best down; whom a negative trigger excludes is found on the way."""
        singled_out, tiers = self._singled_out(query, project_id, visible)
        alike: dict[float, list[Iterable[str]]] = defaultdict(list)
        for number in visible:
            group = self._groups[number]
            score = total_score(0.0, scope_weight(group.sample, None), group.sample)
            alike[score].append(one for one in group.members if one not in singled_out)
        for score in sorted(tiers.keys() | alike.keys(), reverse=True):
            if score < INCLUDE_FROM_SCORE:
                return
            for one in merge(sorted(tiers.get(score, ())), *alike.get(score, ())):
                negatives = tuple(phrase.lower() for phrase in self._entries[one].negative_triggers)
                if negative_match(query, negatives) is None:
                    yield score, one

    def _singled_out(
        self, query: PreparedQuery, project_id: str | None, visible: frozenset[int]
    ) -> tuple[set[str], dict[float, list[str]]]:
        """The abilities that the query or its project says something of, and the visible ones by score."""
        triggered = self._triggers.weights(query)
        titled = self._titles.holding(query)
        in_project = self._in_project.get(project_id, _NOBODY) if project_id else _NOBODY
        singled_out = {*triggered, *titled, *in_project}
        tiers: dict[float, list[str]] = defaultdict(list)
        scores: dict[tuple[float, bool, int], float] = {}
        for one in singled_out:
            number = self._group_of[one]
            if number not in visible:
                continue
            words_weight = triggered.get(one, 0.0)
            if one in titled:
                words_weight += TITLE_WEIGHT
            key = (words_weight, one in in_project, number)
            score = scores.get(key)
            if score is None:
                sample = self._groups[number].sample
                scope = PROJECT_SCOPE_WEIGHT if one in in_project else scope_weight(sample, None)
                score = scores[key] = total_score(words_weight, scope, sample)
            tiers[score].append(one)
        return singled_out, tiers

    def _match(self, score: float, ability_id: str) -> AbilityMatch:
        entry = self._entries[ability_id]
        return AbilityMatch(
            ability_id=entry.ability_id,
            score=score,
            install_lane=entry.install_lane,
            usable_now=entry.usable_now,
            reason_unusable=entry.reason_unusable,
        )


def _in_projects(entries: Iterable[AbilityAvailabilityEntry]) -> Iterator[tuple[str, str]]:
    return ((project, entry.ability_id) for entry in entries for project in entry.project_scopes)
