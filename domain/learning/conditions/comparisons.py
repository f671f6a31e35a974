"""What the result of a comparison holds: every row or file that differs, and nothing for what is equal.

A condition of this kind names one or two sources (``other``) and a relation (``argument``). The relations of rows hold
of whole lines or of one field of them; those of files of the names that the result speaks of.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from domain.learning.conditions.orders import SEPARATORS, fields_of

BOTH = " | "
"""Stands between two sources that are compared."""

ONLY_SECOND, COMMON, DIFFERING = "only-second", "common", "differing"
"""Relations of the rows of two sources."""
REPEATED, SINGLE = "repeated", "single"
"""Relations of the rows of one source."""
TREES, EQUAL_FILES = "trees", "equal-files"
"""Relations of files: of two folders, and of those that a pattern names."""

_MOST_FIELDS = 8
_MARKED = re.compile(r"^(?:[<>+-]\s?|\s+)?(.*)$")
_PART_OF_NAME = r"[\w/.-]"


def both(first: str, second: str) -> str:
    """Two sources as one."""
    return f"{first}{BOTH}{second}"


def sources_compared(other: str) -> tuple[str, ...]:
    """The sources that a condition names: one or two."""
    return tuple(other.split(BOTH))


def is_about_files(argument: str) -> bool:
    """Whether the relation is one of files, and not of rows."""
    return argument.partition(" ")[0] in (TREES, EQUAL_FILES)


def rows_objection(
    argument: str, result: Sequence[str], first: Sequence[str], second: Sequence[str]
) -> str | None:
    """Why the lines of a result are not those that the relation asks for; ``None`` where they are."""
    if argument.startswith(DIFFERING):
        field = argument.partition(" ")[2]
        return _differing(result, _keys(first, field), _keys(second, field))
    wanted = rows_wanted(argument, first, second)
    if missing := sorted(wanted - {*result}):
        return f"it lacks “{missing[0]}”"
    if strange := sorted({*result} - wanted):
        return f"“{strange[0]}” does not belong in it"
    return None


def rows_wanted(argument: str, first: Sequence[str], second: Sequence[str]) -> set[str]:
    """The rows, or their fields, that the relation is about."""
    relation, _, field = argument.partition(" ")
    one, other = _keys(first, field), _keys(second, field)
    if relation == ONLY_SECOND:
        return {*other} - {*one}
    if relation == COMMON:
        return {*one} & {*other}
    if relation == DIFFERING:
        return {*one} ^ {*other}
    is_repeated = relation == REPEATED
    return {row for row, count in Counter(one).items() if (count > 1) is is_repeated}


def files_objection(
    result: Sequence[str], differing: Collection[str], equal: Collection[str], roots: Sequence[str]
) -> str | None:
    """Why a result does not name the files that differ and no others; ``None`` where it does.

    A file that only one side has counts as named where the folder that only that side has is.
    """
    named = _Named(result, roots)
    if missing := next((path for path in sorted(differing) if not named.has(path, equal)), None):
        return f"it does not name {missing}"
    if strange := next((path for path in sorted(equal) if named.itself(path)), None):
        return f"it names {strange}, which does not differ"
    return None


def tree_difference(
    first: Mapping[str, str | None], second: Mapping[str, str | None], aside: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The files of two folders (digests by path) that differ or that one alone has, and those that are equal."""
    paths = [path for path in {**first, **second} if not _is_aside(path, aside)]
    equal = [path for path in paths if first.get(path) is not None and first.get(path) == second.get(path)]
    return [path for path in paths if path not in equal], equal


def equal_files(digests: Mapping[str, str | None], aside: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """The files whose content another one has, and the others."""
    known = {path: digest for path, digest in digests.items() if not _is_aside(path, aside)}
    counts = Counter(known.values())
    several = [path for path, digest in known.items() if counts[digest] > 1]
    return several, [path for path in known if path not in several]


def fields_to_compare(lines: Sequence[str]) -> Iterator[str]:
    """What rows may be compared by: whole, then by one field, as the end of an argument."""
    yield ""
    for separator in SEPARATORS:
        width = min((len(fields_of(line, separator)) for line in lines), default=1)
        if width > 1 and separator != "space":
            yield from (f" {separator}:{field}" for field in range(1, min(width, _MOST_FIELDS) + 1))


def _keys(lines: Sequence[str], field: str) -> list[str]:
    if not field:
        return list(lines)
    separator, place = field.split(":")
    rows = (fields_of(line, separator) for line in lines)
    return [row[int(place) - 1] for row in rows if len(row) >= int(place)]


def _differing(result: Sequence[str], one: Sequence[str], other: Sequence[str]) -> str | None:
    if list(one) == list(other):
        return "it names a difference of equal files" if any(map(str.strip, result)) else None
    shown = {_marked(line) for line in result}
    missing = next((row for row in sorted({*one} ^ {*other}) if row.strip() not in shown), None)
    return None if missing is None else f"it does not show “{missing}”"


def _marked(line: str) -> str:
    """A line of a difference without the sign in front that says whose it is."""
    found = _MARKED.match(line)
    return (found[1] if found else line).strip()


def _is_aside(path: str, aside: Sequence[str]) -> bool:
    return any(
        fnmatchcase(piece, one) for one in aside for piece in ([path] if "/" in one else path.split("/"))
    )


class _Named:
    """The files that a text names: by their paths, with or without the compared folder, or as diff does."""

    def __init__(self, result: Sequence[str], roots: Sequence[str]) -> None:
        # diff says of what one side lacks: "Only in new/texts: a.txt".
        self._text = "\n".join(re.sub(r"^Only in (.+): (.+)$", r"\1/\2", line) for line in result)
        self._roots = roots

    def itself(self, path: str) -> bool:
        forms = "|".join(re.escape(form) for form in (*(f"{root}/{path}" for root in self._roots), path))
        pattern = rf"(?<!{_PART_OF_NAME})(?:\./)?(?:{forms})(?![\w/-]|\.\w)"
        return re.search(pattern, self._text) is not None

    def has(self, path: str, equal: Collection[str]) -> bool:
        if self.itself(path):
            return True
        pieces = path.split("/")
        folders = ["/".join(pieces[:n]) for n in range(1, len(pieces))]
        return any(
            self.itself(folder) and not any(one.startswith(f"{folder}/") for one in equal)
            for folder in folders
        )
