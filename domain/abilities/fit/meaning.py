"""Meaning of requests and abilities as sentence vectors: how near they are, and to which work on the same object.

Nearness alone does not tell works apart: "delete the duplicate photos" is near to "find the photos that are there
twice". So what the object contributes is taken away: the vector of an ability's object, moved by what verbs add on
average, is the middle; what a request says beyond it is compared with what the ability says beyond it, and with what
plain works ("delete …", "count …") add to any object.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from contracts.abilities.availability import AbilityAvailabilityEntry
from domain.abilities.fit.reading import Reading, read
from domain.abilities.fit.ruling import leading_clauses, main_clause

Vector: TypeAlias = NDArray[np.float32]
"""A row of length one."""

Rows: TypeAlias = NDArray[np.float32]
"""Vectors, one a row."""

MAX_TEXTS = 10
"""The most texts of an ability that are compared: about half a second of work for forty of them."""

MAX_FACTS = 6
"""The most facts of its method that are compared besides, after its techniques."""

MAX_VERBS, MAX_NOUNS = 8, 14
"""The most of its verbs and of the words of its objects that are compared, each by itself."""

_PARTS = re.compile(r"(?<=[.;:])\s+|,? then |,? and |[;,] ")
_FIRST_PART = re.compile(r"[,;:]|\s(?:and|then|until|so)\s")

_PLAIN_WORKS: Mapping[str, tuple[str, ...]] = {
    "delete": ("delete {}", "get rid of {}", "remove old {}"),
    "send": ("send {} to somebody", "mail {} to everybody", "tell people about {}"),
    "print": ("print {}",),
    "show": ("list {}", "show {} by date", "which of {} are there", "which of {} have none"),
    "count": ("count {}", "how many of {} are there"),
    "restore": ("bring back {}", "go back to the old {}", "undo the change to {}"),
    "verify": ("check {}", "check {} for mistakes"),
    "move": ("move {} somewhere else",),
    "copy": ("copy {} to another place",),
    "rename": ("rename {}",),
    "compare": ("compare {} with each other",),
    "sort": ("sort {}",),
    "add": ("add a new entry to {}", "enter a value for {}"),
    "update": ("change {}", "correct one entry of {}", "update {} to a new version"),
    "merge": ("merge {} into one",),
    "split": ("split {} into parts",),
    "pack": ("compress {}",),
    "unpack": ("unpack {}",),
    "draw": ("draw a chart of {}",),
    "fix": ("fix {}",),
    "download": ("download {}",),
    "upload": ("upload {}", "publish {}"),
    "convert": ("convert {} to another format", "convert {} back"),
    "find": ("find {}", "search in {}", "find the {} that are too large", "who has {}"),
    "summarise": ("summarise {}",),
    "compute": ("compute the total of {}",),
    "write": ("write {}",),
    "make": ("make new {}", "take {} again"),
    "start": ("run {}", "start {}"),
    "stop": ("stop {}",),
    "encrypt": ("encrypt {}",),
    "decrypt": ("decrypt {}",),
    "translate": ("translate {}",),
    "extract": ("take something out of {}",),
    "backup": ("back up {}",),
    "export": ("export {}",),
    "import": ("import {}",),
    "install": ("install {}",),
    "optimise": ("make {} faster",),
    "resize": ("make {} smaller",),
    "enlarge": ("make {} larger",),
    "hide": ("hide {}",),
    "mark": ("mark {} as done",),
    "plan": ("plan {}",),
    "cancel": ("cancel {}",),
    "pay": ("buy {}", "sell {}"),
    "record": ("record {}",),
    "monitor": ("watch {}",),
    "explain": ("explain {}",),
    "test": ("test {}",),
}
"""Wordings of plain work by the family of its verb."""

_SAMPLES = (
    "the photos", "the customer list", "the invoices of a month", "the log files", "the pages of the web site",
    "the records in a database", "the bookings", "the meter readings",
)  # fmt: skip
"""Objects over which it is averaged what a work adds."""

_WORDINGS = tuple((family, one) for family, wordings in _PLAIN_WORKS.items() for one in wordings)


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near a request is to an ability; all are cosines."""

    said: float
    """To the nearest of what the ability says of itself."""
    like: str
    """Which that is."""
    work: float
    """Of what is said beyond the object: how much more it is the ability's work than the nearest other."""
    other: str
    """The family of that other work."""
    asked: float
    """The same to the work of the request's own verb, where that is not the ability's; else 0."""
    middle: float
    """To all that the ability says of itself, on average."""
    goal: float
    """To its whole goal, or to its title where no goal is known."""
    fact: float
    """To the nearest fact of its method; 0 where none is known."""
    verb: float
    """Of the request's verb alone to the nearest verb that leads in a title or phrase; 0 where none is said."""
    any_verb: float
    """The same to any verb of the ability's."""
    head: float
    """Of the last word of the request's object to the nearest of the ability's objects; 0 where none is said."""
    nouns: float
    """The same of all words of the object, on average."""


@dataclass(frozen=True, slots=True)
class Told:
    """What an ability says of itself, as texts whose vectors are compared."""

    object: str
    said: tuple[str, ...]
    """Its title, its phrases in other words, and its parts."""
    goal: str
    facts: tuple[str, ...]
    leading: tuple[str, ...]
    """Its first verbs."""
    verbs: tuple[str, ...]
    """All of its verbs."""
    nouns: tuple[str, ...]
    """The words of its objects."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of which vectors are needed for this ability: a row each."""
        return (self.object, self.goal, *self.said, *self.facts)

    @property
    def words(self) -> frozenset[str]:
        """The single words; many abilities share them."""
        return frozenset((*self.verbs, *self.nouns))


def told_by(entry: AbilityAvailabilityEntry) -> Told:
    """What an ability says of itself."""
    return _told(entry.title, entry.trigger_phrases, entry.aliases, entry.method, entry.techniques)


@lru_cache(4096)
def _told(
    title: str,
    phrases: tuple[str, ...],
    aliases: tuple[str, ...],
    method: tuple[str, ...],
    techniques: tuple[str, ...],
) -> Told:
    goal = method[0] if method else title
    other_words = [phrase for phrase in phrases if title.lower() not in phrase.lower()]
    parts = [part for part in _PARTS.split(title) if len(part.split()) > 2]
    read_all = [read(text) for text in (title, *phrases, *aliases) if text.strip()]
    first = [clause for one in read_all for clause in leading_clauses(one)]
    leading = [spoken(clause.verb) for clause in first if clause.verb]
    further = [
        spoken(clause.verb) for one in (*read_all, read(goal)) for clause in one.clauses if clause.verb
    ]
    return Told(
        object=_object_of(title),
        said=tuple(dict.fromkeys((title, *other_words, *parts)))[:MAX_TEXTS],
        goal=goal,
        facts=(*techniques, *method[1 : 1 + MAX_FACTS]),
        leading=tuple(dict.fromkeys(leading))[:MAX_VERBS],
        verbs=tuple(dict.fromkeys((*leading, *further)))[:MAX_VERBS],
        nouns=tuple(dict.fromkeys(word.token for clause in first for word in clause.object))[:MAX_NOUNS],
    )


def spoken(verb: str) -> str:
    """A verb of two words as it is written."""
    return verb.replace("_", " ")


def plain_works(vector: Callable[[str], Vector]) -> Rows:
    """What each plain work adds to an object. Some five hundred texts are read for it: keep the result."""
    plain = [vector(sample) for sample in _SAMPLES]
    added = [
        np.mean([vector(wording.format(s)) - p for s, p in zip(_SAMPLES, plain, strict=True)], axis=0)
        for _, wording in _WORDINGS
    ]
    return np.stack(added).astype(np.float32)


WORKS_KEY = "|".join((*_SAMPLES, *(wording for _, wording in _WORDINGS)))
"""What the result of ``plain_works`` depends on, beside the model."""


class _Block(NamedTuple):
    """What some abilities say, one text a row, and where each begins."""

    ids: tuple[str, ...]
    starts: NDArray[np.intp]
    said: Rows


class Meanings:
    """The vectors of some abilities, prepared for requests. Safe to share between threads.

    ``changed`` makes another one, which shares what is as it was.
    """

    def __init__(
        self,
        vector: Callable[[str], Vector],
        works: Rows,
        abilities: Mapping[str, tuple[Told, Rows]],
        words: Mapping[str, Vector] | None = None,
        together: Callable[[str, str], float] | None = None,
    ) -> None:
        """``abilities`` holds what each tells and the vectors of its texts, by its id; ``words`` those of words.

        A word that is not among them is read when it is needed.
        """
        self._vector = vector
        self.together = together
        """Reads a request and a goal as one text, where a model for that can be used."""
        self._words = dict(words or {})
        self._middle = works.mean(axis=0)
        self._works = _unit(works - self._middle)
        self._families = lru_cache(4096)(_wordings_of)
        self._alone = lru_cache(16384)(self._likeness)
        self._blocks: tuple[_Block, ...] = ()
        self._place: dict[str, tuple[int, int]] = {}
        self._told: dict[str, tuple[Told, Rows]] = {}
        self._change(abilities, ())

    @property
    def ids(self) -> AbstractSet[str]:
        """The ids of all abilities whose meaning is known."""
        return self._told.keys()

    def changed(
        self,
        abilities: Mapping[str, tuple[Told, Rows]],
        gone: Iterable[str],
        words: Mapping[str, Vector],
    ) -> "Meanings":
        """With ``abilities`` new or as they are now, and without ``gone``; ``words`` are known besides."""
        # What a word means never changes: the words and what was found of them are shared.
        self._words.update(words)
        made = copy(self)
        made._place, made._told = self._place.copy(), self._told.copy()
        made._change(abilities, gone)
        return made

    def _change(self, abilities: Mapping[str, tuple[Told, Rows]], gone: Iterable[str]) -> None:
        for one in gone:
            self._place.pop(one, None)
            self._told.pop(one, None)
        self._told.update(abilities)
        kept, new = self._blocks, list(abilities)
        # A block that is not much larger is put together with what follows it: there are never many.
        while kept and len(kept[-1].ids) <= 2 * len(new):
            number = len(kept) - 1
            here = (one for place, one in enumerate(kept[-1].ids) if self._place.get(one) == (number, place))
            kept, new = kept[:-1], [*(one for one in here if one not in abilities), *new]
        if new:
            said = [self._said(one) for one in new]
            starts = np.cumsum([0, *map(len, said)])[:-1]
            self._place.update((one, (len(kept), place)) for place, one in enumerate(new))
            kept = (*kept, _Block(tuple(new), starts, np.concatenate(said)))
        self._blocks = kept
        self._likeliest = lru_cache(64)(self._nearest_said)
        self._beyond = lru_cache(4096)(self._beyond_object)

    def _said(self, ability_id: str) -> Rows:
        told, rows = self._told[ability_id]
        return np.asarray(rows[2 : 2 + len(told.said)], dtype=np.float32)

    def _beyond_object(self, ability_id: str) -> tuple[Rows, Vector]:
        """What each text says beyond the ability's object, and the middle that it is told from."""
        centre: Vector = np.asarray(self._told[ability_id][1][0], dtype=np.float32) + self._middle
        return _unit(self._said(ability_id) - centre), centre

    def nearest(self, request: str, most: int, may_be: Callable[[str], bool]) -> tuple[str, ...]:
        """The ids of at most ``most`` abilities that say something near to ``request``, nearest first."""
        if not self._place:
            return ()
        places = [(number, place) for number, one in enumerate(self._blocks) for place in range(len(one.ids))]
        order: list[int] = np.argsort(-np.concatenate(self._likeliest(request)), kind="stable").tolist()
        found = (places[one] for one in order)
        present = ((self._blocks[number].ids[place], (number, place)) for number, place in found)
        ids = (one for one, place in present if self._place.get(one) == place)
        return tuple(islice(filter(may_be, ids), most))

    def nearness(
        self,
        request: Reading,
        ability_id: str,
        does: frozenset[str],
        asked: frozenset[str],
        least: float = -1.0,
    ) -> Nearness | None:
        """How near ``request`` is; None for an ability whose vectors are not known, or less near than ``least``.

        ``does`` are the families of the ability's verbs, ``asked`` those of the request's.
        """
        place = self._place.get(ability_id)
        if place is None or self._likeliest(request.text)[place[0]][place[1]] < least:
            return None
        told, known = self._told[ability_id]
        rows, facts = self._said(ability_id), np.asarray(known[2 + len(told.said) :], dtype=np.float32)
        own, centre = self._beyond(ability_id)
        vector = self._vector(request.text)
        beyond = vector - centre
        beyond /= max(float(np.linalg.norm(beyond)), 1e-9)
        plain = self._works @ beyond
        others = np.where(self._families(does), -1.0, plain)
        other = int(others.argmax())
        asking = self._families(asked - does)
        said = rows @ vector
        nearest = int(said.argmax())
        main = main_clause(request)
        verb = spoken(main.verb) if main is not None else ""
        object_words = [word.token for word in main.object] if main is not None else []
        each = [self._nearest_word(word, told.nouns) for word in object_words]
        return Nearness(
            said=float(said[nearest]),
            like=told.said[nearest],
            work=float((own @ beyond).max()) - float(others[other]),
            other=_WORDINGS[other][0],
            asked=max(0.0, float(plain[asking].max())) if asking.any() else 0.0,
            middle=float(said.mean()),
            goal=float(np.asarray(known[1], dtype=np.float32) @ vector),
            fact=float((facts @ vector).max()) if len(facts) else 0.0,
            verb=self._nearest_word(verb, told.leading) if verb else 0.0,
            any_verb=self._nearest_word(verb, told.verbs) if verb else 0.0,
            head=each[-1] if each else 0.0,
            nouns=sum(each) / len(each) if each else 0.0,
        )

    def _nearest_said(self, request: str) -> tuple[Vector, ...]:
        vector = self._vector(request)
        return tuple(np.maximum.reduceat(one.said @ vector, one.starts) for one in self._blocks)

    def _nearest_word(self, word: str, others: Sequence[str]) -> float:
        return max((self._alone(word, other) for other in others), default=0.0)

    def _likeness(self, word: str, other: str) -> float:
        return float(self._word(word) @ self._word(other))

    def _word(self, word: str) -> Vector:
        known = self._words.get(word)
        return self._vector(word) if known is None else known


def _wordings_of(families: frozenset[str]) -> NDArray[np.bool_]:
    return np.array([family in families for family, _ in _WORDINGS])


def _unit(rows: Rows) -> Rows:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-9), dtype=np.float32)


def _object_of(title: str) -> str:
    """What follows the title's first verb, up to the next clause."""
    clauses = read(title).clauses
    starts = bool(clauses and clauses[0].verb)
    rest = title.partition(" ")[2] if starts else title
    return _FIRST_PART.split(rest)[0].strip() or title
