"""What people would ask for, read from the description of a foreign skill.

Descriptions are written for a model that picks skills: "Use when the user wants to create, read or edit Word documents
(.docx). Do NOT use for PDFs." What an agent is asked is one of those uses, "edit this Word document", so that each use
is a trigger of its own, and what the skill is not for is a negative one.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from domain.abilities.fit.fit import means
from domain.abilities.fit.reading import read
from domain.abilities.fit.verbs import families_of, verb_of_participle

MOST_USES = 20
"""Of each kind."""

_MOST_CHARACTERS = 120
_LEAST_LETTERS = 3
_STATED = re.compile(
    r"\b(?:is|are|was|were|can|must|should|will|this skill|even|whether|regardless)\b|^no\b.*\b(?:required|needed)\b",
    re.I,
)
"""In what is said about the skill, and not asked of it."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+|[;\n]\s*|\s+(?:—|–|--)\s+")
_ASIDE = re.compile(r"\(([^()]*)\)")
_PARTS = re.compile(r":\s+|,\s*(?:and|or)\s+|,\s*|\s+or\s+(?=\w+ing\b)")
_EXAMPLE = re.compile(r"^(?:e\.?g\.?|i\.?e\.?|like|such as|including|includes?|for example)[,:]?\s+", re.I)
_SUCH_AS = re.compile(r"\s*,?\s*\b(?:such as|including|like|e\.g\.,?)\s+", re.I)
_REST = re.compile(
    r"[,\s]*\b(?:or whether\b.*|etc\.?|and (?:so on|more)|(?:or|and) (?:any )?(?:other )?similar\b.*)$", re.I
)
_JOINED = re.compile(r"^(?:(?:and|or|and/or|also|then)\s+)?(?:for\s+(?=\w+ing\b))?", re.I)
_APPLIES = re.compile(r"\s+appl(?:y|ies)$", re.I)
_QUOTED_NEXT = re.compile(r"([\"”’])\s*,?\s*(?:or|and)\s+([\"“‘])")
"""Between two quoted requests."""
_APOSTROPHE = re.compile(r"(?<=\w)[’'](?=\w)")

_NOT_FOR = re.compile(
    r"\b(?:do(?:es)? not|don['’]t|never|not)\s+(?:be\s+)?(?:use[ds]?|trigger(?:ed)?|invoked?|activated?|meant|intended|"
    r"suitable)\b(?:\s+(?:this|the|it)(?:\s+skill)?)?\s*(?:(?:for|on|with)\b)?:?|^not\s+for\b:?",
    re.I,
)
_OTHER_REASON = re.compile(r"(?<=\w)\s+(?:when|because|unless|even|unrelated|instead)\b.*$", re.I)

_WHO = r"(?:(?:the|a|an|your)\s+)?(?:users?|people|someone|somebody|you|they|claude|agents?|developers?)"
_LEADS = (
    # "Use this skill whenever the user wants to", "Trigger when user mentions", "If the user asks for"
    re.compile(
        rf"^.*?\b(?:when(?:ever)?|if|any\s?time|where)\s+(?:{_WHO}\s+)?(?:is\s+|are\s+|explicitly\s+|only\s+|just\s+)?"
        r"(?:(?:wants?|needs?|asks?|asked|asking|requests?|requesting|would like|mentions?|says?|is about|involves?|"
        r"working (?:with|on))\b\s*)?(?:(?:you|claude)\s+)?(?:(?:to|about|(?:for )?help(?: with| in| on)?|for)\b)?\s*"
        r"(?:do (?:anything|something) with\b)?[:\s]*",
        re.I,
    ),
    # "This includes:", "Triggers include: any mention of", "Helps with", "Guides users through", "Toolkit for"
    re.compile(
        r"^(?:\w+\s+){0,4}?(?:includes?|means?|covers?|supports?|triggers?(?:\s+on|\s+include)?)\b[:\s]+"
        r"(?:any\s+(?:task|request|mention)s?\b(?:\s+(?:of|for|to|with|involving)\b)?\s*)?",
        re.I,
    ),
    re.compile(
        r"^(?:(?:also\s+)?use[ds]?|helps?|guides?|guidance|guidelines?|toolkit|tools?|knowledge|instructions?|utilities|"
        r"suite of tools|comprehensive[\w\s,]*?|"
        r"(?:a\s+)?(?:set|collection) of (?:tools|utilities|scripts|helpers|instructions))\s+"
        rf"(?:{_WHO}\s+)?(?:(?:me|us)\s+)?"
        r"(?:through|for|with|to help (?:me|you|us|people|users)|to)\b\s*",
        re.I,
    ),
)
_ACTS_ON = re.compile(
    r"(?:an?|the|this|these|those|my|your|our|their)\b|(?:or|and)\s+\w+\s+(?:an?|the|my|your)\b", re.I
)
"""Follows a word that is a verb even where it is none that is known here: "caption a video"."""

_LINKS = frozenset({"or", "and"})
_PREPOSITIONS = frozenset(
    {"in", "on", "of", "for", "to", "with", "from", "by", "at", "as", "into", "over", "about", "all", "any"}
)  # fmt: skip
_QUOTES = str.maketrans(dict.fromkeys("\"'“”‘’`*", " "))
_KEPT = "\ue000"
"""Stands for an apostrophe while quotation marks are taken away."""

_WHEN = re.compile(r"\b(?:when(?:ever)?|if|any\s?time)\b", re.I)
_OR_WHEN = re.compile(
    rf",?\s+or\s+(?=(?:when(?:ever)?|if)\b|(?:{_WHO}\s+)?(?:wants?|needs?|asks?|requests?|mentions?|says?)\b)",
    re.I,
)
"""Between two wishes of a user: "or wants", "or when the user mentions"."""

_PASSIVE = re.compile(r"\b(?:(?:needs?|ha(?:s|ve)|is|are)\s+to\s+be|(?:should|must)\s+be)\s+", re.I)
_DONE_FOR = re.compile(
    r"^.*?\b(?:(?:wants?|needs?|would\s+like)\s+(?:to\s+(?:have|get)\s+)?(?!to\b)|to\s+(?:have|get)\s+)", re.I
)
"""Before what somebody wishes to be done by somebody else: "wants a CSV sorted"."""

_WHEN_LEAD = re.compile(r"^.*?\b(?:when(?:ever)?|if|any\s?time)\s+", re.I)
_AND_OR = re.compile(r"\s*,\s*(?:(?:and|or)\s+)?|\s+(?:and|or)\s+", re.I)
_PARTICLES = frozenset({"up", "down", "out", "in", "off", "back", "over", "away", "together"})
_AFTER = frozenset(
    {"before", "after", "while", "without", "until", "so", "again", "automatically", "every", "each"}
)


class DescribedUses(NamedTuple):
    """What a skill is for, and what it is said not to be for; each as somebody could ask for it."""

    uses: tuple[str, ...]
    not_for: tuple[str, ...]


@dataclass(slots=True)
class _Said:
    """What was said last: its verb counts for the names that follow it."""

    verb: str = ""


def described_uses(description: str) -> DescribedUses:
    """The uses in the order of the text, at most ``MOST_USES`` of each kind, of at most 120 characters.

    What it is said not to be for is left out where it would rule out one of the uses.
    """
    uses: list[str] = []
    not_for: list[str] = []
    for sentence in _SENTENCE.split(description):
        excluded = _NOT_FOR.search(sentence)
        if excluded is None:
            uses += _uses_in(sentence)
        else:
            not_for += _uses_in(_OTHER_REASON.sub("", sentence[excluded.end() :]))
    kept = _bounded(uses)
    asked = [read(use) for use in kept]
    refused = (one for one in not_for if not any(means(use, read(one)) for use in asked))
    return DescribedUses(kept, _bounded(refused))


def _bounded(found: Iterable[str]) -> tuple[str, ...]:
    kept = (
        one for one in found if _LEAST_LETTERS <= len(one) <= _MOST_CHARACTERS and not _STATED.search(one)
    )
    return tuple(dict.fromkeys(kept))[:MOST_USES]


def _uses_in(sentence: str) -> Iterator[str]:
    asides = _ASIDE.findall(sentence)
    said = _Said()
    for clause in _clauses(_ASIDE.sub(" ", sentence)):
        orders = _orders(clause)
        yield from orders or _named(_without_lead(clause), said)
    for aside in asides:
        if "," in aside:
            yield from _named(_EXAMPLE.sub("", aside.strip()), said)


def _clauses(sentence: str) -> Iterator[str]:
    """The wishes that a sentence joins by "or", each with its own "when"."""
    first, *others = _OR_WHEN.split(sentence) if _WHEN.search(sentence) else [sentence]
    yield first
    yield from (one if _WHEN.match(one) else f"when {one}" for one in others)


def _orders(clause: str) -> list[str]:
    """What somebody wishes to be done, as orders: "a CSV sorted or rows merged" is "sort a CSV" and "merge rows".

    None where that is not how the wish is said: its first part has no participle.
    """
    if _PASSIVE.search(clause) and _WHEN.search(clause):
        wished = _PASSIVE.sub("", _WHEN_LEAD.sub("", clause))
    elif lead := _DONE_FOR.match(clause):
        wished = clause[lead.end() :]
    else:
        return []
    wished = " ".join(wished.translate(_QUOTES).strip(" .:!?").split())
    orders: list[str] = []
    about, left = "", ""
    for part in _AND_OR.split(wished):
        left = f"{left} and {part}" if left else part
        order = _order(left, about)
        if order is not None:
            about, left = order.about, ""
            orders.append(order.text)
        elif not orders and ":" in left:
            return []
    return orders if not left else []


class _Order(NamedTuple):
    """An order, and what it is about."""

    text: str
    about: str


def _order(wished: str, about: str) -> _Order | None:
    """ "rows sorted by date" as "sort rows by date"; a participle alone is about what the last one was about."""
    words = wished.split()
    for at in range(len(words) - 1, -1, -1):
        verb = verb_of_participle(words[at].lower())
        after = words[at + 1 :]
        if verb is None or not (not after or after[0].lower() in _PARTICLES | _PREPOSITIONS | _AFTER):
            continue
        thing = " ".join(words[:at]) or about
        if not thing:
            return None
        particle = after[:1] if after and after[0].lower() in _PARTICLES and len(after) == 1 else []
        return _Order(" ".join([verb, *particle, thing, *after[len(particle) :]]), thing)
    return None


def _without_lead(text: str) -> str:
    text = text.strip()
    for lead in _LEADS:
        text = lead.sub("", text, count=1).strip()
    return text


def _named(text: str, said: _Said) -> Iterator[str]:
    """Each part of an enumeration with the verb and the object that it shares with its neighbours."""
    waiting: list[str] = []
    for part in _parts(text):
        first, _, rest = part.partition(" ")
        if not _is_verb(first) and not _acts(first, rest):
            yield f"{said.verb} {part}" if said.verb else part
        elif not rest:
            waiting.append(first)
        else:
            said.verb = first
            about = _object_of(rest)
            yield from (f"{verb} {about}" for verb in waiting)
            waiting.clear()
            yield part
    yield from waiting if said.verb else ()


def _parts(text: str) -> Iterator[str]:
    for piece in _SUCH_AS.split(text):
        kept = (
            _APOSTROPHE.sub(_KEPT, _QUOTED_NEXT.sub(r"\1, \2", piece)).translate(_QUOTES).replace(_KEPT, "'")
        )
        for part in _PARTS.split(_REST.sub("", kept)):
            plain = " ".join(_APPLIES.sub("", _JOINED.sub("", part.strip(" .:!?"))).split())
            if plain:
                yield plain


def _object_of(rest: str) -> str:
    """What follows a verb and any that are joined to it: "or manipulate Word files" is about Word files."""
    words = rest.split()
    while len(words) > 2 and words[0].lower() in _LINKS and (_is_verb(words[1]) or _acts(words[1], words[2])):
        words = words[2:]
    return " ".join(words)


def _acts(first: str, rest: str) -> bool:
    """Whether the words after ``first`` show it to be a verb."""
    return (
        first.isalpha()
        and first.islower()
        and first not in _PREPOSITIONS | _LINKS
        and bool(_ACTS_ON.match(rest))
    )


def _is_verb(word: str) -> bool:
    plain = word.lower().split("/")[0]
    return bool(families_of(plain)) or (plain.endswith("ing") and len(plain) > 5)
