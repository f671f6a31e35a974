"""Dates that a command puts into the name of a file: another one each day, in whatever format it is asked for."""

import re
from collections.abc import Iterator
from functools import lru_cache

from domain.learning.commands.shell_grammar import UnreadableCommand, split_commands
from domain.learning.conditions.path_patterns import is_named

_DATE = re.compile(
    r"(?<!\d)(?:19|20)\d\d[-_.]?[01]\d[-_.]?[0-3]\d(?:[-_.T ]?\d\d[-_.:]?\d\d(?:[-_.:]?\d\d)?)?(?!\d)"
)
_MAKES_DATE = re.compile(r"\bdate\b|DateTime|\bstrftime\b|%[yYF]|%\(.*\)T|\btoday\b|\bnow\b")
_PRINTED = re.compile(
    r"\$\(\s*date\b(?P<asked>[^()]*)\)|`\s*date\b(?P<quoted>[^`]*)`|\$\{?\w+[^}\s/]*\}?|\$\([^()]*\)|[*?]"
)
"""What stands in a word for a date that is printed, and for anything else that is not known before it runs."""

_SET = re.compile(r"(?P<name>[A-Za-z_]\w*)=(?P<value>.*(?:\$\(\s*date\b|`\s*date\b).*)", re.DOTALL)
_FORMAT = re.compile(r"\+\s*[\"']?(?P<format>[^\"']+)")
_DIRECTIVE = re.compile(r"%[-_0^#]?([A-Za-z%])")
_DAY = r"(?:19|20)\d\d-[01]\d-[0-3]\d"
_DIRECTIVES = {
    "Y": r"(?:19|20)\d\d", "G": r"(?:19|20)\d\d", "C": r"\d\d", "y": r"\d\d", "g": r"\d\d",
    "m": r"[01]?\d", "d": r"[0-3]?\d", "e": r"[ 0-3]?\d", "j": r"\d{1,3}",
    "V": r"[0-5]?\d", "U": r"[0-5]?\d", "W": r"[0-5]?\d", "u": r"\d", "w": r"\d", "q": r"\d",
    "H": r"[0-2]?\d", "I": r"[01]?\d", "k": r"[ 0-2]?\d", "l": r"[ 01]?\d", "M": r"[0-5]?\d", "S": r"[0-6]?\d",
    "N": r"\d+", "s": r"\d+", "F": _DAY, "T": r"\d\d:\d\d:\d\d", "R": r"\d\d:\d\d", "D": r"\d\d/\d\d/\d\d",
    "b": r"\w+\.?", "B": r"\w+", "h": r"\w+\.?", "a": r"\w+\.?", "A": r"\w+", "p": r"\w*", "P": r"\w*",
    "z": r"[-+]\d{4}", "Z": r"\w+", "%": "%",
}  # fmt: skip
"""What the directives of a format print, as regular expressions."""

_MOST_WORDS = 400


def without_date(path: str, commands: str) -> str:
    """The path, each date in it that the commands print by a star; one that they name as it is stays."""
    if not makes_date(commands) or is_named(path, commands):
        return path
    for template in _templates(commands):
        if found := template.fullmatch(path):
            at = 0
            kept = ""
            for begin, end in (found.span(n) for n in range(1, template.groups + 1)):
                kept += f"{path[at:begin]}*"
                at = end
            return kept + path[at:]
    return _DATE.sub("*", path)


def makes_date(commands: str) -> bool:
    """Whether a command puts a date into a text."""
    return _MAKES_DATE.search(commands) is not None


@lru_cache(maxsize=64)
def _templates(commands: str) -> tuple[re.Pattern[str], ...]:
    """The words in which a date is printed, as patterns of the paths that they name; the longest first."""
    words = {word for word in _words(commands) if _template(word)}
    found = [template for word in sorted(words, key=len, reverse=True) if (template := _template(word))]
    return tuple(re.compile(rf"(?:.*/)?{one}(?:/.*)?", re.DOTALL) for one in found)


def _words(commands: str) -> Iterator[str]:
    """The words of the commands, with what settings hold of dates in the place of their names."""
    try:
        simple = split_commands(commands)
    except UnreadableCommand:
        return
    words = [word for one in simple for word in (*one.words, *(r.target for r in one.redirections))]
    settings = {found["name"]: found["value"] for word in words if (found := _SET.fullmatch(word))}
    settings |= {m["name"]: m["value"].strip("\"'") for m in map(_SET.fullmatch, commands.splitlines()) if m}
    for word in words[:_MOST_WORDS]:
        yield re.sub(
            r"\$\{?(\w+)[^}\s/]*\}|\$(\w+)",
            lambda m: settings.get(m[1] or m[2], m[0]),
            word.removeprefix("./"),
        )


def _template(word: str) -> str | None:
    """The word as a regular expression, a group for each date; ``None`` where it prints none, or is nothing else."""
    pattern, literal, at, dates = "", "", 0, 0
    for found in _PRINTED.finditer(word):
        piece = word[at : found.start()]
        at = found.end()
        literal += piece
        asked = found["asked"] if found["asked"] is not None else found["quoted"]
        printed = None if asked is None else _printed(asked)
        dates += printed is not None
        pattern += re.escape(piece) + (r"[^/]*" if printed is None else f"({printed})")
    literal += word[at:]
    pattern += re.escape(word[at:])
    return pattern if dates and any(map(str.isalnum, literal)) else None


def _printed(asked: str) -> str | None:
    """What a call of ``date`` with these arguments prints; ``None`` where it is no name."""
    if re.search(r"(?:^|\s)(?:-I|--iso-8601)(?:\s|=|$)", asked):
        return _DAY
    found = _FORMAT.search(asked)
    if found is None:
        return None
    pattern, at = "", 0
    text = found["format"].strip()
    for directive in _DIRECTIVE.finditer(text):
        pattern += re.escape(text[at : directive.start()]) + _DIRECTIVES.get(directive[1], r"[^/]+")
        at = directive.end()
    return pattern + re.escape(text[at:])
