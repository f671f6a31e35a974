"""A request with another verb of the same meaning: "total the invoices" is "sum the invoices".

A verb with a particle (write down, set up, put together) is a verb of its own and is exchanged as a whole: what says
the same as "write" says nothing of "write down".
"""

import re

from domain.abilities.fit.verbs import families_of, other_words_for, with_particle
from domain.learning.commands.command_line import name_set

_WHOLE = {
    "add up": "total", "back up": "save a copy of", "boil down": "condense", "break down": "split",
    "break up": "split", "carry out": "perform", "clean up": "tidy", "copy out": "extract", "draw up": "draft",
    "figure out": "work out", "fill in": "complete", "fill out": "complete", "find out": "determine",
    "get rid of": "remove", "look for": "search for", "look up": "find", "make up": "compose",
    "note down": "write down", "pick out": "select", "pull out": "extract", "put away": "file",
    "put together": "assemble", "roll back": "undo", "roll out": "deploy", "search for": "look for",
    "set up": "prepare", "shut down": "stop", "sort out": "put in order", "speed up": "accelerate",
    "sum up": "summarise", "switch off": "turn off", "switch on": "turn on", "take away": "remove",
    "take out": "extract", "throw away": "delete", "throw out": "delete", "tidy up": "clean up",
    "turn off": "switch off", "turn on": "switch on", "work out": "calculate", "write down": "note down",
    "write up": "draft", "zip up": "zip",
}  # fmt: skip
"""What says the same as a verb and its particle together, of an object as well as of work."""

_PARTICLES = name_set(
    """up down out off over away back together apart aside along around through in on at for with to by into from
    about of rid"""
)
"""Words that right behind a verb belong to it, and not to an object."""

_LATE = frozenset({"up", "down", "out", "off", "away", "back", "together", "apart"})
"""Particles that may stand behind the object: "write the loans down"."""

_OF_MANY_SENSES = name_set("run take put keep give turn bring hold work cut call mark check file merge")
"""Verbs that mean what their object makes of them: a report is run, but never started or launched."""

_NEAR_ONLY = name_set("note search unload construct enumerate rank author boot trace")
"""Verbs that find a skill as well, but say the same of some objects only: to search the photos is not to find them."""

_UNCERTAIN = frozenset({"get", "set"})
"""Families whose verbs say next to nothing of the work: who puts the jobs beside the customers does not give them."""

_CLAUSE_END = re.compile(r"[,;:]\s|\s(?:and|then|so|until)\s")


def reworded(request: str) -> list[str]:
    """The request with other verbs of the same meaning, at most two; none where the verb's sense is not certain."""
    verb, _, rest = request.partition(" ")
    verb = verb.lower()
    if not rest or not verb.isalpha():
        return []
    whole, behind = _with_its_particle(verb, rest)
    if whole:
        return [f"{_WHOLE[whole]} {behind}"] if whole in _WHOLE and behind else []
    clause = _clause(rest)
    if with_particle(verb, clause) or _LATE.intersection(clause) or verb in _OF_MANY_SENSES:
        return []
    if families_of(verb) & _UNCERTAIN:
        return []
    others = {other.replace("ise", "ize"): other for other in reversed(other_words_for(verb))}
    return [f"{other} {rest}" for other in reversed(others.values()) if other not in _NEAR_ONLY]


def _with_its_particle(verb: str, rest: str) -> tuple[str, str]:
    """The verb with its particle, and what it is done to; empty for a verb without one."""
    words = rest.split()
    if words[0].lower() in _PARTICLES:
        count = 2 if " ".join((verb, *words[:2])).lower() in _WHOLE else 1
        return " ".join((verb, *words[:count])).lower(), " ".join(words[count:])
    clause = _clause(rest)
    if len(clause) > 1 and clause[-1] in _LATE:
        return f"{verb} {clause[-1]}", " ".join((*words[: len(clause) - 1], *words[len(clause) :]))
    return "", ""


def _clause(rest: str) -> list[str]:
    """The words up to the next clause, in lower case."""
    return _CLAUSE_END.split(f"{rest} ", maxsplit=1)[0].lower().split()
