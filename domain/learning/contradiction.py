"""Whether two statements of a state say the same, or the opposite of each other."""

import re
from functools import lru_cache

_WORD = re.compile(r"[\w./-]+")
_FILLERS = frozenset(
    {"the", "a", "an", "now", "then", "is", "are", "be", "does", "do", "has", "have", "been", "it"}
)
_NEGATIONS = frozenset({"not", "no", "never", "longer", "without", "cannot"})
_OPPOSITES = {
    "absent": "exist",
    "missing": "exist",
    "gone": "exist",
    "deleted": "exist",
    "removed": "exist",
    "present": "+exist",
    "exists": "+exist",
    "exist": "+exist",
}
_ANTONYMS = {
    "closed": "open",
    "disabled": "enabled",
    "hidden": "visible",
    "off": "on",
    "unchecked": "checked",
    "deselected": "selected",
    "unselected": "selected",
    "unlocked": "locked",
    "stopped": "running",
    "offline": "online",
}


def same_state(first: str, second: str) -> bool:
    """Whether both state the same, spelling, articles and punctuation aside."""
    return _meaning(first, False) == _meaning(second, False)


def contradict(first: str, second: str, *, antonyms: bool = False) -> bool:
    """Whether one states what the other denies.

    Opposite words such as open and closed count only with ``antonyms``: a dialog may well be open at one
    checkpoint and closed at the next, but a lasting thing is not first there and then absent.
    """
    words, holds = _meaning(first, antonyms)
    other_words, other_holds = _meaning(second, antonyms)
    return words == other_words and holds != other_holds and bool(words)


@lru_cache(maxsize=512)
def _meaning(text: str, antonyms: bool) -> tuple[tuple[str, ...], bool]:
    """The words that carry the statement, and whether it affirms them."""
    holds = True
    words: list[str] = []
    cleaned = text.casefold().replace("n't", " not").replace("n’t", " not")
    for raw in _WORD.findall(cleaned):
        word = raw.strip("./-")
        if word in _NEGATIONS:
            holds = holds if word == "longer" else not holds
        elif word in _OPPOSITES:
            target = _OPPOSITES[word]
            holds = holds if target.startswith("+") else not holds
            words.append(target.lstrip("+"))
        elif antonyms and word in _ANTONYMS:
            holds = not holds
            words.append(_ANTONYMS[word])
        elif word and word not in _FILLERS:
            words.append(word)
    return tuple(words), holds
