"""Goals said again as people do: the same words with others around them.

The tables hold requests in other words than the goal. A model that sees only those learns that a request in the
same words asks for something else, as near misses share most words with a goal.
"""

import random
import re
from collections.abc import Iterable, Sequence

LEADS = (
    "", "", "", "", "please ", "can you ", "could you ", "could you please ", "i need to ", "i want to ", "we have to ",
    "help me ", "help me to ", "time to ", "let's ", "i'd like you to ", "go and ",
)  # fmt: skip
ENDS = ("", "", "", "", "", " for me", " please", " again", " now", "?", ".")

_EACH = ("of each", "for each", "of every", "for every", "per", "by")
_SMALL_WORDS: Sequence[tuple[str, Sequence[str]]] = (
    (r"\b(?:of|for) (?:each|every)\b|\bper\b", _EACH),
    (r"\b(?:the|my|our|its|their)\b ", ("the ", "my ", "our ", "these ", "", "")),
    (r"\b(?:a|an)\b ", ("a ", "some ", "one ", "")),
    (r"\bthat are\b", ("which are", "that are")),
    (r"\binto\b", ("into", "to")),
    (r"\baccording to\b|\bby\b", ("by", "by", "according to")),
    (r"\ball (?:the )?", ("all ", "all the ", "all of the ", "every one of the ")),
    (r"\bthat have\b", ("with", "that have")),
)
CHANGED = 0.6
"""How often small words are changed where they can be."""


def restated(goal: str, chance: random.Random) -> str:
    """What the goal says, in another sentence of the same content words."""
    said = goal[:1].lower() + goal[1:].rstrip(".")
    for pattern, others in _SMALL_WORDS:
        if chance.random() < CHANGED:
            said = re.sub(pattern, chance.choice(others), said)
    return f"{chance.choice(LEADS)}{said}{chance.choice(ENDS)}"


_LAST_PART = re.compile(
    r"(.{25,}?)(?:, | (?:with|in|from|for|of each|per|by|into|as|after|before) )[^,]{3,45}"
)


def shortened(goal: str) -> str:
    """The goal without its last part, where it is long enough to be understood then; people say less than they know."""
    found = _LAST_PART.fullmatch(goal)
    return found[1] if found else goal


def said_again(groups: Iterable[Sequence[str]], chance: random.Random) -> list[tuple[str, list[str]]]:
    """For each goal of groups of goals: itself said again, and the others of its group."""
    return [
        (
            restated(goal, chance),
            [restated(other, chance) for place, other in enumerate(group) if place != number],
        )
        for group in groups
        for number, goal in enumerate(group)
    ]
