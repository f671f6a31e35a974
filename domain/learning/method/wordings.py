"""Wordings of option values: sort keys, field lists, line numbers, sed scripts, tr sets, modes, times of find.

Each is called ``{name}`` in the tables of ``program_forms`` and gives the texts that replace the meaning.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from domain.learning.method.quoting import joined, quoted
from domain.learning.method.sed_wording import sed_facts


@dataclass(frozen=True)
class Given:
    """The values to be worded, the options beside them, and how often the option stood before."""

    values: tuple[str, ...]
    flags: frozenset[str] = frozenset()
    occurrence: int = 0
    program: str = ""

    @property
    def value(self) -> str:
        """The first value, empty where there is none."""
        return self.values[0] if self.values else ""


_KEY = re.compile(r"(\d+)(?:\.(\d+))?([a-zA-Z]*)(?:,(\d+)(?:\.(\d+))?([a-zA-Z]*))?")
_RANGE = re.compile(r"(\d*)-(\d*)")
_OCTAL = re.compile(r"0?([0-7])([0-7])([0-7])")
_SIGNED = re.compile(r"([+-]?)(.+)", re.DOTALL)
_NUMERIC = frozenset({"-n", "-g", "-h"})
_KEY_FLAGS = {
    "n": "as numbers",
    "g": "as numbers",
    "h": "as sizes such as 2K and 1G",
    "V": "as version numbers",
    "M": "as names of months",
    "f": "upper and lower case as equal",
    "b": "without blanks at the start",
    "d": "by letters, digits and blanks only",
}
_FILE_TYPES = {"f": "only files", "d": "only folders", "l": "only links"}
_DATE_FORMATS = {
    "%F": "year-month-day",
    "%Y-%m-%d": "year-month-day",
    "%T": "hours:minutes:seconds",
    "%s": "seconds since 1970",
    "%A": "day of the week",
    "%V": "week of the year",
    "%j": "day of the year",
}


def _key(given: Given) -> str:
    lead = "then by" if given.occurrence else "sorted by"
    found = _KEY.fullmatch(given.value)
    if found is None:
        return f"{lead} the key {quoted(given.value)}"
    first, start, early, last, end, late = found.groups()
    if start or (end and end != "0"):
        to = f" to character {end or 'the last'} of field {last}" if last else ""
        fields = f"field {first} from character {start or 1}{to}"
    elif last is None:
        fields = f"field {first}"
    else:
        fields = f"field {first} only" if last == first else f"fields {first} to {last}"
    letters = early + (late or "")
    words = list(dict.fromkeys(_KEY_FLAGS[one] for one in letters if one in _KEY_FLAGS))
    if "r" in letters:
        words.append(_order(is_numeric=bool(set("ngh") & set(letters)) or bool(_NUMERIC & given.flags)))
    return ", ".join((f"{lead} {fields}", *words))


def _order(*, is_numeric: bool) -> str:
    return "largest first (descending)" if is_numeric else "in descending order"


def _descending(given: Given) -> str:
    return _order(is_numeric=bool(_NUMERIC & given.flags))


def _ranges(noun: str) -> Callable[[Given], str]:
    def worded(given: Given) -> str:
        number = noun if given.value.isdigit() else f"{noun}s"
        return f"{number} {joined([_range(one) for one in given.value.split(',')])}"

    return worded


def _range(text: str) -> str:
    found = _RANGE.fullmatch(text)
    if found is None or text == "-":
        return text
    return f"{found[1] or 1} to {found[2] or 'the last'}"


def _head(unit: str) -> Callable[[Given], str]:
    def worded(given: Given) -> str:
        value = given.value
        if value.startswith("-"):
            return f"all but the last {_counted(value[1:], unit)}"
        return f"only the first {_counted(value, unit)}"

    return worded


def _tail(unit: str) -> Callable[[Given], str]:
    def worded(given: Given) -> str:
        value = given.value
        if value.startswith("+"):
            return f"from {unit.removesuffix('s')} {value[1:]} on"
        return f"only the last {_counted(value.removeprefix('-'), unit)}"

    return worded


def _counted(count: str, unit: str) -> str:
    return unit.removesuffix("s") if count == "1" else f"{count} {unit}"


def _tr(given: Given) -> tuple[str, ...]:
    first, second = quoted(given.value), quoted(given.values[1]) if len(given.values) > 1 else ""
    chosen = f"every character but those of {first}" if "-c" in given.flags else f"every character of {first}"
    squeezes = "-s" in given.flags
    if "-d" in given.flags:
        more = (f"repeated characters of {second} become one",) if squeezes and second else ()
        return (f"{chosen} is deleted", *more)
    if second:
        more = ("repeated characters of the result become one",) if squeezes else ()
        return (f"{chosen} becomes the one at its place in {second}", *more)
    if squeezes:
        outside = f"characters but those of {first}" if "-c" in given.flags else f"characters of {first}"
        return (f"repeated {outside} become one",)
    return (f"characters of {first}",)


def _grep(given: Given) -> str:
    # egrep and fgrep are grep -E and grep -F.
    fixed = "-F" in given.flags or given.program == "fgrep"
    kind = ""
    if "-P" in given.flags:
        kind = " (Perl regular expression)"
    elif "-E" in given.flags or given.program == "egrep":
        kind = " (extended regular expression)"
    negated = "do not " if "-v" in given.flags else ""
    verb = f"{negated}contain the text" if fixed else f"{negated}match"
    return f"only lines that {verb} {quoted(given.value)}{kind}"


def _grep_file(given: Given) -> str:
    some = "none" if "-v" in given.flags else "one"
    if "-F" in given.flags or given.program == "fgrep":
        return f"only lines that contain {some} of the texts in {quoted(given.value)}"
    return f"only lines that match {some} of the patterns in {quoted(given.value)}"


def _sed(given: Given) -> tuple[str, ...]:
    return sed_facts(given.value, extended="-E" in given.flags, quiet="-n" in given.flags)


def _in_place(given: Given) -> str:
    kept = f", the former one is kept with {quoted(given.value)} after its name" if given.value else ""
    return f"the file is changed in place{kept}"


def _file_type(given: Given) -> str:
    return _FILE_TYPES.get(given.value, f"only the kinds {quoted(given.value)}")


def _size(given: Given) -> str:
    sign, amount = _signed(given.value)
    return {"+": "larger than ", "-": "smaller than "}.get(sign, "of the size ") + amount


def _ago(unit: str) -> Callable[[Given], str]:
    def worded(given: Given) -> str:
        sign, amount = _signed(given.value)
        return {"+": "more than ", "-": "less than "}.get(sign, "") + f"{amount} {unit} ago"

    return worded


def _signed(value: str) -> tuple[str, str]:
    found = _SIGNED.fullmatch(value)
    return (found[1], found[2]) if found else ("", value)


def _mode(given: Given) -> str:
    found = _OCTAL.fullmatch(given.value)
    if found is None:
        return quoted(given.value)
    who = zip(("owner", "group", "others"), found.groups(), strict=True)
    return f"{quoted(given.value)} ({'; '.join(f'{one}: {_rights(int(digit))}' for one, digit in who)})"


def _rights(digit: int) -> str:
    rights = [name for bit, name in ((4, "read"), (2, "write"), (1, "execute")) if digit & bit]
    return joined(rights) if rights else "nothing"


def _date_format(given: Given) -> str:
    form = given.value.removeprefix("+")
    known = _DATE_FORMATS.get(form)
    return quoted(form) + (f" ({known})" if known else "")


def _seq(given: Given) -> str:
    match given.values:
        case (last,):
            return f"counts from 1 to {last}"
        case (first, last):
            return f"counts from {first} to {last}"
        case (first, step, last):
            return f"counts from {first} to {last} in steps of {step}"
        case _:
            return f"counts {' '.join(given.values)}"


def _tar_members(given: Given) -> str:
    named = joined([quoted(v) for v in given.values])
    return f"packs {named}" if given.flags & {"-c", "-r", "-u"} else f"only {named}"


def _make_targets(given: Given) -> tuple[str, ...]:
    targets = [quoted(v) for v in given.values if "=" not in v]
    settings = [quoted(v) for v in given.values if "=" in v]
    return tuple(
        f"{verb} {joined(words)}" for verb, words in (("makes", targets), ("makes with", settings)) if words
    )


def _assigned(given: Given) -> str:
    name, _, value = given.value.partition("=")
    return f"{quoted(name)} is {quoted(value)}"


def _named(given: Given) -> str:
    return " is ".join(quoted(v) for v in given.values)


def _at_once(given: Given) -> str:
    return f"{given.value} at the same time" if given.value else "all at the same time"


def _joined_words(given: Given) -> str:
    return quoted(" ".join(given.values))


WORDINGS: Mapping[str, Callable[[Given], str | tuple[str, ...]]] = {
    "": lambda given: joined([quoted(v) for v in given.values]),
    "0": lambda given: ", ".join(given.values),
    "assigned": _assigned,
    "at_once": _at_once,
    "date_format": _date_format,
    "bytes": _ranges("byte"),
    "characters": _ranges("character"),
    "days": _ago("days"),
    "descending": _descending,
    "fields": _ranges("field"),
    "file_type": _file_type,
    "grep": _grep,
    "grep_file": _grep_file,
    "head_bytes": _head("bytes"),
    "head_lines": _head("lines"),
    "in_place": _in_place,
    "joined": _joined_words,
    "key": _key,
    "make_targets": _make_targets,
    "minutes": _ago("minutes"),
    "mode": _mode,
    "named": _named,
    "sed": _sed,
    "seq": _seq,
    "size": _size,
    "tail_bytes": _tail("bytes"),
    "tail_commits": _tail("commits"),
    "tail_lines": _tail("lines"),
    "tar_members": _tar_members,
    "tr": _tr,
}
"""The wordings by the name they have in the tables."""
