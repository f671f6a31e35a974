"""Say what is true once a step with a given label is done: "Open the export dialog" leads to an open dialog."""

import re

from contracts.base import clipped
from domain.learning.checkpoints.checkpoint_lint import is_semantic
from domain.learning.interpretation.naming import is_verb, upper_first, without_stop
from domain.learning.interpretation.statements import Said, said_by, starts_as_order

_PARTICIPLES = {
    "open": "open", "start": "running", "run": "finished", "get": "there", "put": "in place", "show": "shown",
    "view": "shown", "back": "backed up", "begin": "begun", "bind": "bound", "break": "broken", "bring": "brought",
    "build": "built", "rebuild": "rebuilt", "buy": "bought", "catch": "caught", "choose": "chosen", "cut": "cut",
    "do": "done", "draw": "drawn", "drive": "driven", "feed": "fed", "find": "found", "freeze": "frozen",
    "give": "given", "grind": "ground", "hang": "hung", "hide": "hidden", "hold": "held", "keep": "kept",
    "lay": "laid", "lead": "led", "leave": "left", "lend": "lent", "light": "lit", "make": "made", "meet": "met",
    "overwrite": "overwritten", "pay": "paid", "read": "read", "reset": "reset", "ring": "rung", "sell": "sold",
    "send": "sent", "set": "set", "shake": "shaken", "shut": "shut", "spend": "spent", "split": "split",
    "spread": "spread", "sweep": "swept", "take": "taken", "teach": "taught", "tell": "told", "undo": "undone",
    "wind": "wound", "withdraw": "withdrawn", "write": "written", "rewrite": "rewritten", "see": "shown",
}  # fmt: skip

_DOUBLING = frozenset({"submit", "unzip", "commit", "unplug", "defer", "refer"})

_ONE_SYLLABLE = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")

_PARTICLES = frozenset({"up", "down", "off", "out", "away", "on", "over"})

_FILLED_IN = frozenset({"fill", "hand", "turn", "plug", "type"})
"""Verbs that "in" belongs to; with others it begins a place."""

_LEADS_NOWHERE = frozenset(
    {"let", "keep", "have", "leave", "help", "ask", "want", "need", "remember", "wait"}
)
"""Verbs whose participle says nothing of what is true afterwards."""

_GESTURES = frozenset({"click", "press", "tap", "type", "hit", "drag", "scroll", "hover"})

_ARTICLE = re.compile(r"^(?:the|a|an|all|my|our|your)\s+", re.IGNORECASE)

_PLURAL = re.compile(r"(?<![su])s$", re.IGNORECASE)

_NO_OBJECT = frozenset(
    {
        "and",
        "or",
        "then",
        "to",
        "it",
        "if",
        "that",
        "this",
        "up",
        "in",
        "on",
        "for",
        "with",
        "them",
        "him",
        "her",
    }
    | {
        "us",
        "me",
        "sure",
        "certain",
        "whether",
        "which",
        "who",
        "how",
        "what",
        "where",
        "why",
        "every",
        "both",
    }
)
"""What a verb's object does not begin with, or not so that "The … is" could stand before it."""

_ARTICLES = frozenset({"a", "an", "the", "my", "your", "our"})

_BEFORE_AN_ARTICLE = frozenset(
    {
        "to",
        "from",
        "in",
        "into",
        "on",
        "onto",
        "for",
        "with",
        "by",
        "of",
        "as",
        "at",
        "and",
        "or",
        "under",
        "over",
    }
)


def state_of(label: str) -> str | None:
    """What is true once the step so labelled is done; ``None`` where no honest wording is found.

    "Open the export dialog" becomes "The export dialog is open"; a label that is a state already stays.
    """
    line = without_stop(label)
    words = line.split()
    if not words:
        return None
    verb = words[0].lower()
    if verb in _GESTURES:
        return None
    if said_by(line) is Said.STATE:
        state = upper_first(line)
        return clipped(state, 240) if is_semantic(state) and len(words) > 1 else None
    rest = words[1:]
    particle = ""
    if len(rest) > 1 and (rest[0] in _PARTICLES or (rest[0] == "in" and verb in _FILLED_IN)):
        particle = f" {rest.pop(0)}"
    if verb in _LEADS_NOWHERE or not (is_verb(verb) or starts_as_order(f"{verb} {' '.join(rest)}")):
        return None
    named = _ARTICLE.sub("", " ".join(rest))
    if not named or "," in named or _has_two_objects(named) or named.split()[0].lower() in _NO_OBJECT:
        return None
    noun = re.split(r"\s(?:to|from|in|into|on|for|with|by|of|as|at)\s", named, maxsplit=1)[0]
    linking = "are" if _PLURAL.search(noun) else "is"
    became = f"{verb}ed{particle}" if verb == "back" and particle else f"{participle(verb)}{particle}"
    state = clipped(f"The {named} {linking} {became}", 240)
    return state if is_semantic(state) else None


def participle(verb: str) -> str:
    """The past participle of a verb, or the state it leads to."""
    if verb in _PARTICIPLES:
        return _PARTICIPLES[verb]
    if verb in _DOUBLING or _ONE_SYLLABLE.fullmatch(verb):
        return f"{verb}{verb[-1]}ed"
    if verb.endswith("e"):
        return f"{verb}d"
    return f"{verb[:-1]}ied" if re.search(r"[^aeiou]y$", verb) else f"{verb}ed"


def _has_two_objects(named: str) -> bool:
    """Whether a second object follows without a preposition: "guest a key"."""
    words = named.lower().split()
    return any(w in _ARTICLES and words[n] not in _BEFORE_AN_ARTICLE for n, w in enumerate(words[1:]))
