"""Names of the parameters of one demonstration beside each other: ``room`` and ``new_room``, ``old_guests_file``.

What a value is called after never is another value, and what tells two of one name apart stands in the name.
"""

import posixpath
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile

from domain.abilities.fit.verbs import families_of
from domain.learning.commands.command_line import name_set
from domain.learning.interpretation.naming import identifier, is_verb, underscored

GOAL_WORD = re.compile(r"[\w][\w./-]*[\w]|\w")
"""A word of a goal, a name of a file as a whole."""

LITTLE = name_set(
    """a an and as at by for from in into is it its no not of off on or our so that the their them then they this
    to up with without all each every one new called named now"""
)
"""Words that no value is called after."""

_AGAINST = name_set("instead than except without not before after over under below above")
"""Words behind which something else begins: in "the trip instead of DSC" nothing is called DSC."""

_BEFORE_A_VERB = name_set("and then please to or now")
_NO_NOUNS = name_set("everywhere throughout always only also just place lieu stead")
_NO_NAME = "value"

_REPLACED = (
    r"\bs([/|,#:@!])(?:(?!\1).)*?{old}(?:(?!\1).)*\1(?:(?!\1).)*?{new}",
    r"\$\{{\w+//?[^/}}]*?{old}[^/}}]*/[^}}]*?{new}",
    r"\bg?sub\(\s*[/\"'][^,]*?{old}[^,]*,[^,)]*?{new}",
    r"\breplace\([^)]*?['\"]{old}['\"]\s*,\s*['\"]{new}['\"]",
    r"(?i:\bset)\s+\w+\s*=\s*['\"]?{new}\b.*?(?i:\bwhere)\b.*?['\"]?{old}\b",
    r"\b(?:mv|branch\s+-[mM]|rename\s+(?:column|to)|remote\s+rename)\b[^;|&\n]*?{old}\S*\s+(?:[^;|&\n]*/)?['\"]?{new}",
    r"\brename\s+['\"]?{old}['\"]?\s+['\"]?{new}",
    r"(?i:\brename\s+(?:column\s+)?){old}\s+(?i:to)\s+{new}",
)
"""How commands put one value in the place of another."""


def noun_before(words: Sequence[str], position: int, values: Collection[str] = ()) -> str:
    """The noun of a goal that the word at ``position`` is called after; empty where there is none.

    Neither a verb nor one of the ``values``: "the rooms Linden and Maple" are two rooms.
    """
    behind = takewhile(lambda at: words[at].lower() not in _AGAINST, reversed(range(position)))
    for at in behind:
        word = words[at]
        if word.lower() in LITTLE | _NO_NOUNS or word in values:
            continue
        return "" if _is_verb_at(words, at) or not word.isalpha() else identifier(word)
    return ""


def named_beside(
    names: Mapping[str, str], numbers: Collection[str], goal: str, lines: Sequence[str]
) -> dict[str, str]:
    """The names of values, each as it was found by itself, so that they tell what differs.

    A value that takes another's place, of which the goal names both, is ``new_`` and the name of the other; where no
    noun names that one they are ``old_text`` and ``new_text`` (``old_value`` and ``new_value`` where the values are
    ``numbers``).
    """
    found = dict(names)
    words: list[str] = GOAL_WORD.findall(goal)
    known = {underscored(value) for value in names}
    paired: set[str] = set()
    for old in names:
        for new in names:
            said = old in words and new in words and not {old, new} & paired
            if not said or old == new or not _takes_place_of(new, old, lines):
                continue
            paired |= {old, new}
            own = "" if found[old] in known | {_NO_NAME} else found[old]
            noun = own or noun_before(words, words.index(old), names)
            kind = "value" if {old, new} <= {*numbers} else "text"
            found[old], found[new] = (noun, f"new_{noun}"[:40]) if noun else (f"old_{kind}", f"new_{kind}")
    _told_apart(found)
    spoken = {underscored(value) for value in names if value in words}
    for value, name in found.items():
        if name in spoken - {underscored(value)}:
            found[value] = _NO_NAME
    return found


def _is_verb_at(words: Sequence[str], position: int) -> bool:
    """Whether a word is a verb: one that may be, where a clause begins or behind a plural: "in all letters change"."""
    word = words[position].lower()
    before = words[position - 1].lower() if position else ""
    if not before or before in _BEFORE_A_VERB:
        return is_verb(word) or bool(families_of(word))
    return is_verb(word) and before.endswith("s") and before not in LITTLE


def _takes_place_of(new: str, old: str, lines: Sequence[str]) -> bool:
    """Whether a command replaces ``old`` by ``new``."""
    begins, ends = r"(?<![^\W_])", r"(?![^\W_])"
    # The letter of ``\b`` before a value is none of its own.
    bounds = {
        "old": rf"(?:{begins}|(?<=\\[bBwWsS<])){re.escape(old)}{ends}",
        "new": rf"{begins}{re.escape(new)}{ends}",
    }
    return any(re.search(form.format_map(bounds), line) for form in _REPLACED for line in lines)


def _told_apart(found: dict[str, str]) -> None:
    """Puts the folder or the ending of files of one stem in their names."""
    alike: dict[str, list[str]] = {}
    for value, name in found.items():
        if name.endswith("_file"):
            alike.setdefault(name, []).append(value)
    for name, paths in alike.items():
        if len(paths) > 1:
            found |= _by_folder(name, paths) or _by_ending(name, paths) or {}


def _by_folder(name: str, paths: Sequence[str]) -> dict[str, str]:
    """The names with the part of the folder that differs; none where no part does, or it begins with a digit."""
    parts = [posixpath.dirname(path).split("/") for path in paths]
    for depth in range(1, max(map(len, parts)) + 1):
        differing = [underscored(one[-depth]) if depth <= len(one) else "" for one in parts]
        if len(set(differing)) == len(paths) and not any(one[:1].isdigit() for one in differing):
            return {
                path: f"{part}_{name}"[:40] if part else name
                for path, part in zip(paths, differing, strict=True)
            }
    return {}


def _by_ending(name: str, paths: Sequence[str]) -> dict[str, str]:
    """The names with the ending of each file; none where these are the same."""
    endings = [underscored(posixpath.splitext(path)[1]) for path in paths]
    if len(set(endings)) < len(paths):
        return {}
    stem = name.removesuffix("_file")
    return {
        path: f"{stem}_{ending}_file"[:40] if ending else name
        for path, ending in zip(paths, endings, strict=True)
    }
