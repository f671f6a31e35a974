"""Effect that a tool's description says the tool has: "Deletes …", "… and sends it to …", "This cannot be undone".

English, by the position of a verb and not by its presence: a description of a read may well name what other tools
change ("to close an issue use …") or say what it leaves alone ("without changing …"). What is said in other
languages is not understood and counts as nothing said.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from contracts.learning.observation import ToolEffect
from domain.mcp.tool_verbs import ALSO_NOUNS, AMBIGUOUS_IN_PROSE, HARMLESS_LEADS, WRITES, words_of

_GRAVEST = (ToolEffect.DELETE, ToolEffect.SEND, ToolEffect.CREATE, ToolEffect.UPDATE)

_NEUTRAL_IN_PROSE = words_of("generate perform")

_EFFECT_OF: dict[str, ToolEffect] = {
    verb: effect
    for verb, effect in (
        *((verb, effect) for effect in reversed(_GRAVEST) for verb in WRITES[effect]),
        *ALSO_NOUNS.items(),
    )
    if verb not in _NEUTRAL_IN_PROSE
}

_CONTINUED = re.compile(r"\n\s*(?=[a-z])")
_SENTENCE_ENDS = re.compile(r"(?<=[.!?;:])\s+|\n+|\s[\u2013\u2014-]+\s|[\u2022|]")
_MARKS = re.compile(r"^[\s*_#>`\"'\u2019\u201c(\[\-\d.)\]]+")
_WORD = re.compile(r"[A-Za-z]+(?:['\u2019][a-z]+)?|[,;()]")

_POINTERS = words_of(
    "a all an another any anything both each every everything existing her his it its me multiple my new one or "
    "our several some the their them these this those up your you yourself"
)
"""What follows a verb that takes an object, and no noun."""

_FILLERS = words_of(
    "also and at be but can could first finally it just may might must next now once additionally "
    "afterwards later please should simply so subsequently then will would you we"
)
_ARTICLES = words_of("a all an any each every no one some that the these this those which")
_ITS_NAMES = words_of("tool function call operation command endpoint action")

_DIRECTIONS = words_of(
    "after although any args arguments avoid because before best by call defaults default do does don't each "
    "e.g example examples except for given good helpful how if in input instead it's let limit most must never "
    "no note only optional optionally output param parameters prefer requires required returning returns see "
    "set since such supports to unlike unless until use used useful using warning what when whenever where "
    "whether which while why with without you your"
)
"""First words of sentences that say when and how to use a tool, and not what it does."""

_NEGATIONS = words_of(
    "not never no without cannot can't don't doesn't won't nothing neither nor rather unlike instead"
)

_ITSELF = re.compile(
    r"\b(?:it|(?:this|the)(?: \w+)? (?:tool|function|call|operation|command|endpoint|action)|this)\s+"
    r"(?:(?:also|will|then|both|first|always|may|can|and|[a-z]+ly)\s+)*([a-z]+)\b"
)
_DONE = re.compile(
    r"\b(?:(?:is|are) (?:also|then|[a-z]+ly)|gets?|will be"
    r"|(?:is|are)(?= (?:sent|charged|executed|forwarded|paid)\b))\s+"
    r"(?:(?:also|then|being|[a-z]+ly)\s+)*([a-z]+)\b"
)
_SAID_OF_OUTPUT = words_of("truncate make set clean replace trigger")
_BY_DOING = re.compile(r"\b(?:by|after first|while also)\s+(?:[a-z]+ly\s+)?([a-z]+ing)\b")
_LASTING = re.compile(
    r"\b(?:irreversibl[ey]|cannot be undone|can't be undone|can not be undone|no undo|destructive operation"
    r"|destructive action|permanently (?:delet|remov|eras|destroy)\w+)\b"
)
_ANYTHING = re.compile(
    r"\barbitrary (?:\w+ )?(?:code|commands?|sql|shell|javascript|python|scripts?|statements?|queries)\b"
)
_CONDITIONS = words_of(
    "that which who whose where if when whenever whether once after before until as how what"
)

_ASKING = words_of("query search lookup aggregation comparison")
_IMPERATIVES_COUNT_IN = 3
"""Sentences. Further down they tell the caller what to do, unless they are grave."""

_CLAUSE_BEGINS = words_of(", ; ( ) and or then but also")
_BEFORE_LISTS_OF_DEEDS = words_of("to can for by on of with how")

MOST_SENTENCES = 400


def _forms(verb: str) -> Iterator[tuple[str, str]]:
    """Forms of a verb, each with its kind."""
    yield verb, "base"
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        yield verb + "es", "third"
    elif verb.endswith("y") and verb[-2:-1] not in "aeou":
        yield verb[:-1] + "ies", "third"
    else:
        yield verb + "s", "third"
    doubled = verb + verb[-1]
    stem = verb[:-1] if verb.endswith("e") else verb
    for begin in {stem, doubled} if not verb.endswith("e") else {stem}:
        yield begin + "ing", "doing"
        yield begin + "ed", "done"
    if verb.endswith("y"):
        yield verb[:-1] + "ied", "done"
    if irregular := _IRREGULAR.get(verb):
        yield irregular, "done"


_IRREGULAR = {
    "send": "sent",
    "write": "written",
    "buy": "bought",
    "sell": "sold",
    "pay": "paid",
    "make": "made",
    "overwrite": "overwritten",
    "rebuild": "rebuilt",
    "withdraw": "withdrawn",
    "resell": "resold",
}

_FORMS: dict[str, tuple[str, str]] = {}
for _verb in _EFFECT_OF:
    for _form, _kind in _forms(_verb):
        _FORMS.setdefault(_form, (_verb, _kind))

_HARMLESS_FORMS = {
    form for verb in HARMLESS_LEADS for form, kind in _forms(verb) if kind in ("base", "third")
}


@lru_cache(maxsize=1_024)
def effect_said(text: str, *, strict: bool) -> ToolEffect | None:
    """The gravest effect that ``text`` says the tool has, none where it says none.

    ``strict`` is for a tool without a read-only hint: verbs that are things as well count then, what is done to
    something, and a first sentence that begins with an unknown verb.
    """
    found: set[ToolEffect] = set()
    parts = _SENTENCE_ENDS.split(_CONTINUED.sub(" ; ", text.strip()))
    sentences = [_MARKS.sub("", part) for part in parts if part.strip()]
    for number, sentence in enumerate(sentences[:MOST_SENTENCES]):
        early = number < _IMPERATIVES_COUNT_IN
        found.update(_EFFECT_OF[verb] for verb in _deeds(sentence, strict=strict, early=early))
        if number == 0 and strict and _begins_with_an_unknown_verb(sentence):
            found.add(ToolEffect.UPDATE)
    if len(sentences) > MOST_SENTENCES:
        found.add(ToolEffect.UPDATE)
    return next((effect for effect in _GRAVEST if effect in found), None)


def _deeds(sentence: str, *, strict: bool, early: bool) -> Iterator[str]:
    """The verbs in a sentence by which the tool changes something."""
    words = [word.lower().replace("\u2019", "'") for word in _WORD.findall(sentence)]
    if not words:
        return
    lower = " ".join(words)
    for phrase, verb in ((_LASTING, "delete"), *(((_ANYTHING, "execute"),) if strict else ())):
        match = phrase.search(lower)
        if match and _NEGATIONS.isdisjoint(lower[: match.start()].split()):
            yield verb
    yield from _said_of_itself(lower, strict=strict)
    if words[0] not in _DIRECTIONS:
        for verb, kind in _leading(words):
            grave = _EFFECT_OF[verb] in (ToolEffect.DELETE, ToolEffect.SEND)
            plain = strict or kind == "third" or verb not in AMBIGUOUS_IN_PROSE
            if plain and (early or grave or kind == "third"):
                yield verb


def _said_of_itself(lower: str, *, strict: bool) -> Iterator[str]:
    """Verbs of which the tool or its call is the subject, or what it acts on."""
    kinds = ((_ITSELF, ("base", "third")), *(((_DONE, ("done",)), (_BY_DOING, ("doing",))) if strict else ()))
    for phrase, wanted in kinds:
        for match in phrase.finditer(lower):
            verb, kind = _FORMS.get(match[1], ("", ""))
            before = lower[: match.start()].split()
            if kind not in wanted or not (_CONDITIONS | _NEGATIONS).isdisjoint([*before, *match[0].split()]):
                continue
            after = [*lower[match.end() :].split(), ""][0]
            if verb in AMBIGUOUS_IN_PROSE and phrase is _ITSELF and after not in _POINTERS:
                continue
            if phrase is not _ITSELF and (
                verb in _SAID_OF_OUTPUT or (before[:1] and before[0] in _DIRECTIONS - {"your"})
            ):
                continue
            yield verb


def _leading(words: list[str]) -> Iterator[tuple[str, str]]:
    """Verbs that a clause of the sentence begins with, each with its form."""
    first = True
    wanting = True
    infinitive = False
    for at, word in enumerate(words):
        after = words[at + 1] if at + 1 < len(words) else ""
        if word in _CLAUSE_BEGINS:
            wanting = True
            continue
        infinitive = infinitive or word in _BEFORE_LISTS_OF_DEEDS
        if word in _NEGATIONS or word in _CONDITIONS:
            return
        own_name = word in _ITS_NAMES or (word in _ARTICLES and after in _ITS_NAMES)
        if not wanting or own_name or word in _FILLERS or word.endswith("ly"):
            continue
        wanting = False
        verb, kind = _FORMS.get(word, ("", ""))
        loose = kind == "base" and (infinitive or after not in _POINTERS)
        asking = verb == "run" and not _ASKING.isdisjoint(words[at + 1 : at + 6])
        ambiguous = verb in AMBIGUOUS_IN_PROSE and after not in _POINTERS
        if kind in ("base", "third") and not ambiguous and not asking and (first or not loose):
            yield verb, kind
        first = False


def _begins_with_an_unknown_verb(sentence: str) -> bool:
    words = [word.lower() for word in _WORD.findall(sentence)]
    while words and (words[0] in _FILLERS or words[0].endswith("ly")):
        words = words[1:]
    if (
        len(words) < 2
        or words[0] in _ARTICLES | _POINTERS | _DIRECTIONS
        or words[1] not in _POINTERS - {"or", "one", "new"}
    ):
        return False
    return words[0] not in _HARMLESS_FORMS and words[0] not in _FORMS
