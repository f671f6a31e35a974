"""Sentences for conditions: what a condition states, in words for people."""

from contracts.base import clipped
from contracts.learning.evidence import ConditionKind, ProofCondition
from domain.learning.conditions import comparisons, permissions, queries
from domain.learning.conditions.orders import Order
from domain.learning.conditions.path_patterns import is_pattern
from domain.learning.conditions.sort_orders import TO_THE_END, SortKey, order_of
from domain.learning.interpretation.naming import listed

_DIFFERENCES = {0: "as many lines as", -1: "one line less than", 1: "one line more than"}

PACKAGE, ENVIRONMENT = "package ", "environment"
"""How the state of an environment is called: that it has a package, and that it is there."""


def condition(
    kind: ConditionKind,
    path: str,
    *,
    other: str | None = None,
    argument: str = "",
    is_new: bool = True,
    other_stays: bool = True,
) -> ProofCondition:
    """A condition with its sentence.

    ``is_new`` where the file was not there before the work, ``other_stays`` where what it is compared with is still
    what it was.
    """
    if kind is ConditionKind.SAME_CONTENT:
        said = _same_content(path, other or "", argument, other_stays=other_stays)
    else:
        said = _said(kind, path, other or "", argument, is_new)
    return ProofCondition(
        kind=kind, path=path[:240], other=other, argument=argument[:400], statement=clipped(said, 240)
    )


def _said(kind: ConditionKind, path: str, other: str, argument: str, is_new: bool) -> str:
    several = is_pattern(path)
    subject = f"Every file {path}" if several else f"The file {path}"
    match kind:
        case ConditionKind.EXISTS | ConditionKind.NOT_EMPTY:
            return _made(path, kind, is_new, several=several)
        case ConditionKind.ABSENT:
            return f"No file {path} is left" if several else f"The file {path} no longer exists"
        case ConditionKind.SORTED:
            return f"The lines of {'every file ' if several else ''}{path} are sorted {_order(argument)}"
        case ConditionKind.LINE_COUNT if not other and argument == "0":
            return f"{subject} is empty"
        case ConditionKind.LINE_COUNT if not other:
            return f"{subject} has at most {argument} line{'' if argument == '1' else 's'}"
        case ConditionKind.LINE_COUNT:
            return (
                f"{subject} has {_DIFFERENCES.get(int(argument or 0), f'{argument} lines more than')} {other}"
            )
        case ConditionKind.FILE_COUNT:
            return _file_count(path, other, int(argument or 0))
        case ConditionKind.COLUMNS:
            separator, count = argument.split(":")
            rows = f"Every row of {'every file ' if several else ''}{path}"
            return f"{rows} has {count} columns, separated by a {separator}"
        case ConditionKind.STATE:
            return _state(path, other, argument)
        case _:
            return f"{subject} {_predicate(kind, other, argument)}"


def _same_content(path: str, other: str, argument: str, *, other_stays: bool) -> str:
    subject = f"Every file {path}" if is_pattern(path) else f"The file {path}"
    files = f"one of the files {other}" if is_pattern(other) else other
    lost = ", and none of them is lost" if argument == "all" else ""
    return f"{subject} has the content {f'of {files}' if other_stays else f'that {files} had before'}{lost}"


def _state(key: str, other: str, argument: str) -> str:
    subject, _, aspect = key.partition(": ")
    of = f"In {subject}" if subject else "There"
    if other:
        return (
            f"{of}, {aspect} are as many as lines in {other}{' after its first' if argument == '-1' else ''}"
        )
    if not argument:
        return f"{of}, {aspect} is no longer there"
    if argument == "*" and aspect.startswith(PACKAGE):
        return f"The environment {subject} has the package {aspect.removeprefix(PACKAGE)}"
    if argument == "*" and aspect == ENVIRONMENT:
        return f"The environment {subject} is there"
    if argument in ("*", "there"):
        return f"{of}, {aspect} is there"
    if argument.startswith("+"):
        return f"{of}, {aspect} are {argument[1:]} more than before"
    if aspect == "target":
        lead = "Every link" if is_pattern(subject) else "The link"
        return f"{lead} {subject} leads to {argument}"
    return f"{of}, {aspect}: {argument}"


def _compared(other: str, argument: str) -> str:
    """What a result of a comparison holds, as a predicate."""
    sources = comparisons.sources_compared(other)
    relation, _, more = argument.partition(" ")
    first, second = sources[0], sources[-1]
    aside = f", {listed(more.split())} aside" if more else ""
    if relation == comparisons.TREES:
        return (
            f"names every file that differs between {first} and {second} or that only one of them has,"
            f" and no equal one{aside}"
        )
    if relation == comparisons.EQUAL_FILES:
        files = first if is_pattern(first) else f"of {first}"
        return f"names every file {files} whose content another of them has, and no other{aside}"
    separator, _, place = more.partition(":")
    row = f"value of field {place} ({separator})" if more else "line"
    return {
        comparisons.ONLY_SECOND: f"has every {row} of {second} that {first} does not have, and no other",
        comparisons.COMMON: f"has every {row} that {first} and {second} both have, and no other",
        comparisons.DIFFERING: f"shows every {row} that only one of {first} and {second} has,"
        " and nothing for equal files",
        comparisons.REPEATED: f"has every {row} that {first} has more than once, and no other",
        comparisons.SINGLE: f"has every {row} that {first} has only once, and no other",
    }[relation]


def _made(path: str, kind: ConditionKind, is_new: bool, *, several: bool) -> str:
    done = "made" if is_new else "changed"
    empty = " and not empty" if kind is ConditionKind.NOT_EMPTY else ""
    if several:
        return (
            f"At least one file {path} has been {done}, and none is empty"
            if empty
            else f"Files {path} have been {done}"
        )
    return f"The file {path} has been {done}{' and is not empty' if empty else ''}"


_NUMERIC = frozenset({"numbers", "floats", "sizes"})


def _order(argument: str) -> str:
    order = order_of(argument)
    if isinstance(order, Order):
        to = TO_THE_END if order.field == 0 else order.field
        keys = (SortKey(order.field or 1, to, order.kind, order.descending),)
    else:
        keys = order.keys
    first, *others = (_key(key, order.separator) for key in keys)
    said = f"{first[0]}{' after the first line' if order.header else ''}, {first[1]}"
    return "; where that is equal ".join((said, *(f"{by}, {how}" for by, how in others)))


def _key(key: SortKey, separator: str) -> tuple[str, str]:
    """What lines are sorted by, and how."""
    if key.kind in _NUMERIC:
        how = "largest first" if key.descending else "smallest first"
    else:
        how = "in descending order" if key.descending else "in ascending order"
    how += {"folded": ", upper and lower case alike", "versions": ", as version numbers"}.get(key.kind, "")
    if key.is_whole_line:
        return "by the numbers that they begin with" if key.kind in _NUMERIC else "by whole lines", how
    # A number is read at the beginning of a key alone.
    last = key.field if key.kind in _NUMERIC else key.to
    if last == TO_THE_END:
        return f"by field {key.field} ({separator}) and what follows it", how
    fields = f"fields {key.field} to {last}" if last != key.field else f"field {key.field}"
    return f"by {fields} ({separator})", how


def _file_count(path: str, other: str, difference: int) -> str:
    if is_pattern(other):
        return f"There are as many files {path} as files {other}"
    after = " after its first" if difference == -1 else ""
    return f"There are as many files {path} as {other} has lines{after}"


def _predicate(kind: ConditionKind, other: str, argument: str) -> str:
    return {
        ConditionKind.LINES_OF: f"has only lines of {other}",
        ConditionKind.DISTINCT_LINES: "has no line twice",
        ConditionKind.HEADER_OF: f"begins with the header of {other}",
        ConditionKind.HOLDS_TEXT: f"holds “{argument}”",
        ConditionKind.LACKS_TEXT: f"does not hold “{argument}”",
        ConditionKind.LACKS_WORD: f"no longer holds the word “{argument}”",
        ConditionKind.VALID_JSON: "is valid JSON",
        ConditionKind.MEMBERS_OF: f"is a readable archive that holds every file of {other}",
        ConditionKind.MODE: permissions.in_words(argument) if kind is ConditionKind.MODE else "",
        ConditionKind.CHECK_PASSES: "passes its check",
        ConditionKind.SELECTS: queries.in_words(argument, other) if kind is ConditionKind.SELECTS else "",
        ConditionKind.COMPARES: _compared(other, argument) if kind is ConditionKind.COMPARES else "",
    }.get(kind, str(kind))
