"""What a method removes, as its commands say it: files by their names, and the rules by which others are found."""

import posixpath
from collections.abc import Collection, Iterator, Sequence
from fnmatch import fnmatchcase

from domain.learning.commands.command_line import parts_of
from domain.learning.commands.operations import gives_way
from domain.learning.interpretation.lasting_names import LastingNames
from domain.learning.interpretation.steps import DemonstratedStep, all_events
from domain.learning.method.option_meanings import facts_of

_BY_NAME = frozenset({"rm", "rmdir", "unlink", "shred"})
_WILD = frozenset("*?[")


def gone_by_command(
    steps: Sequence[DemonstratedStep], gone: Collection[str]
) -> Iterator[tuple[str, str, list[str]]]:
    """The lines that took the files ``gone`` away, each with its working folder and those files."""
    last: dict[str, tuple[str, str]] = {}
    for event in all_events(steps):
        for file in event.terminal.produced_files if event.terminal else ():
            if file.change == "deleted" and file.path in gone and event.terminal:
                last[file.path] = (event.terminal.command, event.terminal.working_folder)
    for command, folder in dict.fromkeys(last.values()):
        yield command, folder, [path for path, by in last.items() if by == (command, folder)]


def removals(steps: Sequence[DemonstratedStep], gone: Collection[str], names: LastingNames) -> list[str]:
    """What is removed: files and patterns that a command names, and what a search finds, with the search.

    A method removes whatever its commands find on the day, not the files of the demonstration.
    """
    found: dict[str, None] = {}
    for command, folder, paths in gone_by_command(steps, gone):
        if gives_way(command):
            continue
        left = list(paths)
        for operand in _operands(command, folder):
            covered = [path for path in left if _covers(operand, path)]
            left = [path for path in left if path not in covered]
            if covered:
                found[
                    operand if _WILD & set(operand) or operand in covered else f"everything in {operand}"
                ] = None
        if left and (searched := _search(command)):
            found[f"every file that find gives ({searched})"] = None
        elif left:
            found.update(dict.fromkeys(names.of_all(left)))
    return list(found)


def moved_away(steps: Sequence[DemonstratedStep], gone: Collection[str], names: LastingNames) -> list[str]:
    """The files that are gone since they were moved, renamed or packed."""
    taken = [
        path for command, _, paths in gone_by_command(steps, gone) if gives_way(command) for path in paths
    ]
    return names.of_all(taken)


def _operands(command: str, folder: str) -> Iterator[str]:
    for part in parts_of(command):
        words = part.operands if part.program in _BY_NAME else ()
        yield from (posixpath.normpath(posixpath.join(folder or ".", word)) for word in words)


def _covers(operand: str, path: str) -> bool:
    if operand == path or path.startswith(f"{operand}/"):
        return True
    wild = operand.split("/")
    return bool(_WILD & set(operand)) and len(wild) == path.count("/") + 1 and fnmatchcase(path, operand)


def _search(command: str) -> str:
    """What ``find`` is asked for, in words; empty where it does not search."""
    texts = [fact.text.replace("'", "") for fact in facts_of(command) if fact.program == "find"]
    return ", ".join(dict.fromkeys(texts))
