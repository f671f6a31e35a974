"""Putting what was done into words for what is then true."""

import re

from contracts.base import clipped
from domain.learning.lint import is_semantic
from domain.learning.lint_patterns import is_headline
from domain.learning.naming import is_verb, plain, without_stop

PATH_SHOWN = 80
"""The most characters of a path in a sentence; a longer one is shown by its end."""

_PARTICIPLES = {
    "open": "open", "start": "running", "send": "sent", "build": "built", "rebuild": "rebuilt",
    "make": "made",
    "put": "in place", "set": "set", "read": "read", "write": "written", "draw": "drawn", "cut": "cut",
    "give": "given", "keep": "kept", "find": "found", "get": "there", "split": "split", "back": "backed up",
    "log": "logged", "run": "finished", "show": "shown", "reset": "reset", "view": "shown",
}  # fmt: skip
_DOUBLING = frozenset({"stop", "trim", "crop", "plan", "plot", "scan", "tag", "zip", "unzip", "submit"})
_GESTURES = frozenset({"click", "press", "tap", "type", "hit", "drag", "scroll", "hover"})
_ARTICLE = re.compile(r"^(?:the|a|an|all|my|our|your)\s+", re.IGNORECASE)
_PLURAL = re.compile(r"(?<![su])s$", re.IGNORECASE)
_LINKING = frozenset({"and", "or", "then", "to", "it", "if", "that", "up", "in", "on", "for", "with"})


def state_of(label: str) -> str | None:
    """What is true once the step so labelled is done; ``None`` where no honest wording is found.

    "Open the export dialog" becomes "The export dialog is open"; a label that is a state already stays.
    """
    line = without_stop(label)
    words = line.split()
    if not words:
        return None
    verb = words[0].lower()
    if verb not in _GESTURES and (not is_verb(verb) or is_headline(line)):
        state = line[0].upper() + line[1:]
        return clipped(state, 240) if is_semantic(state) and " " in state else None
    rest = _ARTICLE.sub("", " ".join(words[1:]))
    if verb in _GESTURES or not rest or rest.split()[0].lower() in _LINKING or "," in rest:
        return None
    noun = re.split(r"\s(?:to|from|in|into|on|for|with|by|of|as|at)\s", rest, maxsplit=1)[0]
    linking = "are" if _PLURAL.search(noun) else "is"
    state = clipped(f"The {rest} {linking} {participle(verb)}", 240)
    return state if is_semantic(state) else None


def participle(verb: str) -> str:
    """The past participle of a common verb, or the state it leads to."""
    if verb in _PARTICIPLES:
        return _PARTICIPLES[verb]
    if verb in _DOUBLING:
        return f"{verb}{verb[-1]}ed"
    if verb.endswith("e"):
        return f"{verb}d"
    return f"{verb[:-1]}ied" if re.search(r"[^aeiou]y$", verb) else f"{verb}ed"


def shown_path(path: str) -> str:
    """``path`` as it may stand in a sentence: on one line, the start of a long one left out."""
    line = plain(path)
    return line if len(line) <= PATH_SHOWN else f"…{line[1 - PATH_SHOWN :]}"


def may_be_shown(path: str) -> bool:
    """Whether a file's name can stand in a skill: it reads as a name and holds nothing personal."""
    return bool(plain(path)) and is_semantic(f"The file {shown_path(path)} exists")
