"""Tell a state that is said from an order, by the grammar of the sentence (CKP-004, decisions "Checkpoints").

A state is said by a subject and what is true of it: a finite verb ("The total equals 100"), a participle or another
predicate in headline style ("Payment received", "Inbox empty"), or a quantity in a place ("No errors in the log").
An imperative has no subject: a bare word followed by an article or a pronoun ("Reboot the machine") is one whatever
the word is. A verb inside a subordinate clause says nothing ("Tell the customer that it is ready"). Only closed
classes are listed: articles, pronouns, prepositions, conjunctions, auxiliaries, irregular participles and a few
verbs and adjectives of state. Where a bare word may be verb or noun and nothing decides, no state is said.

English. A sentence in another language is an order where it begins with a bare word and an article ("Öffne die
Rechnung"), and passes otherwise.
"""

import re
from collections.abc import Sequence
from enum import Enum
from functools import lru_cache


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_ARTICLES = _set("the a an my our your his her its their every each both this these those all any some")
_OBJECT_PRONOUNS = _set("it them him me us everyone everybody everything yourself itself")
_NUMBERS = _set(
    "no zero one two three four five six seven eight nine ten eleven twelve several many most few fewer more less"
)
_SUBJECTS = _set(
    """it he she they there nothing nobody none nobody everything everyone everybody something someone neither either
    what whoever whatever another such other others"""
)
_DETERMINERS = _ARTICLES | _NUMBERS | _SUBJECTS | {"that"}
_SPEAKERS = _set("i you we")
_PREPOSITIONS = _set(
    """in on at under inside within into onto to from by for with without of off out up down over above below between
    behind beside beneath near next through across against along around before after during since until till per via
    as like than about among towards upon outside besides beyond except despite"""
)
_PLACES = _set("in on at under inside within behind beside beneath near above below between outside among")
_LIMITS = _set("below above under over within between")
_PARTICLES = _set("up down off out away back")
_SUBORDINATORS = _set(
    "when whenever once if unless while because since although though as after before until till where whereas for"
)
_EMBEDDING = _set(
    """that which who whom whose whether if how why where when while until till because since although before after
    once unless whatever whoever"""
)
_ASKING = _set("whether which who how why what where if")
_LINKS = _set(
    "and but so then now first next finally lastly also please kindly just simply always never only not"
)
_AUXILIARIES = _set(
    """is are was were am has have had does did can could may might shall should will would must isn't aren't wasn't
    weren't hasn't haven't hadn't doesn't didn't can't cannot won't shouldn't wouldn't couldn't mustn't"""
)
_STATIVE = _set(
    """exists contains holds shows appears matches equals includes displays remains reads says reports returns passes
    succeeds fails works compiles carries bears lies stands belongs stays answers"""
)
_SEEING = _set("see have own know hold receive no")
_IRREGULAR = _set(
    """sent made done built rebuilt paid met found kept left lost sold told given taken written shown known held won
    drawn chosen begun broken brought bought caught frozen hidden hung laid led lent meant overwritten sworn seen
    signed-off spent split-up stolen taught thrown torn understood undone withdrawn worn bound dealt driven eaten
    forgotten gone grown heard proven sewn shut-down spoken stuck swept swollen unlocked"""
)
_NO_PARTICIPLES = _set(
    "need feed seed bed red shed speed embed proceed exceed succeed weed bleed breed heed sled"
)
_NO_GERUNDS = _set(
    "thing string ring king bring spring sting wing sing swing cling ping everything something nothing"
)
_RESULTATIVE = _set("mark get keep have make leave set declare want need hold render find call let help see")
_ASPECT = _set(
    "start stop begin keep try finish continue resume avoid consider practise practice quit remember"
)
_ADJECTIVES = _set(
    """empty full clean green red ready complete valid visible present absent available active idle free stable healthy
    correct online offline unchanged intact current unique public private readable"""
)
_NOUN_ENDING = re.compile(r"(?:tions?|ments?|ness|ity|ances?|ences?|ships?|isms?)$")
_STATUS = re.compile(
    r"(?i)^(?:http |\w+ )?(?:exit|status|return|error|response) (?:code|status)[:= ]+\d+$|^http \d{3}\b"
)
_LABELLED = re.compile(r"(?:[^\s:]+ ){0,2}[^\s:]+: \S+(?: \S+){0,3}")
_QUOTED = re.compile(r"“[^”]*”|„[^“”]*[“”]|\"[^\"]*\"|‘[^’]*’|`[^`]*`|(?<!\w)'[^']*'(?!\w)|«[^»]*»")
_TOKEN = re.compile(r"(?:[^\s,;:]|[:,](?=\S))+|[,;:]")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_FOREIGN = _set(
    """der die das den dem des ein eine einen einem einer ist sind wird wurde wurden liegt im zum zur und nicht auf
    le la les une est sont dans et du aux el los las está están del il gli una è sono"""
)
_FOREIGN_ARTICLES = _set(
    "der die das den dem des ein eine einen einem einer le la les une el los las il gli una"
)
_THING = "\N{BULLET}"
"""What stands for a quotation, a name with a dot or a digit, an address or a number: never a verb."""


def starts_as_order(text: str) -> bool:
    """Whether ``text`` begins with a bare word and its object, whatever the word is: "Reboot the machine"."""
    words = [_known(piece) for piece in _TOKEN.findall(" ".join(text.split()))][:2]
    objects = _ARTICLES | _OBJECT_PRONOUNS
    return len(words) == 2 and _may_be_bare_verb(words[0]) and words[1] in objects


class Said(Enum):
    """What a sentence does."""

    STATE = "state"
    ORDER = "order"
    """An imperative, an infinitive, a promise or a gerund: something to be done."""
    TOO_LITTLE = "too little"
    """Neither a subject with its predicate nor an order that grammar tells from a name."""


@lru_cache(maxsize=2048)
def said_by(text: str) -> Said:
    """What ``text`` says, one sentence."""
    line = " ".join(_QUOTED.sub(_THING, text.replace("’", "'")).split()).rstrip(" .!…")
    if _STATUS.match(line):
        return Said.STATE
    words = [_known(piece) for piece in _TOKEN.findall(line)]
    if _is_foreign(words):
        orders = len(words) > 1 and words[0] not in _FOREIGN and words[1] in _FOREIGN_ARTICLES
        return Said.ORDER if orders else Said.STATE
    clauses = _clauses(words)
    if not clauses:
        return Said.TOO_LITTLE
    if any(_is_order(clause) for clause in clauses):
        return Said.ORDER
    if _LABELLED.fullmatch(line) and line.partition(":")[0].lower().split()[0] not in _LINKS:
        return Said.STATE
    first = _without_links(clauses[0])
    may_be_said = clauses[:1] if first and _may_be_bare_verb(first[0]) else clauses
    return Said.STATE if any(_is_statement(_without_links(c)) for c in may_be_said) else Said.TOO_LITTLE


def _known(piece: str) -> str:
    """A piece in lower case; what is a name, a number or a piece of code becomes :data:`_THING`."""
    bare = piece.strip("()[]{}:?!")
    if piece in ",;:":
        return ","
    capitals = len(bare) > 1 and bare.isupper()
    inner = bare[1:] != bare[1:].lower()
    if not _WORD.fullmatch(bare) or capitals or inner:
        return _THING
    return bare.lower()


def _is_foreign(words: Sequence[str]) -> bool:
    letters = [w for w in words if w not in (_THING, ",")]
    if any(ord(w[0]) > 0x24F for w in letters):
        return True
    english = any(
        w in _AUXILIARIES or w in _STATIVE or w in _PREPOSITIONS - {"in", "an", "per"} for w in letters
    )
    english = english or any(w in ("the", "and", "a") for w in letters)
    return not english and any(w in _FOREIGN for w in letters)


def _clauses(words: Sequence[str]) -> list[list[str]]:
    """The main clauses: parts between commas, one that subordinates or only places what follows left out."""
    parts: list[list[str]] = [[]]
    for word in words:
        if word == ",":
            parts.append([])
        else:
            parts[-1].append(word)
    parts = [part for part in parts if part]
    if len(parts) > 1 and _is_fronted(parts[0]):
        parts = parts[1:]
    return parts


def _is_fronted(part: Sequence[str]) -> bool:
    """Whether a part before a comma only says when, where, why or what for."""
    first = part[0]
    return first in _SUBORDINATORS or first in _PREPOSITIONS or (len(part) == 1 and first in _LINKS)


def _without_links(clause: Sequence[str]) -> list[str]:
    rest = list(clause)
    while rest and (rest[0] in _LINKS or (rest[0].endswith("ly") and rest[0] != "reply" and len(rest) > 1)):
        rest.pop(0)
    return rest


def _is_order(clause: Sequence[str]) -> bool:
    """Whether grammar alone tells an order: an imperative with its object, an infinitive, what a speaker does."""
    rest = _without_links(clause)
    if not rest:
        return False
    first, following = rest[0], rest[1:]
    if first in _SPEAKERS:
        return not _stands(following)
    if first in ("let", "let's", "don't", "do", "to", "have", "be", "make"):
        return bool(following)
    if not _may_be_bare_verb(first):
        return False
    second = following[0] if following else ""
    if second in _ARTICLES or second in _OBJECT_PRONOUNS:
        return True
    if second in _PARTICLES and len(following) > 1 and following[1] in _ARTICLES:
        return True
    return (second == "that" or second in _ASKING) and _finite_verbs(following) < 2


def _stands(words: Sequence[str]) -> bool:
    """Whether what follows "you" or "we" is a state: to be, to have or to see."""
    rest = [w for w in words if not w.endswith("ly") and w not in _LINKS]
    if not rest:
        return False
    modal = rest[0] in _AUXILIARIES and rest[0] not in (
        "is",
        "are",
        "was",
        "were",
        "am",
        "has",
        "have",
        "had",
    )
    if modal:
        return len(rest) > 1 and (rest[1] in _SEEING or rest[1] == "be")
    if rest[0] in ("have", "had") and len(rest) > 1 and rest[1] == "to":
        return False
    return rest[0] in _AUXILIARIES or rest[0] in _SEEING


def _may_be_bare_verb(word: str) -> bool:
    """Whether ``word`` may be the bare form of a verb: an open word without the ending of another form."""
    if (
        word == _THING
        or word in _DETERMINERS
        or word in _PREPOSITIONS
        or word in _AUXILIARIES
        or word in _SPEAKERS
    ):
        return False
    if word in _SUBORDINATORS or word in _EMBEDDING or word in ("half", "not", "again", "here", "per"):
        return False
    return not (_is_plural(word) or _is_participle(word) or _is_gerund(word))


def _is_plural(word: str) -> bool:
    """Whether ``word`` ends as a plural noun or as a verb after he, she, it."""
    return word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3


def _is_participle(word: str) -> bool:
    return word in _IRREGULAR or (word.endswith("ed") and len(word) > 4 and word not in _NO_PARTICIPLES)


def _is_gerund(word: str) -> bool:
    return word.endswith("ing") and len(word) > 4 and word not in _NO_GERUNDS


def _finite_verbs(words: Sequence[str]) -> int:
    """How many auxiliaries and verbs of state there are."""
    return sum(w in _AUXILIARIES or w in _STATIVE for w in words)


def _is_statement(clause: Sequence[str]) -> bool:
    """Whether the clause has a subject and a predicate, or is a quantity or a thing in a place."""
    words = list(clause)
    if not words:
        return False
    first = words[0]
    if first in _SPEAKERS:
        return _stands(words[1:])
    if first in _AUXILIARIES:
        return len(words) > 2
    named = not _may_be_bare_verb(first) and not _is_gerund(first) and not _is_participle(first)
    if _is_participle(first) and len(words) > 1 and words[1] in _PREPOSITIONS | _ARTICLES:
        return True
    if _has_finite_verb(words, named=named):
        return True
    if _is_gerund(first):
        return len(words) > 2 and words[-1] in _ADJECTIVES and words[-2] not in _DETERMINERS
    if named or _NOUN_ENDING.search(first):
        return _has_predicate(words) or _is_place(words) or (first in _NUMBERS and len(words) > 2)
    return first not in _RESULTATIVE and _is_headline(words)


def _has_finite_verb(words: Sequence[str], *, named: bool) -> bool:
    """Whether a finite verb stands outside the clauses that "that", "which" or "when" open."""
    inside = 0
    for position in range(1, len(words)):
        word, before = words[position], words[position - 1]
        if word in _EMBEDDING:
            inside += position > 0
        elif _is_finite(words, position, named=named):
            if not inside:
                return True
            inside -= 1
        elif inside and _is_participle(word) and before not in _AUXILIARIES:
            inside -= 1
    return False


def _is_finite(words: Sequence[str], position: int, *, named: bool) -> bool:
    word, before = words[position], words[position - 1]
    following = words[position + 1] if position + 1 < len(words) else ""
    if word in _AUXILIARIES or word in _STATIVE:
        return True
    if word == "longer" and before == "no":
        return bool(following)
    if before in _ARTICLES or before in _PREPOSITIONS:
        return False
    if _is_plural(word):
        object_follows = following in _DETERMINERS - {"that"} or following == _THING
        return object_follows or (
            named and (not following or following in _PREPOSITIONS or following == "that")
        )
    if _is_participle(word) or _is_gerund(word) or word in _DETERMINERS or word in _PREPOSITIONS:
        return False
    plural = (_is_plural(before) or before == "they") or (named and before == _THING and position > 1)
    if not plural or word == _THING or word in _LINKS:
        return False
    return following in _ARTICLES or (named and (not following or following in _PREPOSITIONS))


def _has_predicate(words: Sequence[str]) -> bool:
    """Whether a participle or an adjective of state is said of what stands before it, in no subordinate clause."""
    ends_at = next((n for n, w in enumerate(words) if n and w in _EMBEDDING), len(words))
    words = words[:ends_at]
    for position in range(1, len(words)):
        word, before = words[position], words[position - 1]
        following = words[position + 1] if position + 1 < len(words) else ""
        if before in _DETERMINERS or before in _PREPOSITIONS:
            continue
        ends = not following or following in _PREPOSITIONS or following in _LINKS or following.endswith("ly")
        if ends and (_is_participle(word) or _is_gerund(word) or (word in _ADJECTIVES and not following)):
            return True
        if word in _LIMITS and following == _THING:
            return True
    return False


def _is_headline(words: Sequence[str]) -> bool:
    """Whether a bare noun and its predicate stand in headline style: "Payment received", "Inbox empty"."""
    if len(words) > 1 and words[0] in _ASPECT and _is_gerund(words[1]):
        return False
    return _has_predicate(words)


def _is_place(words: Sequence[str]) -> bool:
    """Whether a thing is named with its place: "PDF in the folder Reports"."""
    return any(w in _PLACES for w in words[1:-1])
