"""Spells a request for reading: lower case, one token a word, file names taken apart, pairs of words as one."""

import re
from collections.abc import Sequence

from domain.abilities.fit.verbs import PARTICLE_WITHIN, with_particle
from domain.abilities.fit.words import is_content, word_of

_SPLIT = re.compile(r"[.,;:!?](?=\s|$)|[\w'’]+(?=[^\w'’])|[\w'’]+")
_LEAD = re.compile(
    r"^(?:it'?s (?:that )?time (?:again|to)\b[:,]?|(?:the )?same as last time[:,]?|i need the usual\b"
    r"|could you do this for me[:,]?|(?:now )?the same for\b|do the usual\b)\s*",
)
_FIXED = (
    ("how many", "how_many"), ("how much", "how_much"), ("how often", "how_often"), ("how long", "how_many"),
    ("what changed", "what_changed"), ("what has changed", "what_changed"),
    ("what is different", "what_changed"), ("what's different", "what_changed"), ("goes wrong", "error"),
    ("went wrong", "error"), ("go wrong", "error"), ("web site", "website"), ("web page", "website"),
    ("web pages", "website"), ("time sheet", "timesheet"), ("time sheets", "timesheet"),
    ("change log", "changelog"), ("data base", "database"), ("webserver", "web server"),
    ("only once", "duplicate"), ("file name", "filename"), ("file names", "filename"),
    ("a to z", "alphabetical"), ("merge conflict", "conflict"), ("merge conflicts", "conflict"),
    ("working time", "hours"), ("only show", "show_only"), ("out of", "from"), ("according to", "by"),
    ("in front of", "before"), ("instead of", "without"), ("such as", "like"), ("so that", "so"),
    ("virtual environment", "venv"), ("address book", "addressbook"), ("operating system", "os"),
    ("read me", "readme"), ("e mail", "email"), ("e mails", "email"), ("plain text", "plaintext"),
)  # fmt: skip
"""Words that are written apart and mean one thing, and turns of phrase in a plainer word."""
_JOINED = frozenset({"up", "into", "together", "away", "apart", "down", "back", "smaller", "small", "faster", "fast",
                     "executable", "private", "names", "name", "rid", "online", "sure"})  # fmt: skip
"""Second words of a verb that may stand far behind it; others stand at most two words behind."""
_MARKS = frozenset(".,;:!?")


def one_line(text: str) -> str:
    """``text`` in lower case, its runs of white space as one space."""
    return " ".join(text.lower().replace("’", "'").split())


def without_lead(text: str) -> str:
    """``text`` in lower case on one line, without an opening such as "it's that time again:"."""
    return _LEAD.sub("", one_line(text))


def spelled(text: str) -> list[str]:
    """Tokens and marks, with fixed pairs of words as one."""
    lowered = without_lead(text)
    lowered = re.sub(r"(?<=\w)[-_/.](?=\w)|(?<!\w)\.(?=\w)", " ", lowered)
    for pair, one in _FIXED:
        if pair in lowered:
            lowered = re.sub(rf"\b{re.escape(pair)}\b", one, lowered)
    found = [match.group(0).removesuffix("'s") for match in _SPLIT.finditer(lowered)]
    return _joined([token for token in found if token.strip("_'")])


def _joined(found: list[str]) -> list[str]:
    """The tokens with verbs of two words as one."""
    position = 0
    while position < len(found):
        rest = found[position + 1 : position + 1 + PARTICLE_WITHIN]
        mark = next((i for i, token in enumerate(rest) if token in _MARKS), len(rest))
        near = [token for i, token in enumerate(rest[:mark]) if i < 3 or token in _JOINED]
        one = with_particle(found[position], near)
        if one is not None:
            second = _second(found[position], near)
            found[position] = one
            if second != "into":
                found.pop(found.index(second, position + 1))
        position += 1
    return found


def _second(verb: str, near: Sequence[str]) -> str:
    return next(token for token in near if with_particle(verb, (token,)) is not None)


def telling_words(text: str) -> frozenset[str]:
    """The meanings by which ``text`` is found: of its content words and verbs, or of all words where it has none."""
    found = spelled(text)
    telling = [token for token in found if is_content(token) and token not in _MARKS] or found or [text]
    words = [word_of(part) for token in telling for part in {token, *token.split("_")}]
    return frozenset(word.meaning for word in words) | {word.kind for word in words if word.kind}
