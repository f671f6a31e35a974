"""Contrasts of a request and an ability that no likeness shows: the contrary choice, the way back, a denial.

Two texts that differ by "newest" and "oldest" are nearly the same to a sentence model. The words here are the common
opposites of choosing in English, none of them taken from a table of requests.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

_CHOICES = """
    newest newer latest recent new last youngest / oldest older old earliest first stale; first begin start
    beginning top / last end final bottom tail; most more largest biggest highest longest maximum best larger
    bigger longer higher above over / least fewest smallest lowest shortest minimum worst smaller shorter lower
    below under; all every each whole entire / one single only; before / after; with / without; inside /
    outside; local / remote; public / private; open / closed; random chance shuffled / sorted order ordered
    alphabetical; more / less fewer; up / down; horizontal / vertical; present existing / missing lacking
    absent; valid good correct / invalid bad broken wrong; same equal identical matching / different differing
    differ; duplicate double twice / unique single; used / unused; active / inactive; tracked / untracked; read
    / unread; paid / unpaid; known / unknown; merged / unmerged; left / right; day / night; increase raise /
    decrease lower; empty / full
"""
_DENIALS = frozenset({"no", "not", "without", "none", "never", "nobody", "nothing", "missing", "neither"})
_KINDS = {
    "look": "show find filter count compute summarise compare verify query monitor explain sort group test ask rate",
    "change": "update replace fix add clean rename set permit number mark hide sign crop rotate resize enlarge fill "
    "dedupe optimise merge encode encrypt decrypt move commit restore enable disable",
    "remove": "delete disable cancel stop",
    "give": "send upload print remind release reply claim download",
    "make": "make write build draw convert export copy backup pack unpack split extract translate transcribe book "
    "plan install import record",
    "run": "start stop restart",
}
"""What families of verbs leave behind: nothing, something changed, less, something elsewhere, something new."""

_WORD = re.compile(r"[a-z']+")
_CHOSEN = re.compile(r"(?<!^)\b(?:that|which|who|whose|where|when)\b(.*)", re.DOTALL)

KINDS = tuple(_KINDS)


def plain_words(text: str) -> frozenset[str]:
    """The words of a text in lower case, stop words among them."""
    return frozenset(_WORD.findall(text.lower()))


def contrary(request: frozenset[str], said: frozenset[str]) -> int:
    """How many choices of the request are the contrary of what is said, and of nothing else that is said."""
    return sum(
        bool(request & one and not request & other and said & other and not said & one)
        for pair in _PAIRS
        for one, other in (pair, pair[::-1])
    )


def goes_back(request: frozenset[str], said: frozenset[str]) -> bool:
    """Whether the request alone speaks of going back."""
    return "back" in request and "back" not in said


def denies(request: frozenset[str]) -> bool:
    """Whether something is denied."""
    return bool(request & _DENIALS)


def chosen_by(request: str) -> str:
    """What follows "that", "which" or "who": which ones are meant; empty where nothing does."""
    found = _CHOSEN.search(request.lower())
    return found[1] if found else ""


@lru_cache(4096)
def kinds_of(families: frozenset[str]) -> tuple[float, ...]:
    """The share of each of ``KINDS`` in the work of these families; all 0 where none is known."""
    known = [one for one in KINDS if families & _FAMILIES_OF[one]]
    return tuple(1 / len(known) if one in known else 0.0 for one in KINDS)


def shared_kinds(wanted: Iterable[float], does: Iterable[float]) -> float:
    """The share of the kinds wanted that are done; a half where none is known."""
    pairs = [(one, other) for one, other in zip(wanted, does, strict=True) if one]
    return sum(bool(other) for _, other in pairs) / len(pairs) if pairs else 0.5


_FAMILIES_OF = {kind: frozenset(families.split()) for kind, families in _KINDS.items()}
_PAIRS = tuple(
    (frozenset(one.split()), frozenset(other.split()))
    for one, _, other in (pair.partition("/") for pair in _CHOICES.split(";"))
)
