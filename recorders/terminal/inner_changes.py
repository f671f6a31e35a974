"""What a command changed inside of files that are no texts: the tables and rows of SQLite databases, in words.

Looked at only around commands in which a person works in a program, where nothing else may tell what was done. No value
of a row is read into a text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from contracts.base import clipped, counted
from contracts.learning.observation import MAX_INNER_CHARS, ProducedFile
from contracts.learning.witness import StateChange, StateObservation
from domain.learning.interpretation.obstacles import program_for_a_person
from domain.learning.lesson_folders import placed
from domain.learning.redaction.kept_files import reason_by_name
from host.witness.bounded_folder import Limits
from host.witness.sqlite import SqliteWitness
from host.witness.witness import differences, observe_all

LIMITS = Limits(seconds=1.0)
"""What one look may cost: the prompt waits for it."""

States = Mapping[Path, StateObservation]
"""What holds of each folder."""

_OF_A_TABLE = re.compile(r"table (?P<table>.+): (?P<aspect>rows|columns|content)", re.DOTALL)


def states_around(command: str, folders: Sequence[Path]) -> States:
    """What holds of the folders now; nothing where no person works in a program of the command."""
    if program_for_a_person(command) is None:
        return {}
    found: dict[Path, StateObservation] = {}
    for folder in folders:
        try:
            found[folder] = observe_all(folder, LIMITS, (SqliteWitness(),))
        except OSError:
            continue
    return found


def with_inner_changes(
    produced: Sequence[ProducedFile], root: Path, before: States, after: States
) -> tuple[ProducedFile, ...]:
    """The files, whose paths are below ``root``, with what changed in them between two looks."""
    by_path: dict[str, list[StateChange]] = {}
    for folder, then in before.items():
        prefix = folder.relative_to(root).as_posix()
        for one in differences(then, after[folder]) if folder in after else ():
            by_path.setdefault(placed(prefix, one.subject), []).append(one)

    def known(file: ProducedFile) -> ProducedFile:
        words = "; ".join(_in_words(by_path.get(file.path, ())))
        is_told = words and reason_by_name(file.path) is None
        return file.changed(inside=clipped(words, MAX_INNER_CHARS)) if is_told else file

    return tuple(map(known, produced))


def _in_words(changes: Sequence[StateChange]) -> Iterator[str]:
    """What became of each table."""
    tables: dict[str, dict[str, StateChange]] = {}
    for one in changes:
        if match := _OF_A_TABLE.fullmatch(one.aspect):
            tables.setdefault(match["table"], {})[match["aspect"]] = one
    for table, by_aspect in tables.items():
        yield f"table {table}: {_of_table(by_aspect)}"


def _of_table(changes: Mapping[str, StateChange]) -> str:
    columns, rows = changes.get("columns"), changes.get("rows")
    if columns is not None and columns.after is None:
        return "removed"
    if columns is not None:
        return f"{'made' if columns.before is None else 'changed'} with the columns {columns.after}"
    if rows is not None and isinstance(rows.before, int) and isinstance(rows.after, int):
        more = rows.after - rows.before
        return f"{counted(abs(more), 'row')} {'more' if more > 0 else 'fewer'}"
    return "other values"
