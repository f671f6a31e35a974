"""The rules of fitting: does an ability the work that is asked for, to what, and in which direction.

Verb and object are judged apart. An ability fits if it does what is asked (the same family of verbs, or a near one) to
what is asked about (most of the object's content words, weighted by how rare they are among the installed abilities),
in the same direction. The documented score (``domain.abilities.matching``) plays no part.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from contracts.abilities.availability import AbilityAvailabilityEntry
from contracts.abilities.lookup import Fit
from domain.abilities.fit.contrasts import plain_words
from domain.abilities.fit.reading import Clause, Reading, read
from domain.abilities.fit.verbs import (
    LIGHT,
    OPEN_TO_NOUNS,
    are_near,
    are_opposite,
    is_directed,
    may_be_lightly,
    work_named_by,
)
from domain.abilities.fit.weighing import Evidence
from domain.abilities.fit.words import Word, base_weight, is_content, tokens, word_of

Weigh = Callable[[Word], float]
"""The weight of a word among the installed abilities."""

TITLE_OF_SURE = 0.5
"""From this share of its title on, an ability that does what is asked fits without a doubt."""

SURE_FROM = 0.9
"""From this share of the request's words on, an ability that does what is asked fits without a doubt."""


class Needed(NamedTuple):
    """The least shares: of the request's object and words that the ability speaks of, and of its title."""

    object: float
    words: float
    title: float

    def missed(self, spoken: float, whole: float, title: float) -> bool:
        """Whether one of them is not reached."""
        return spoken < self.object or whole < self.words or title < self.title


KIND_SHARE = 0.8
"""What a format counts where its kind is meant, and the other way round."""

MODIFIER_SHARE = 0.5
"""What the last word of the request's object counts where the ability has it only before another noun."""

WITHIN_PART = 0.5
"""The part of what the object is in or comes from."""

_WITHIN = frozenset({"from", "in", "on", "inside"})
_TITLE_PARTS = dict.fromkeys(("by", "with", "using", "via", "until"), 0.4) | {
    "": 1.0,
    "of": 1.0,
    "from": 0.5,
    "in": 0.5,
}
"""The parts of a title's words by their preposition: how it is done counts less than what is done."""
_OTHER_PART = 0.7


class Work(IntEnum):
    """How what is asked for relates to what the ability does."""

    OTHER = 0
    UNCLEAR = 1
    NEAR = 2
    SAME = 3


_NEEDED = {
    Work.SAME: (Needed(object=0.4, words=0, title=0), Needed(object=0, words=0.4, title=0)),
    Work.NEAR: (Needed(object=0.5, words=0.4, title=0.5),),
    Work.UNCLEAR: (Needed(object=0, words=0.4, title=0.3),),
}
"""What must be spoken of, by how the work relates: one of each is enough. Chosen over the requests of the tests."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether an ability fits, how closely (for the order, in [0, 1]), and why."""

    fit: Fit
    closeness: float
    reasons: tuple[str, ...]
    likely: float = 0.0
    """How likely it is that it fits, where that was weighed, whatever the judgement."""
    weighed: Evidence | None = field(default=None, compare=False, repr=False)
    """By what that was weighed."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What an ability says of itself, read once."""

    title: Reading
    phrases: tuple[Reading, ...]
    negatives: tuple[Reading, ...]
    families: frozenset[str]
    """What it does: the first verb of its title and of each phrase, and those that share its object."""
    parts: frozenset[str]
    """What else it does on the way."""
    verbs: frozenset[str]
    meanings: frozenset[str]
    heads: frozenset[str]
    kinds: frozenset[str]
    sources: frozenset[Word]
    targets: frozenset[Word]
    method: frozenset[str]
    """The meanings of the words of its goal, its method and the files it is known by."""
    said: frozenset[str]
    """All words of its title, phrases and goal as they are written."""

    @classmethod
    def of(cls, entry: AbilityAvailabilityEntry) -> "Profile":
        """Reads the title, trigger phrases, aliases and negative triggers of an ability."""
        title = read(entry.title)
        phrases = tuple(read(phrase) for phrase in (*entry.trigger_phrases, *entry.aliases) if phrase.strip())
        said = (title, *phrases)
        words = {word for one in said for word in one.words}
        verbs = frozenset(clause.verb for one in said for clause in one.clauses if clause.verb)
        named = frozenset(word_of(verb).meaning for verb in verbs)
        families = frozenset(family for one in said for family in _families(one))
        every = frozenset(family for one in said for clause in one.clauses for family in clause.families)
        leading = frozenset(clause.verb for one in said for clause in leading_clauses(one) if clause.verb)
        return cls(
            title=title,
            phrases=phrases,
            negatives=tuple(read(phrase) for phrase in entry.negative_triggers if phrase.strip()),
            families=families - LIGHT or families,
            parts=every - families - LIGHT,
            verbs=leading,
            meanings=frozenset(word.meaning for word in words) | named,
            heads=frozenset(head for one in said for head in _heads(one)) | named,
            kinds=frozenset(word.kind for word in words if word.kind),
            sources=frozenset(word for one in said for word in one.source),
            targets=frozenset(word for one in said for word in one.target),
            method=frozenset(
                word_of(token).meaning
                for text in (*entry.method, *entry.techniques, *entry.aliases)
                for token in tokens(text.replace("_", " "))
                if is_content(token)
            ),
            said=plain_words(" ".join((entry.title, *entry.trigger_phrases, *entry.method[:1]))),
        )

    def share(self, word: Word) -> float:
        """How much of ``word`` the ability speaks of: all, a format's kind, or nothing."""
        if word.meaning in self.meanings:
            return 1.0
        if word.kind in self.meanings or word.meaning in self.kinds:
            return KIND_SHARE
        named = work_named_by(word.token)
        return 1.0 if named is not None and named in self.families else 0.0


def ruled(request: Reading, profile: Profile, weigh: Weigh) -> Judgement:
    """The judgement by the rules alone: the same work, in the same direction, and enough of its words."""
    work, about_work = work_of(request, profile)
    if work is Work.OTHER:
        return refused(about_work)
    other_way = turned(request, profile)
    if other_way is not None:
        return refused(other_way)
    asked = object_words(request)
    spoken = share_of(asked, profile, weigh, last_of(request))
    whole = whole_share(request, profile, weigh)
    title = title_share(request, profile, weigh)
    names_nothing = bool(asked) and not spoken and not any(_objects(profile))
    if names_nothing or all(needed.missed(spoken, whole, title) for needed in _NEEDED[work]):
        return refused(_too_little(about_work, asked, profile))
    done = _work_share(request, profile)
    closeness = round(0.4 * spoken + 0.25 * title + 0.1 * whole + 0.05 * done + 0.2 * work / Work.SAME, 4)
    sure = work is Work.SAME and (title >= TITLE_OF_SURE or whole >= SURE_FROM)
    fit = Fit.YES if sure else Fit.MAYBE
    # A request may be known by words beside its object alone, or by its work alone.
    named = _named(asked, profile) or _named(((word, 1.0) for word in request.words), profile)
    about = (f"it is about {named}",) if named else ()
    return Judgement(fit, closeness, (about_work, *about))


def _objects(profile: Profile) -> Iterator[Word]:
    """The words of the title that name no work of the ability's."""
    for clause in profile.title.clauses:
        for words in (clause.object, *(words for _, words in clause.added)):
            yield from (word for word in words if work_named_by(word.token) not in profile.families)


def wanted_by(request: Reading) -> frozenset[str]:
    """The families of the verb that says what is wanted."""
    main = main_clause(request)
    return main.families if main is not None else frozenset[str]()


def whole_share(request: Reading, profile: Profile, weigh: Weigh) -> float:
    """The share of the request's words that the ability speaks of."""
    return share_of([(word, 1.0) for word in request.words], profile, weigh)


def refused(reason: str) -> Judgement:
    """It does not fit."""
    return Judgement(Fit.NO, 0.0, (reason,))


def _families(reading: Reading) -> frozenset[str]:
    """What a phrase of the ability's does: its verbs, and where they leave it open, its nouns."""
    leading = leading_clauses(reading)
    families = {family for clause in leading for family in clause.families}
    if not families or any(clause.families & OPEN_TO_NOUNS for clause in leading):
        families |= reading.nominal
        words = (
            w for clause in leading for place, words in clause.added if place in ("with", ":") for w in words
        )
        families |= {named for word in words if (named := work_named_by(word.token)) is not None}
    return frozenset(families)


def leading_clauses(reading: Reading) -> tuple[Clause, ...]:
    """The first clause with a verb, and those that share its object."""
    first = next((clause for clause in reading.clauses if clause.verb), None)
    if first is None:
        return ()
    return tuple(
        c for c in reading.clauses if c is first or (c.verb and c.object and c.object == first.object)
    )


def _heads(reading: Reading) -> Iterable[str]:
    """The last word of each group of words, with the generic words and formats behind it."""
    for clause in reading.clauses:
        for words in (clause.object, *(words for _, words in clause.added)):
            for word in reversed(words):
                yield word.meaning
                if base_weight(word.meaning) == 1.0 and word.kind is None:
                    break


def work_of(request: Reading, profile: Profile) -> tuple[Work, str]:
    clause = main_clause(request)
    does = profile.families
    wanted = clause.families if clause is not None else frozenset[str]()
    verb = clause.verb.replace("_", " ") if clause is not None else ""
    if (not wanted or wanted & OPEN_TO_NOUNS) and request.nominal & does:
        return Work.SAME, "the work it names is what the ability does"
    if clause is not None and clause.verb in profile.verbs and not clause.light:
        return Work.SAME, f"“{verb}” is what it does"
    if wanted & does:
        return Work.SAME, f"“{verb}” means what it does"
    if clause is None or not wanted:
        return Work.UNCLEAR, "what is to be done is not said in a known verb"
    if not does - LIGHT:
        bare = all(may_be_lightly(family) or family in LIGHT for family in wanted)
        return (Work.NEAR, "it names no work") if bare else (Work.OTHER, f"“{verb}” is not named by it")
    if wanted & LIGHT and any(may_be_lightly(family) for family in does):
        return Work.NEAR, f"“{verb}” leaves open what is done"
    if any(are_near(one, other) for one in wanted for other in does):
        return Work.NEAR, f"“{verb}” is near to what it does"
    if any((c.families - LIGHT) & does for c in request.strong):
        return Work.NEAR, "it does a part of what is asked for"
    if wanted & profile.parts:
        return Work.NEAR, f"“{verb}” is a part of what it does"
    opposite = any(are_opposite(one, other) for one in wanted for other in does)
    return Work.OTHER, f"“{verb}” is {'the opposite of' if opposite else 'not'} what it does"


def main_clause(request: Reading) -> Clause | None:
    """The clause that says what is wanted: the first with a telling verb, else the first with a verb."""
    first = next((clause for clause in request.clauses if clause.verb), None)
    if first is None:
        return request.clauses[0] if request.clauses else None
    if first.light and not first.object and request.strong:
        return request.strong[0]
    return first


def object_words(request: Reading) -> list[tuple[Word, float]]:
    """The words that the work is about, each with its part: the object's last word counts twice.

    A noun that names the work ("a backup of the photos") is no object; a question has no order of words to go by.
    """
    clause = main_clause(request)
    plain = [(word, 1.0) for word in request.words]
    if clause is None or request.asks:
        return plain
    open_verb = not clause.families or bool(clause.families & OPEN_TO_NOUNS)
    about = [w for w in clause.object if not (open_verb and work_named_by(w.token))]
    telling = [word for word in about if base_weight(word.meaning) == 1.0]
    for place, words in clause.added:
        if place == "of" or not telling:
            about += words
    if not about:
        return plain
    head = next((word for word in reversed(clause.object) if word in telling), None)
    last = clause.object[-1] if clause.object else None
    parts = {word: 2.0 if word == head == last else 1.0 for word in about}
    for place, words in clause.added:
        if place in _WITHIN:
            parts.update((word, WITHIN_PART) for word in words if word not in parts)
    return list(parts.items())


def _work_share(request: Reading, profile: Profile) -> float:
    """The share of the request's telling verbs that the ability has."""
    verbs = request.strong
    return sum(bool(clause.families & profile.families) for clause in verbs) / len(verbs) if verbs else 0.0


def last_of(request: Reading) -> Word | None:
    """The last word of the object, which says what it is: the report of "the summary report"."""
    clause = main_clause(request)
    return clause.object[-1] if clause is not None and clause.object and not request.asks else None


def share_of(
    words: Sequence[tuple[Word, float]], profile: Profile, weigh: Weigh, last: Word | None = None
) -> float:
    whole = spoken = 0.0
    for word, part in words:
        weight = part * weigh(word)
        share = profile.share(word)
        if word == last and word.meaning in profile.meanings - profile.heads:
            share *= MODIFIER_SHARE
        whole += weight
        spoken += weight * share
    return spoken / whole if whole else 0.0


def title_share(request: Reading, profile: Profile, weigh: Weigh) -> float:
    """The share of the title's words that the request speaks of; how it is done counts less than what is done."""
    said = {word.meaning for word in request.words}
    kinds = {word.kind for word in request.words if word.kind}
    whole = spoken = 0.0
    for clause in profile.title.clauses:
        for place, words in (("", clause.object), *clause.added):
            for word in words:
                if (named := work_named_by(word.token)) is not None and named in profile.families:
                    continue
                weight = weigh(word) * _TITLE_PARTS.get(place, _OTHER_PART)
                whole += weight
                if word.meaning in said or word.kind in said or word.meaning in kinds:
                    spoken += weight
    return spoken / whole if whole else 1.0


def turned(request: Reading, profile: Profile) -> str | None:
    """What is wrong with the direction, if anything is."""
    clause = main_clause(request)
    if not request.target or clause is None or (clause.families and not is_directed(clause.families)):
        return None
    came, became = meanings_of(request.source), meanings_of(request.target)
    sources, targets = meanings_of(profile.sources), meanings_of(profile.targets)
    if came & (targets - sources) and not became & (targets - sources):
        return "it goes the other way"
    formats = {word for word in request.target if is_format(word)}
    theirs = {word for word in profile.targets if is_format(word)}
    if formats and theirs and not meanings_of(formats) & meanings_of(theirs):
        return "it makes something else of it"
    return None


def meanings_of(words: Iterable[Word]) -> set[str]:
    return {word.meaning for word in words} | {word.kind for word in words if word.kind}


def is_format(word: Word) -> bool:
    """Whether the word names a format or a language."""
    return word.kind is not None or word.meaning in _FORMATS


_FORMAT_LIST = """
    markdown html json yaml xml text database table website latex english german french spanish italian dutch polish
    portuguese chinese japanese iso american european audio video photo
"""
_FORMATS = frozenset(word_of(token).meaning for token in _FORMAT_LIST.split())


def _too_little(about_work: str, words: Iterable[tuple[Word, float]], profile: Profile) -> str:
    names = [f"“{word.token}”" for word, _ in words if not profile.share(word)]
    if names:
        return f"it is about something else: {', '.join(names[:3])}"
    return f"{about_work}, and little else is said of it"


def _named(words: Iterable[tuple[Word, float]], profile: Profile) -> str:
    return ", ".join(f"“{word.token}”" for word, _ in words if profile.share(word))
