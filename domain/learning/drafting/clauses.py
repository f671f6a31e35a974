"""Main clauses of a request that stand by themselves: "count the rows of the tables" of a goal of several clauses.

A clause that points to something outside of itself ("list them in groups", "keep its output") is no request alone. It
gets the noun in the pronoun's place where that is certain: "check the delivered zip, take the tables out of it".
"""

import re
from collections.abc import Iterator

from domain.abilities.fit.verbs import families_of
from domain.learning.commands.command_line import name_set
from domain.learning.interpretation.naming import is_verb

_CUT = re.compile(r"\s*[;:]\s+|\s*,\s+(?:(?:and|then|so)\s+)*|\s+(?:(?:and|then)\s+)+")
_DETERMINERS = name_set(
    """a an the my our your all each every both only this these that those its their his her it them no any two three
    four five what which who how where when"""
)
_WORD = re.compile(r"[^\s,;:()]+")
_COORDINATED = re.compile(r"[\w-]+(?:,? (?:and|then|or) [\w-]+)?")
_PRONOUNS = name_set("it them they")
_POINTING = name_set("those these this that both ones each")
"""Words that point to something where no noun is behind them."""

_OWNING = name_set("its their his her")
_SMALL = _DETERMINERS | name_set(
    "of in into for from to by on onto at with about without as and or then so per up out off down away together new"
)
_SINGLE = re.compile(r"(?:the|a|an|this|that|my|our|your) ((?:[\w'’.-]+ ){0,3}[\w'’.-]+)")
_BROKEN_OFF = name_set(
    "of in into for from to by on onto at with about without that which who where when as per than"
)
"""Words behind which a noun is no longer the whole of what the clause is done to."""

_TELLING = 2
"""The fewest words that say something besides the verb: "keep a list" fits every work."""


def clauses_of(request: str) -> list[str]:
    """The main clauses that stand by themselves, in order; none of a request of one clause."""
    pieces = list(_split(" ".join(request.split())))
    if len(pieces) < 2:
        return []
    found: list[str] = []
    before = ""
    for piece in pieces:
        alone = _alone(piece, before)
        opens = _opens_clause(piece) if before else _begins_with_verb(piece)
        if alone and opens and "(" not in alone and ")" not in alone:
            found.append(alone)
        before = piece
    return found


def _split(request: str) -> Iterator[str]:
    start = 0
    for cut in _CUT.finditer(request):
        left = request[start : cut.start()].strip()
        ends_sentence = cut[0].strip()[:1] in (";", ":")
        if not left or not (ends_sentence or (_opens_clause(request[cut.end() :]) and not _is_open(left))):
            continue
        yield left
        start = cut.end()
    yield request[start:].strip(" .,;:")


def _opens_clause(text: str) -> bool:
    """Whether a verb and what it is done to come next: "list them", "commit and tag it", no "sum and average of"."""
    verbs = _COORDINATED.match(text)
    words = _WORD.findall(text)
    if not verbs or not words or not _is_imperative(words[0]):
        return False
    behind = _WORD.findall(text[len(words[0]) :])
    if len(behind) > 2 and behind[0] in ("and", "then") and _is_imperative(behind[1]):
        behind = behind[2:]
    return bool(behind) and behind[0].lower() in _DETERMINERS


def _is_open(left: str) -> bool:
    """Whether the words before a cut end with a verb: "sort and count the rows" is one clause."""
    last = left.rsplit(" ", 1)[-1]
    return _is_imperative(last) and (last == left or left.split()[-2].lower() in ("to", "and", "or", "then"))


def _is_imperative(word: str) -> bool:
    word = word.lower()
    return is_verb(word) or (bool(families_of(word)) and not word.endswith(("s", "ed", "ing")))


def _begins_with_verb(clause: str) -> bool:
    return _is_imperative(clause.split(" ", 1)[0])


def _alone(clause: str, before: str) -> str | None:
    """The clause as it is said alone; None where it points elsewhere or says too little."""
    said = _with_noun(clause, before)
    words = [word.lower() for word in _WORD.findall(said)]
    if len([word for word in words[1:] if word not in _SMALL]) < _TELLING:
        return None
    if _PRONOUNS & {*words} or words[-1] in _POINTING or "same" in words:
        return None
    owning = next((at for at, word in enumerate(words) if word in _OWNING), 0)
    # "An archive with the date in its name" says itself whose name, "keep its output" does not.
    return said if not owning or any(one not in _SMALL for one in words[1:owning]) else None


def _with_noun(clause: str, before: str) -> str:
    """The clause with the noun for its pronoun, where the clause before names nothing else and the number is right."""
    found = [word for word in _WORD.findall(clause) if word.lower() in _PRONOUNS]
    noun = _object_alone(before)
    if len(found) != 1 or noun is None or _is_many(noun) == (found[0].lower() == "it"):
        return clause
    return re.sub(rf"\b{found[0]}\b", lambda _: noun, clause, count=1)


def _object_alone(clause: str) -> str | None:
    """What a clause of a verb and nothing but one noun is done to; None for any other clause."""
    verb, _, rest = clause.partition(" ")
    words = rest.lower().split()
    if not _is_imperative(verb) or not _SINGLE.fullmatch(rest) or _BROKEN_OFF & {*words} or "and" in words:
        return None
    article, _, noun = rest.partition(" ")
    return f"the {noun}" if article.lower() in ("a", "an") else rest


def _is_many(noun: str) -> bool:
    return noun.endswith("s") and not noun.endswith(("ss", "us", "is"))
