"""Backward slice of a demonstration: the commands that contribute to its final state, by what each reads and writes.

DOC3 §0A.12, rows SL-13. Works on what a replay showed (``CommandUse``), so that scripts and pipelines count by the
files they really touch. Of a generated tree or a repository a use names the folder (``GeneratedTrees``).
"""

import posixpath
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from contracts.learning.evidence import CommandUse, LeftOutCommand
from domain.learning.commands.command_line import appends, parts_of

_DEFINES = re.compile(r"(?:^|[;&|({\s])(?:export\s+|declare\s+(?:-\w+\s+)*|readonly\s+)?([A-Za-z_]\w*)=")
_FUNCTION = re.compile(r"(?:^|[;\s])(?:function\s+)?([A-Za-z_][\w-]*)\s*\(\)")
_ALIAS = re.compile(r"(?:^|[;\s])alias\s+([\w-]+)=")
_SHELL_STATE = frozenset({"source", ".", "set", "shopt", "umask", "ulimit", "trap"})


@dataclass(frozen=True)
class Slice:
    """The commands that contribute, by their event ids in order, and the others with the reason."""

    kept: tuple[str, ...]
    left_out: tuple[LeftOutCommand, ...]


def contributing(commands: Sequence[str], uses: Sequence[CommandUse], changed: Collection[str]) -> Slice:
    """The backward slice from the final state.

    ``commands`` are the lines of ``uses``, in the same order; ``changed`` are the paths that differ between the
    starting and the final state. A command is kept where it wrote or removed one of them, or a file that a later kept
    command read, and nothing after it overwrote that unread. What only defines a variable, a function or an alias is
    kept where a later kept command names it; what sets the shell is kept where any later command is kept.
    """
    needed = {*changed}
    kept: list[str] = []
    left_out: list[LeftOutCommand] = []
    later: list[str] = []
    for command, use in reversed([*zip(commands, uses, strict=True)]):
        touched = {*use.written, *use.removed}
        is_needed = bool(touched & needed) or defines_for(command, later)
        if not is_needed:
            left_out.append(LeftOutCommand(event_id=use.event_id, reason=_reason(use, touched)))
            continue
        kept.append(use.event_id)
        later.append(command)
        read = {*use.read}
        if not appends(command):
            # What it replaced without reading it need not be made before.
            needed -= {path for path in touched if path not in read}
        needed |= read
        # A folder that it makes itself need not be there before.
        needed |= {parent for path in (*touched, *read) for parent in parent_folders(path)} - touched
    return Slice(tuple(reversed(kept)), tuple(reversed(left_out)))


def removers(uses: Sequence[CommandUse], kept: Collection[str], left: Collection[str]) -> tuple[str, ...]:
    """The commands that clean up after those kept: they remove what one of them wrote and what is not ``left``."""
    made: set[str] = set()
    found: list[str] = []
    for use in uses:
        if made & set(use.removed) - set(left):
            found.append(use.event_id)
        if use.event_id in kept:
            made |= set(use.written)
    return tuple(found)


def transients(uses: Sequence[CommandUse], taken: Collection[str]) -> tuple[tuple[str, ...], ...]:
    """Chains of commands that make something and remove it again, the longest first.

    ``taken`` are the paths of the starting state that are gone in the final one: their removal counts. What is there
    in the final state may have been made again after it was removed. A chain may be needed by the others: the caller
    finds out by leaving it out.
    """
    found: dict[tuple[str, ...], None] = {}
    for number, use in enumerate(uses):
        gone = {path for path in use.removed if path not in taken}
        if not gone:
            continue
        makers = [one for one in uses[:number] if gone & set(one.written)]
        for chosen in (makers, makers[-1:]):
            if chosen:
                found.setdefault((*(one.event_id for one in chosen), use.event_id))
    return tuple(sorted(found, key=len, reverse=True))


def undone(
    uses: Sequence[CommandUse], changed: Collection[str], trees: Collection[str] = ()
) -> tuple[tuple[str, ...], ...]:
    """Groups of commands that may have changed something and changed it back, the longest first.

    ``changed`` are the paths that differ between the starting and the final state. A group are all commands that wrote
    or removed a path which is no such one, or two in a row that read and wrote the same ones; paths that one command
    alone wrote, and ``trees`` (generated ones, repositories), do not count. What a group did for others the caller
    finds out by leaving it out.
    """
    writers: dict[str, list[int]] = {}
    for number, use in enumerate(uses):
        for path in {*use.written, *use.removed}:
            writers.setdefault(path, []).append(number)
    shared = {path: numbers for path, numbers in writers.items() if len(numbers) > 1 and path not in trees}
    touched = [{path for path, numbers in shared.items() if n in numbers} for n in range(len(uses))]
    found = {tuple(numbers) for path, numbers in shared.items() if path not in changed}
    found |= {
        (one, other)
        for numbers in shared.values()
        for one, other in pairwise(numbers)
        # What does not read what it replaces changes nothing back.
        if touched[one] == touched[other] and touched[other] <= {*uses[other].read}
    }
    ordered = sorted(found, key=lambda group: (-len(group), group))
    return tuple(tuple(uses[number].event_id for number in group) for group in ordered)


def parent_folders(path: str) -> list[str]:
    """The folders that a relative path lies in, the outermost first."""
    parts = path.split("/")
    return ["/".join(parts[:n]) for n in range(1, len(parts))]


def defines_for(command: str, later: Sequence[str]) -> bool:
    """Whether the command sets something in the shell that a later one uses."""
    programs = {part.program for part in parts_of(command)}
    if programs & _SHELL_STATE:
        return bool(later)
    text = "\n".join(later)
    names = [
        *(rf"\$\{{?[#!]?{name}\b" for name in _DEFINES.findall(command)),
        *(rf"(?<![\w-]){re.escape(name)}(?![\w-])" for name in _FUNCTION.findall(command)),
        *(rf"(?<![\w-]){re.escape(name)}(?![\w-])" for name in _ALIAS.findall(command)),
    ]
    if "export" in programs and later:
        return True
    return any(re.search(name, text) for name in names)


def _reason(use: CommandUse, touched: Collection[str]) -> str:
    if not touched:
        return "It changed no file and nothing that came later depends on it."
    shown = ", ".join(sorted(posixpath.basename(path) for path in touched)[:3])
    what = "It failed, and what" if not use.succeeded else "What"
    return f"{what} it changed ({shown}) was replaced or removed before anything used it."[:240]
