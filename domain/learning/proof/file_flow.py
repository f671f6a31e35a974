"""Files that go into a result: what the commands of a lesson read, touch and write, by what a replay showed."""

import re
from collections.abc import Collection, Iterator, Sequence

from contracts.learning.evidence import CommandUse
from contracts.learning.proposal import RehearsalCommand
from domain.learning.commands.shell_grammar import UnreadableCommand
from domain.learning.conditions.conditions import FolderContents
from domain.learning.interpretation.slicing import parent_folders
from domain.learning.lesson_folders import placed
from domain.learning.method.command_items import read_calls, settings_in


def inputs_of(kept: Collection[str], uses: Sequence[CommandUse], before: FolderContents) -> tuple[str, ...]:
    """The files of the starting state that the commands read or take away."""
    read = {path for use in uses if use.event_id in kept for path in (*use.read, *use.removed)}
    return tuple(sorted(path for path in read if path in before.paths()))


def earlier_results(uses: Sequence[CommandUse], before: FolderContents) -> tuple[str, ...]:
    """The files of the starting state that a command writes, and that no command before it made anything of."""
    used: set[str] = set()
    found: set[str] = set()
    for use in uses:
        if use.written or use.removed:
            used |= {*use.read, *use.removed}
        found |= {path for path in use.written if path not in used and path in before.paths()}
    return tuple(sorted(found))


def folders_of(
    inputs: Collection[str], commands: Sequence[RehearsalCommand], before: FolderContents
) -> tuple[str, ...]:
    """The folders of the starting state that hold an input, or that a command names.

    One by a path of several parts is named by the words alone, one by a single word where it is what the program
    works on: its files may count by their names, and are not read then.
    """
    every = {folder for path in before.paths() for folder in parent_folders(path)}
    text = "\n".join(one.command for one in commands)
    named = {
        one for one in every if "/" in one and re.search(rf"(?<![\w./-]){re.escape(one)}(?![\w-])", text)
    }
    named |= every & {place for one in commands for place in _worked_on(one)}
    return tuple(sorted(named | {folder for path in inputs for folder in parent_folders(path)}))


def _worked_on(command: RehearsalCommand) -> Iterator[str]:
    """What a command gives its programs as inputs, and its loops, as paths; none where bash would refuse it."""
    try:
        read = [argument for call, _ in read_calls(command.command) for argument in call.arguments]
        items = [setting for setting in settings_in(command.command) if setting.kind == "item"]
    except UnreadableCommand:
        return
    for one in (*(argument for argument in read if argument.role == "input"), *items):
        yield from (placed(command.working_folder or ".", _before_pattern(word)) for word in one.literals)


def _before_pattern(word: str) -> str:
    """The word, or the folder in front of a pattern in it."""
    name = re.split(r"[*?\[]", word, maxsplit=1)[0]
    return word if name == word else name.rpartition("/")[0]


def touched_of(kept: Collection[str], uses: Sequence[CommandUse], before: FolderContents) -> frozenset[str]:
    """The files of the starting state that the commands touch, and all of a repository or environment they touch."""
    touched = _touched(kept, uses)
    return frozenset(path for path in before.paths() if (before.tree_of(path) or path) in touched)


def used_by(kept: Collection[str], uses: Sequence[CommandUse], before: FolderContents) -> tuple[str, ...]:
    """The files of the starting state that the commands touch in any way."""
    return tuple(sorted(path for path in _touched(kept, uses) if path in before.paths()))


def _touched(kept: Collection[str], uses: Sequence[CommandUse]) -> set[str]:
    return {path for use in uses if use.event_id in kept for path in (*use.read, *use.removed, *use.written)}


def sources_of(
    kept: Collection[str], uses: Sequence[CommandUse], before: FolderContents
) -> dict[str, tuple[str, ...]]:
    """For each written file the files of the starting state that went into it, also by way of others."""
    known: dict[str, set[str]] = {}
    for use in uses:
        if use.event_id not in kept:
            continue
        read = {path for path in (*use.read, *use.removed) if path in before.paths() and path not in known}
        read |= {origin for path in (*use.read, *use.removed) for origin in known.get(path, ())}
        for path in use.written:
            known[path] = known.get(path, set()) | read
    return {path: tuple(sorted(origins)) for path, origins in known.items()}
