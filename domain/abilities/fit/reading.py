"""Reads a request: what is to be done (verbs), to what (object), and in which direction (from, to, into).

A shallow reading of English: no grammar, only where a verb is expected, where an object ends and which preposition
begins what. What it cannot read it keeps as content words.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from domain.abilities.fit.spelling import one_line, spelled
from domain.abilities.fit.verbs import (
    LIGHT,
    OPEN_TO_NOUNS,
    families_of,
    needs_a_place,
    work_named_by,
)
from domain.abilities.fit.words import Word, is_content, tokens, word_of

_DETERMINER_LIST = """
    a an the my our your his her their its this these those each every all some any both one another no
"""
_SUBJECT_LIST = """
    you i we they can could should must please will would not don't do does did let's let help me us to
"""
_PREPOSITION_LIST = """
    of by with for on per at between after before according about against over through under within without via
    using like around during until since than if because so while is are was were where when that which who
"""
_DETERMINERS = frozenset(_DETERMINER_LIST.split())
_SUBJECTS = frozenset(_SUBJECT_LIST.split())
"""Words after which a verb is expected."""

_ASKING = frozenset({"which", "what", "who", "where", "when"})
_SOURCE = frozenset({"from"})
_TARGET = frozenset({"to", "into", "as", "onto", "in"})
_PREPOSITIONS = _SOURCE | _TARGET | frozenset(_PREPOSITION_LIST.split())
_BEFORE_NOUNS = _DETERMINERS | _PREPOSITIONS - frozenset(
    {"to", "so", "while", "if", "that", "which", "who", "where"}
)
"""Words that no verb follows at once."""

_STOPS = frozenset(".;:!?")
_BREAKS = frozenset({",", ":", ";", "."})
_INFINITIVE = frozenset({"to"})
_AND = frozenset({",", "and", "then", "or"})


@dataclass(frozen=True, slots=True)
class Clause:
    """A verb, what it is done to, and what its prepositions add."""

    verb: str
    families: frozenset[str]
    object: tuple[Word, ...]
    added: tuple[tuple[str, tuple[Word, ...]], ...]

    @property
    def light(self) -> bool:
        """Whether the verb leaves open what is done."""
        return bool(self.families) and self.families <= LIGHT


@dataclass(frozen=True, slots=True)
class Reading:
    """What a request or a phrase says."""

    text: str
    """In lower case, on one line."""
    tokens: tuple[str, ...]
    words: tuple[Word, ...]
    """The content words without the verbs, each once."""
    clauses: tuple[Clause, ...]
    nominal: frozenset[str]
    """Families that nouns and participles name where the verb leaves it open: "an encrypted copy"."""
    asks: bool
    """Whether it is a question: which, what, how many."""
    source: frozenset[Word]
    target: frozenset[Word]

    @property
    def strong(self) -> tuple[Clause, ...]:
        """The clauses whose verb says what is done."""
        return tuple(clause for clause in self.clauses if not clause.light)


@dataclass(slots=True)
class _Item:
    token: str
    verb: bool = False


@lru_cache(maxsize=4096)
def read(text: str) -> Reading:
    """Reads ``text``."""
    items = list(_items(spelled(text)))
    clauses = _clauses(items)
    words = dict.fromkeys(word_of(item.token) for item in items if not item.verb and is_content(item.token))
    source, target = _direction(clauses)
    return Reading(
        text=one_line(text),
        tokens=tokens(text),
        words=tuple(words),
        clauses=clauses,
        nominal=frozenset(family for clause in clauses for family in _named_in(clause)),
        asks=any(item.token in _ASKING or item.token.startswith("how_") for item in items[:3]),
        source=source,
        target=target,
    )


def _named_in(clause: Clause) -> Iterator[str]:
    if clause.verb and not clause.families & OPEN_TO_NOUNS:
        return
    for word in clause.object or next((words for place, words in clause.added if place != "with"), ()):
        if (named := work_named_by(word.token)) is not None:
            yield named
        elif word.token.endswith(("ed", "ing")):
            yield from families_of(word.token)


def _items(found: Sequence[str]) -> Iterator[_Item]:
    """Each token with whether it is a verb."""
    expected, after_verb, started = True, False, False
    for position, token in enumerate(found):
        following = found[position + 1] if position + 1 < len(found) else ""
        if token in _STOPS:
            expected, after_verb = True, False
        elif token in _AND:
            expected = after_verb
            if not expected and _is_verb_after_and(following, found, position + 2):
                expected = True
        elif token in _INFINITIVE:
            expected, after_verb = _is_infinitive(following, found, position + 2), False
        elif token in _SUBJECTS:
            expected, after_verb = True, False
        elif token in _DETERMINERS or token in _PREPOSITIONS:
            expected, after_verb = False, False
        elif "_" in token or is_content(token) or families_of(token) & {"get"}:
            noun = position > 0 and "_" not in token and found[position - 1] in _BEFORE_NOUNS
            verb = not noun and _is_verb(token, following, expected, started)
            if not verb and not is_content(token):
                continue
            yield _Item(token, verb)
            started, after_verb, expected = True, verb, False
            continue
        yield _Item(token)


def _is_verb(token: str, following: str, expected: bool, started: bool) -> bool:
    families = families_of(token)
    if "_" in token:
        return bool(families)
    if token.endswith("ed") and len(token) > 4:
        return False
    if token.endswith("ing"):
        return expected and not started and bool(families)
    if families:
        return expected or not (needs_a_place(token) or token.endswith("s"))
    return expected and not started and following in _DETERMINERS


def _is_infinitive(following: str, found: Sequence[str], after: int) -> bool:
    if not families_of(following):
        return False
    if not needs_a_place(following):
        return True
    return after < len(found) and found[after] in _DETERMINERS


def _is_verb_after_and(following: str, found: Sequence[str], after: int) -> bool:
    """After "and" or a comma a word that may be a noun is a verb only before its object."""
    if not families_of(following) or following.endswith(("ed", "ing")):
        return False
    if not needs_a_place(following):
        return True
    return after < len(found) and (found[after] in _DETERMINERS or found[after] in ("it", "them"))


def _clauses(items: Sequence[_Item]) -> tuple[Clause, ...]:
    """The clauses in order; what is said before any verb, or without one, is a clause without a verb."""
    found: list[Clause] = []
    verb, place = "", ""
    parts = _no_parts()

    def closed() -> Clause:
        added = tuple((name, tuple(words)) for name, words in parts[1:] if words)
        return Clause(verb, _families(verb, parts[0][1]), tuple(parts[0][1]), added)

    for item in items:
        if item.verb:
            if verb or any(words for _, words in parts):
                found.append(closed())
            verb, parts = item.token, _no_parts()
        elif item.token in _PREPOSITIONS or item.token in _BREAKS:
            place = item.token
            parts.append((place, []))
        elif is_content(item.token):
            parts[-1][1].append(word_of(item.token))
    if verb or any(words for _, words in parts):
        found.append(closed())
    return tuple(_shared_object(found))


def _no_parts() -> list[tuple[str, list[Word]]]:
    return [("", [])]


def _families(verb: str, done_to: Sequence[Word]) -> frozenset[str]:
    """Removing duplicates is another work than removing."""
    families = families_of(verb)
    doubled = "delete" in families and any(word.meaning == _DUPLICATE for word in done_to)
    return frozenset({"dedupe"}) if doubled else families


_DUPLICATE = word_of("duplicate").meaning


def _shared_object(found: Sequence[Clause]) -> Iterator[Clause]:
    """In "sort, archive and checksum the reports" the object of the last verb is that of all."""
    for position, clause in enumerate(found):
        if clause.verb and not clause.object and not clause.added:
            later = next((c for c in found[position + 1 :] if c.object), None)
            earlier = next((c for c in reversed(found[:position]) if c.verb and c.object), None)
            if donor := later or earlier:
                yield Clause(clause.verb, clause.families, donor.object, donor.added)
                continue
        yield clause


def _direction(clauses: Sequence[Clause]) -> tuple[frozenset[Word], frozenset[Word]]:
    """What it comes from and what it becomes."""
    source: set[Word] = set()
    target: set[Word] = set()
    before = False
    for clause in clauses:
        named = {"source": before, "target": False}
        before = False
        for place, words in clause.added:
            if place in _SOURCE:
                source.update(words)
                named["source"] = True
            elif place in _TARGET and (place != "in" or any(word.kind for word in words)):
                target.update(words)
                named["target"] = True
        before = named["source"] and not clause.verb
        if named["target"] and not named["source"]:
            source.update(clause.object)
            source.update(word for place, words in clause.added if place == "of" for word in words)
        elif clause.object and (named["source"] or _makes(clause)) and not named["target"]:
            target.update(clause.object)
            source.update(word for place, words in clause.added if place == "of" for word in words)
    return frozenset(source), frozenset(target)


def _makes(clause: Clause) -> bool:
    return bool(clause.families & {"make"}) and any(place == "of" for place, _ in clause.added)
