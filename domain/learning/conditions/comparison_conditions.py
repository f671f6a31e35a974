"""Guesses of conditions about the results of comparisons: comm, diff, cmp, ``uniq -d``, lists of checksums.

What a result has to hold is read from its sources, not from the options of the commands: a guess that does not hold on
the demonstration or on changed input is dropped, as every other.
"""

import posixpath
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, permutations

from contracts.learning.evidence import ConditionKind, ProofCondition
from domain.learning.conditions import comparisons
from domain.learning.conditions.comparisons import both
from domain.learning.conditions.condition_wording import condition
from domain.learning.conditions.conditions import FolderContents, finds_nothing, lines_of, objection
from domain.learning.conditions.file_conditions import Work
from domain.learning.conditions.path_patterns import matching, pattern_of
from domain.learning.conditions.rows import has_rows
from domain.learning.interpretation.slicing import parent_folders

_OF_ROWS = re.compile(r"(?<![\w.-])(?:comm|diff|sdiff|cmp|uniq|join|e?grep|g?awk)(?![\w-])")
_OF_FILES = re.compile(r"(?<![\w.-])(?:diff|cmp|comm|fdupes|(?:md5|sha\d+|b2|ck)sum)(?![\w-])")
_ASIDE = re.compile(r"(?:\s-x|--exclude|(?:!|-not)\s+-i?(?:name|path))[\s=]*([\"']?)([^\s\"']+)\1")
"""What a comparison of folders leaves out: names and patterns of names."""

_MOST_SOURCES = 4
_MOST_ROWS = 5_000
"""Sources with more lines are not compared by each of their fields."""


def comparison_conditions(path: str, work: Work, sources: Sequence[str]) -> Iterator[ProofCondition]:
    """What the file holds of a comparison of ``sources``; at most one statement about rows and one about files."""
    if not (work.after.text(path) or "").strip():
        return
    for guesses in (_of_rows(path, work, sources), _of_files(path, work, sources)):
        holding = (one for one in guesses if _holds(one, work))
        yield from [one for one, _ in zip(holding, range(1), strict=False)]


def _holds(guess: ProofCondition, work: Work) -> bool:
    return objection(guess, work.before, work.after) is None and not finds_nothing(
        guess, work.before, work.after
    )


def _of_rows(path: str, work: Work, sources: Sequence[str]) -> Iterator[ProofCondition]:
    if not _OF_ROWS.search(work.spoken):
        return
    rows = [one for one in sources if one != path and has_rows(one, work.before)][:_MOST_SOURCES]
    for field in _fields(rows, work.before):
        for first, second in permutations(rows, 2):
            yield _compared(path, both(first, second), f"{comparisons.ONLY_SECOND}{field}")
        for first, second in combinations(rows, 2):
            for relation in (comparisons.COMMON, comparisons.DIFFERING):
                yield _compared(path, both(first, second), f"{relation}{field}")
        for one in rows:
            for relation in (comparisons.REPEATED, comparisons.SINGLE):
                if relation == comparisons.REPEATED or field:
                    yield _compared(path, one, f"{relation}{field}")


def _fields(rows: Sequence[str], before: FolderContents) -> Sequence[str]:
    """What all sources can be compared by, whole lines first."""
    texts = [lines_of(before.text(one) or "") for one in rows]
    if not texts:
        return ()
    if any(len(lines) > _MOST_ROWS for lines in texts):
        return ("",)
    every = [list(comparisons.fields_to_compare(lines)) for lines in texts]
    return [field for field in every[0] if all(field in others for others in every)]


def _of_files(path: str, work: Work, sources: Sequence[str]) -> Iterator[ProofCondition]:
    if not _OF_FILES.search(work.spoken):
        return
    aside = " ".join(dict.fromkeys(found[2] for found in _ASIDE.finditer(work.spoken)))
    named = {one for source in sources for one in parent_folders(source) if _is_named(one, work.spoken)}
    pairs = [
        (first, second)
        for first, second in combinations(sorted(named, key=lambda one: work.spoken.find(one)), 2)
        if not f"{first}/".startswith(f"{second}/") and not f"{second}/".startswith(f"{first}/")
    ]
    for first, second in pairs[:_MOST_SOURCES]:
        yield _compared(path, both(first, second), f"{comparisons.TREES} {aside}".strip())
    for one in (*_patterns(sources, work.before.paths()), *sorted(named)):
        yield _compared(path, one, f"{comparisons.EQUAL_FILES} {aside}".strip())


def _is_named(folder: str, text: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(folder)}(?![\w.-])", text) is not None


def _patterns(sources: Sequence[str], there: Collection[str]) -> list[str]:
    """The sources of one folder and extension by the pattern of their names, where these are all that it names."""
    groups: dict[tuple[str, str], list[str]] = {}
    for one in sources:
        groups.setdefault((posixpath.dirname(one), posixpath.splitext(one)[1]), []).append(one)
    found = [
        (posixpath.join(folder, f"*{extension}"), group)
        for (folder, extension), group in groups.items()
        if len(group) > 1
    ]
    found += [(pattern_of(list(sources)), list(sources))] if len(groups) > 1 else []
    return [pattern for pattern, group in found if {*matching(pattern, there)} == {*group}]


def _compared(path: str, other: str, argument: str) -> ProofCondition:
    return condition(ConditionKind.COMPARES, path, other=other[:240], argument=argument)
