"""Checks conditions on a folder before and after the work (DOC3 §0A.18; our addition: ``ProofCondition``).

Pure: the folders are given as :class:`FolderContents`. A condition whose path holds stars is checked on each file
that it names and that is new or has changed.
"""

import csv
import json
import posixpath
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from contracts.learning.evidence import ConditionKind, ProofCondition
from domain.learning.conditions import comparisons, permissions, queries
from domain.learning.conditions.orders import SEPARATORS
from domain.learning.conditions.path_patterns import captured, filled, is_pattern, matching
from domain.learning.conditions.sort_orders import order_of

_MORE = re.compile(r"\+\d+")
TARGET = ": target"
"""How the fact ends where a link leads to."""


class FolderContents(Protocol):
    """The files of a folder at one moment; links are not followed."""

    def paths(self) -> Collection[str]:
        """Every file, by its path relative to the folder."""
        ...

    def tree_of(self, path: str) -> str | None:
        """The generated tree or the repository (``.git``) that a file lies in; ``None`` where it lies in none."""
        ...

    def text(self, path: str) -> str | None:
        """The text of a file; ``None`` where there is none, or it is no text of a moderate size."""
        ...

    def digest(self, path: str) -> str | None:
        """The SHA-256 of a file's content; ``None`` where there is none."""
        ...

    def essence(self, path: str) -> str | None:
        """What a file holds, whatever the time it was made at: of an archive its members; ``None`` where it is none."""
        ...

    def mode(self, path: str) -> int | None:
        """A file's permission bits."""
        ...

    def members(self, path: str) -> Collection[str] | None:
        """The files in an archive; ``None`` where it is no readable archive."""
        ...

    def facts(self) -> Mapping[str, str]:
        """What is true of the state behind files (git, databases), by subject and aspect."""
        ...

    def was_written(self, path: str) -> bool:
        """Whether a command was seen to write the file, be it with the content that it had."""
        ...


def lines_of(text: str) -> list[str]:
    """The lines of a text, without the empty one that a final line feed leaves."""
    return text.splitlines()


def objection(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    """Why the condition does not hold on the folder ``after`` the work; ``None`` where it does."""
    match condition.kind:
        case ConditionKind.STATE:
            return _state(condition, before, after)
        case ConditionKind.CHECK_PASSES:
            return None
        case ConditionKind.ABSENT:
            return _absent(condition.path, before, after)
        case ConditionKind.FILE_COUNT:
            return _file_count(condition, before, after)
        case _ if is_pattern(condition.path) and condition.path not in after.paths():
            return _each(condition, before, after)
        case _ if condition.path not in after.paths():
            return f"{condition.path} is not there"
        case _:
            return _CHECKS[condition.kind](condition, before, after)


def _state(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    """State behind files: a value, ``*`` for any, nothing for none any more; ``+N`` for so many more than before."""
    if condition.path.endswith(TARGET) and condition.argument:
        return _leads_elsewhere(condition, before, after)
    was, found = before.facts().get(condition.path), after.facts().get(condition.path)
    if not condition.argument or found is None:
        is_gone = found is None and not condition.argument
        return None if is_gone else f"{condition.path} is {found or 'not there'}"
    if condition.other is not None or _MORE.fullmatch(condition.argument):
        base = (
            len(lines_of(_source(condition, before, after))) if condition.other is not None else int(was or 0)
        )
        wanted = str(base + int(condition.argument))
    else:
        wanted = condition.argument
    return None if wanted in ("*", found) else f"{condition.path} is {found} and not {wanted}"


def links_made(condition: ProofCondition, before: FolderContents, after: FolderContents) -> list[str]:
    """The facts of links that the condition names, and that are new or lead elsewhere than before."""
    was, now = before.facts(), after.facts()
    named = [condition.path] if condition.path in now else matching(condition.path, now)
    return [key for key in named if was.get(key) != now[key]]


def _leads_elsewhere(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    link = condition.path.removesuffix(TARGET)
    made = links_made(condition, before, after) if is_pattern(condition.path) else [condition.path]
    if not made:
        return f"no link {link} was made or changed"
    for key in made:
        target = after.facts().get(key)
        wanted = filled(condition.argument, captured(condition.path, key) or ()) or condition.argument
        if target is None or (target != wanted and captured(wanted, target) is None):
            return f"{key} is {target or 'not there'} and not {wanted}"
    return None


def is_there(condition: ProofCondition, before: FolderContents, after: FolderContents) -> bool:
    """Whether there is a file that the condition can be about."""
    if condition.kind in (ConditionKind.STATE, ConditionKind.ABSENT, ConditionKind.CHECK_PASSES):
        return True
    return condition.path in after.paths() or bool(touched_by(condition.path, before, after))


def touched_by(pattern: str, before: FolderContents, after: FolderContents) -> list[str]:
    """The files that the pattern names after the work, and that are new, have changed or were written again."""
    return [
        path
        for path in matching(pattern, after.paths())
        if not was_left_alone(path, before, after) or after.mode(path) != before.mode(path)
    ]


def _each(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    paths = touched_by(condition.path, before, after)
    if not paths:
        return f"no file {condition.path} was made or changed"
    for path in paths:
        other = condition.other
        if other is not None and condition.kind is not ConditionKind.SAME_CONTENT:
            other = filled(other, captured(condition.path, path) or ()) or other
        found = _CHECKS[condition.kind](condition.changed(path=path, other=other), before, after)
        if found is not None:
            return found
    if condition.kind is ConditionKind.SAME_CONTENT and condition.argument == "all":
        return _lost(condition, paths, before, after)
    return None


def _lost(
    condition: ProofCondition, paths: Sequence[str], before: FolderContents, after: FolderContents
) -> str | None:
    """Which of the sources is found under none of the paths."""
    kept = {after.digest(path) for path in paths}
    sources = matching(condition.other or "", before.paths())
    lost = next((path for path in sources if before.digest(path) not in kept), None)
    return None if lost is None else f"the content of {lost} is in no file {condition.path}"


def _absent(path: str, before: FolderContents, after: FolderContents) -> str | None:
    left = path if path in after.paths() else next(iter(matching(path, after.paths())), None)
    if left is not None:
        return f"{left} is still there"
    return None if path in before.paths() or matching(path, before.paths()) else f"{path} was never there"


def _file_count(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    count = len(touched_by(condition.path, before, after))
    other = condition.other or ""
    wanted = (
        len(matching(other, before.paths()))
        if is_pattern(other)
        else len(lines_of(_source(condition, before, after)))
    ) + int(condition.argument or 0)
    return None if count == wanted else f"there are {count} files {condition.path} and not {wanted}"


_Check = Callable[[ProofCondition, FolderContents, FolderContents], str | None]


def was_left_alone(path: str, before: FolderContents, after: FolderContents) -> bool:
    """Whether a file that was there is as it was, and nothing wrote it again."""
    was = before.digest(path)
    return was is not None and was == after.digest(path) and not after.was_written(path)


def _exists(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    if was_left_alone(condition.path, before, after) and not condition.argument:
        return f"{condition.path} was there before the first command and has not changed since"
    return None


def _not_empty(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    if (unchanged := _exists(condition, before, after)) is not None:
        return unchanged
    text = after.text(condition.path)
    return f"{condition.path} is empty" if text is not None and not text.strip() else None


def _lines(condition: ProofCondition, after: FolderContents) -> list[str]:
    return lines_of(after.text(condition.path) or "")


def _sorted(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    holds = order_of(condition.argument).holds(_lines(condition, after))
    return None if holds else f"the lines of {condition.path} are in another order"


def _line_count(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    count = len(_lines(condition, after))
    if condition.other is None:
        most = int(condition.argument)
        return None if count <= most else f"{condition.path} has {count} lines"
    wanted = len(lines_of(_source(condition, before, after))) + int(condition.argument or 0)
    return None if count == wanted else f"{condition.path} has {count} lines and not {wanted}"


def _source(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str:
    return text_of(condition.other or "", before, after)


def text_of(source: str, before: FolderContents, after: FolderContents) -> str:
    """The text of a file that was there, else of one that was made; of a pattern that of all of them in a row."""
    if is_pattern(source) and source not in before.paths():
        return "".join(_ended(before.text(path) or "") for path in matching(source, before.paths()))
    text = before.text(source)
    return (after.text(source) or "") if text is None else text


def _ended(text: str) -> str:
    return text if text.endswith("\n") or not text else f"{text}\n"


def _lines_of(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    source = set(lines_of(_source(condition, before, after)))
    strange = next((line for line in _lines(condition, after) if line not in source), None)
    return None if strange is None else f"{condition.path} has a line that {condition.other} does not have"


def _distinct_lines(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    lines = _lines(condition, after)
    return None if len(set(lines)) == len(lines) else f"{condition.path} has a line twice"


def _header_of(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    wanted = lines_of(_source(condition, before, after))[:1]
    return None if _lines(condition, after)[:1] == wanted else f"{condition.path} begins with another line"


def _holds_text(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    held = condition.argument in (after.text(condition.path) or "")
    return None if held else f"{condition.path} does not hold “{condition.argument}”"


def _lacks_text(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    held = condition.argument in (after.text(condition.path) or "")
    return f"{condition.path} still holds “{condition.argument}”" if held else None


def _lacks_word(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    held = has_word(condition.argument, after.text(condition.path) or "")
    return f"{condition.path} still holds the word “{condition.argument}”" if held else None


def has_word(word: str, text: str) -> bool:
    """Whether the text holds the word on its own, not within a longer one."""
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def columns_of(text: str, separator: str) -> int | None:
    """The number of columns that every row of a delimited text has; ``None`` where they differ or are one."""
    mark = SEPARATORS[separator] or " "
    try:
        counts = {len(row) for row in csv.reader(lines_of(text), delimiter=mark) if row}
    except csv.Error:
        return None
    return counts.pop() if len(counts) == 1 and counts != {1} else None


def _columns(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    separator, count = condition.argument.split(":")
    text = after.text(condition.path) or ""
    # Where there is no row, none has another number.
    return (
        None
        if text == "" or columns_of(text, separator) == int(count)
        else f"not every row of {condition.path} has {count} columns"
    )


def _valid_json(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    try:
        json.loads(after.text(condition.path) or "")
    except ValueError as error:
        return f"{condition.path} is no valid JSON: {error}"
    return None


def _same_content(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    other = condition.other or ""
    found = after.digest(condition.path)
    if is_pattern(other):
        same = any(before.digest(path) == found for path in matching(other, before.paths()))
        return None if same else f"{condition.path} has the content of no file {condition.other}"
    wanted = before.digest(other) or after.digest(other)
    same = wanted is not None and found == wanted
    return None if same else f"{condition.path} and {condition.other} differ"


def _members_of(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    members = after.members(condition.path)
    if members is None:
        return f"{condition.path} is no readable archive"
    held = {member.removeprefix("./") for member in members}
    missing = [path for path in members_wanted(condition.other or "", before) if not path & held]
    return f"{condition.path} lacks {max(missing[0], key=len)}" if missing else None


def members_wanted(other: str, before: FolderContents) -> list[set[str]]:
    """The files that an archive of a folder or of a pattern holds, each by its path and by that within the folder."""
    if is_pattern(other):
        root = posixpath.dirname(other.split("*")[0])
        paths = matching(other, before.paths())
    else:
        root = other
        paths = [path for path in before.paths() if path.startswith(f"{other}/")]
    return [
        {path, path.removeprefix(f"{root}/"), f"{posixpath.basename(root)}/{path.removeprefix(f'{root}/')}"}
        for path in sorted(paths)
    ]


def _compares(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    """A result of a comparison: its rows or the files that it names, against what was compared."""
    sources, result = comparisons.sources_compared(condition.other or ""), _lines(condition, after)
    if not comparisons.is_about_files(condition.argument):
        first, second = _rows_compared(condition, before, after)
        problem = comparisons.rows_objection(condition.argument, result, first, second)
    else:
        differing, equal = _files_compared(condition, before)
        problem = comparisons.files_objection(result, differing, equal, sources)
        root = posixpath.dirname(sources[0]) if len(sources) == 1 else ""
        if problem is not None and root:
            # A list that was made within the folder names its files without it.
            inside = [[posixpath.relpath(path, root) for path in group] for group in (differing, equal)]
            problem = comparisons.files_objection(result, inside[0], inside[1], ()) and problem
    return None if problem is None else f"{condition.path}: {problem}"


def _selects(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    """A result of a query: the rows that it selects of the file that its table was made from."""
    wanted = queries.rows_selected(condition.argument, _source(condition, before, after))
    given = queries.rows_given(condition.argument, after.text(condition.path) or "")
    if wanted is None or given is None:
        return f"{condition.path} or {condition.other} has other columns"
    lacks, has = wanted - given, given - wanted
    if not lacks and not has:
        return None
    row = ", ".join(str(value) for value in next(iter(lacks or has)))
    return f"{condition.path} {'lacks' if lacks else 'has'} the row {row}"


def finds_nothing(condition: ProofCondition, before: FolderContents, after: FolderContents) -> bool:
    """Whether nothing was to be found by the comparison or the query that the condition is about."""
    if condition.kind is ConditionKind.SELECTS:
        return not queries.rows_selected(condition.argument, _source(condition, before, after))
    if comparisons.is_about_files(condition.argument):
        return not _files_compared(condition, before)[0]
    return not comparisons.rows_wanted(condition.argument, *_rows_compared(condition, before, after))


def _rows_compared(
    condition: ProofCondition, before: FolderContents, after: FolderContents
) -> tuple[list[str], list[str]]:
    """The lines of both sources; twice the same where there is one."""
    sources = comparisons.sources_compared(condition.other or "")
    first, second = (lines_of(text_of(source, before, after)) for source in (sources[0], sources[-1]))
    return first, second


def _files_compared(condition: ProofCondition, before: FolderContents) -> tuple[list[str], list[str]]:
    """The files that a result has to name, and those that it may not."""
    sources = comparisons.sources_compared(condition.other or "")
    relation, _, aside = condition.argument.partition(" ")
    if relation == comparisons.EQUAL_FILES:
        one = sources[0]
        every = before.paths()
        paths = matching(one, every) if is_pattern(one) else [p for p in every if p.startswith(f"{one}/")]
        return comparisons.equal_files({p: before.digest(p) for p in paths}, aside.split())
    first, second = (_digests_in(folder, before) for folder in (sources[0], sources[-1]))
    return comparisons.tree_difference(first, second, aside.split())


def _digests_in(folder: str, before: FolderContents) -> dict[str, str | None]:
    head = f"{folder}/"
    return {path.removeprefix(head): before.digest(path) for path in before.paths() if path.startswith(head)}


def _mode(condition: ProofCondition, before: FolderContents, after: FolderContents) -> str | None:
    mode = after.mode(condition.path)
    held = mode is not None and permissions.holds(condition.argument, mode)
    return None if held else f"{condition.path} has the mode {mode or 0:o}"


_CHECKS: dict[ConditionKind, _Check] = {
    ConditionKind.EXISTS: _exists,
    ConditionKind.NOT_EMPTY: _not_empty,
    ConditionKind.SORTED: _sorted,
    ConditionKind.LINE_COUNT: _line_count,
    ConditionKind.LINES_OF: _lines_of,
    ConditionKind.DISTINCT_LINES: _distinct_lines,
    ConditionKind.HEADER_OF: _header_of,
    ConditionKind.HOLDS_TEXT: _holds_text,
    ConditionKind.LACKS_TEXT: _lacks_text,
    ConditionKind.LACKS_WORD: _lacks_word,
    ConditionKind.COLUMNS: _columns,
    ConditionKind.VALID_JSON: _valid_json,
    ConditionKind.SAME_CONTENT: _same_content,
    ConditionKind.MEMBERS_OF: _members_of,
    ConditionKind.MODE: _mode,
    ConditionKind.COMPARES: _compares,
    ConditionKind.SELECTS: _selects,
}
