"""Candidate conditions of a lesson: statements that hold on the demonstration's result (invariant inference).

A candidate is only a guess: it becomes a condition where leaving out a command breaks it and changed input does not
(``skills/rehearsal/evidence.py``).
"""

import re
from collections.abc import Iterator, Sequence

from contracts.base import clipped
from contracts.learning.evidence import ConditionKind, ProofCondition
from domain.learning.commands.command_line import parts_of
from domain.learning.interpretation.slicing import GENERATED
from domain.learning.proof.conditions import FolderContents, Order, columns_of, lines_of, objection

MOST_FILES = 12
"""Changed files that conditions are looked for; of more, only that they exist."""

MOST_FOR_ONE_FILE = 8
"""Conditions of one file."""

_ENOUGH_LINES = 3
_DIFFERENCES = {0: "as many lines as", -1: "one line less than", 1: "one line more than"}
_FIELDS = 6
_SEPARATOR_NAMES = ("comma", "semicolon", "tab", "colon", "bar", "space")
_ARCHIVES = (".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz", ".zip")


def candidates(
    before: FolderContents, after: FolderContents, commands: Sequence[str], inputs: Sequence[str]
) -> tuple[ProofCondition, ...]:
    """Conditions that hold ``after`` the work and say more than that nothing happened.

    ``inputs`` are the files of the starting state that the commands read, ``commands`` the lines that did the work.
    """
    found: list[ProofCondition] = []
    changed = [p for p in sorted(after.paths()) if after.digest(p) != before.digest(p) and _counts(p)]
    for number, path in enumerate(changed):
        of_file = _about(path, before, after, commands, inputs) if number < MOST_FILES else _plain(path)
        holding = [c for c in of_file if objection(c, before, after) is None]
        found.extend(holding[:MOST_FOR_ONE_FILE])
    for path in sorted(set(before.paths()) - set(after.paths())):
        if _counts(path):
            found.append(_condition(ConditionKind.ABSENT, path, f"The file {path} no longer exists"))
    for path in sorted(set(after.paths()) & set(before.paths())):
        mode = after.mode(path)
        if _counts(path) and mode is not None and mode != before.mode(path) and path not in changed:
            said = f"The file {path} has the permissions {mode:o}"
            found.append(_condition(ConditionKind.MODE, path, said, argument=f"{mode:o}"))
    facts = before.facts()
    for subject, value in after.facts().items():
        if facts.get(subject) != value:
            said = f"{subject} is {value}"
            found.append(_condition(ConditionKind.STATE, subject, said, argument=value))
    return tuple(found)


def _counts(path: str) -> bool:
    return not any(part in GENERATED or part == ".git" for part in path.split("/"))


def _condition(
    kind: ConditionKind, path: str, statement: str, *, other: str | None = None, argument: str = ""
) -> ProofCondition:
    return ProofCondition(
        kind=kind,
        path=path[:240],
        other=other,
        argument=argument[:400],
        statement=clipped(statement, 240),
    )


def _plain(path: str) -> Iterator[ProofCondition]:
    yield _condition(ConditionKind.EXISTS, path, f"The file {path} exists")


def _about(
    path: str, before: FolderContents, after: FolderContents, commands: Sequence[str], inputs: Sequence[str]
) -> Iterator[ProofCondition]:
    new = path not in before.paths()
    if new:
        yield from _plain(path)
    else:
        yield _condition(ConditionKind.EXISTS, path, f"The file {path} holds the new content")
    if path.endswith(_ARCHIVES):
        yield from _archived(path, before)
        return
    copied = next((p for p in sorted(before.paths()) if before.digest(p) == after.digest(path) != None), None)  # noqa: E711
    if copied is not None and copied != path:
        said = f"The file {path} has the content of {copied}"
        yield _condition(ConditionKind.SAME_CONTENT, path, said, other=copied)
        return
    text = after.text(path)
    if text is None:
        return
    if path.endswith(".json"):
        yield _condition(ConditionKind.VALID_JSON, path, f"The file {path} is valid JSON")
    if mode := after.mode(path):
        was = before.mode(path)
        if mode & 0o111 and (was is None or not was & 0o111):
            said = f"The file {path} is executable (permissions {mode:o})"
            yield _condition(ConditionKind.MODE, path, said, argument=f"{mode:o}")
    if text.strip():
        yield _condition(ConditionKind.NOT_EMPTY, path, f"The file {path} is not empty")
        yield from _ordered(path, text)
        yield from _compared(path, text, before, commands, inputs)
        yield from _tabular(path, text)
        yield from _literals(path, text, before, commands)


def _archived(path: str, before: FolderContents) -> Iterator[ProofCondition]:
    folders = {p.split("/")[0] for p in before.paths() if "/" in p and _counts(p)}
    for folder in sorted(folders):
        said = f"The archive {path} is readable and holds every file of {folder}"
        yield _condition(ConditionKind.MEMBERS_OF, path, said, other=folder)


def _ordered(path: str, text: str) -> Iterator[ProofCondition]:
    """The orders that the lines are in; those by a field before that of whole lines, numbers before text."""
    lines = lines_of(text)
    for header in (0, 1):
        rest = lines[header:]
        if len(rest) < _ENOUGH_LINES or len(set(rest)) < _ENOUGH_LINES:
            return
        for order in _orders(header, rest):
            keys = order.keys(lines)
            if keys is not None and len(set(keys)) >= _ENOUGH_LINES and order.holds(lines):
                yield _condition(ConditionKind.SORTED, path, _said(path, order), argument=order.argument)
                return


def _orders(header: int, lines: Sequence[str]) -> Iterator[Order]:
    for numeric in (True, False):
        for separator in _SEPARATOR_NAMES:
            width = min((len(_split(line, separator)) for line in lines), default=0)
            for field in range(1, min(width, _FIELDS) + 1) if width > 1 else ():
                yield Order(separator, field, numeric, True, header)
                yield Order(separator, field, numeric, False, header)
        yield Order("space", 0, numeric, True, header)
        yield Order("space", 0, numeric, False, header)


def _split(line: str, separator: str) -> list[str]:
    mark = {"comma": ",", "semicolon": ";", "tab": "\t", "colon": ":", "bar": "|"}.get(separator)
    return line.split(mark) if mark else line.split()


def _said(path: str, order: Order) -> str:
    kind = "largest first" if order.descending else "smallest first"
    if not order.numeric:
        kind = "in descending order" if order.descending else "in ascending order"
    by = f"by field {order.field}" if order.field else "by whole lines"
    after = " after the first line" if order.header else ""
    return f"The lines of {path} are sorted {by}{after}, {kind}"


def _compared(
    path: str, text: str, before: FolderContents, commands: Sequence[str], inputs: Sequence[str]
) -> Iterator[ProofCondition]:
    lines = lines_of(text)
    sources = [one for one in inputs if before.text(one) is not None and one != path]
    for one in sources:
        source = lines_of(before.text(one) or "")
        if len(source) < _ENOUGH_LINES:
            continue
        if lines[0] == source[0] and len(lines) > 1:
            yield _condition(
                ConditionKind.HEADER_OF, path, f"{path} begins with the header of {one}", other=one
            )
        if set(lines) <= set(source):
            said = f"Every line of {path} is one of {one}"
            yield _condition(ConditionKind.LINES_OF, path, said, other=one)
            if len(source) > len(set(source)):
                yield _condition(ConditionKind.DISTINCT_LINES, path, f"{path} has no line twice")
        difference = len(lines) - len(source)
        if difference in _DIFFERENCES and len(lines) > _ENOUGH_LINES:
            said = f"{path} has {_DIFFERENCES[difference]} {one}"
            yield _condition(ConditionKind.LINE_COUNT, path, said, other=one, argument=str(difference))
    if len(lines) in {n for command in commands for n in _counts_named(command)}:
        said = f"{path} has at most {len(lines)} lines"
        yield _condition(ConditionKind.LINE_COUNT, path, said, argument=str(len(lines)))


def _tabular(path: str, text: str) -> Iterator[ProofCondition]:
    lines = lines_of(text)
    for separator in ("comma", "semicolon", "tab"):
        if (columns := columns_of(text, separator)) and len(lines) >= _ENOUGH_LINES:
            said = f"Every row of {path} has {columns} columns, separated by a {separator}"
            yield _condition(ConditionKind.COLUMNS, path, said, argument=f"{separator}:{columns}")


def _counts_named(command: str) -> Iterator[int]:
    """The numbers that ``head`` and ``tail`` are given."""
    for part in parts_of(command):
        if part.program in ("head", "tail"):
            for argument in part.arguments:
                if number := re.fullmatch(r"-?n?(\d{1,6})", argument):
                    yield int(number.group(1))


def _literals(
    path: str, text: str, before: FolderContents, commands: Sequence[str]
) -> Iterator[ProofCondition]:
    """Texts of the commands that the file holds now and did not before, and those that it no longer holds."""
    was = before.text(path) or ""
    given = "\n".join(commands)
    if was:
        gone = {word for word in re.findall(r"[\w.:-]{3,60}", was) if word in given} - set(
            re.findall(r"[\w.:-]{3,60}", text)
        )
        for word in sorted(gone)[:2]:
            said = f"The file {path} no longer holds “{word}”"
            yield _condition(ConditionKind.LACKS_TEXT, path, said, argument=word)
    words = re.findall(r"[\w.:-]{3,60}", text)
    new = [w for w in dict.fromkeys(words) if w in given and w not in was and not w.isdigit()]
    for word in [w for w in new if not any(w in (before.text(p) or "") for p in before.paths())][:2]:
        said = f"The file {path} holds “{word}”"
        yield _condition(ConditionKind.HOLDS_TEXT, path, said, argument=word)
