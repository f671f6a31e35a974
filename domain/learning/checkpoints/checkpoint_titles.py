"""Titles of checkpoints: what the commands of a step make true, and where nothing is known, which files are there."""

import re
from collections.abc import Sequence

from domain.learning.commands.command_line import Part, name_set, parts_of
from domain.learning.commands.operations import (
    DELETE,
    FILTER,
    MOVE,
    PREPARE,
    RUN,
    TRIM,
    WRITE,
    NetChange,
    NetEffect,
    Operation,
    gives_way,
    operation_of,
)

_SELECTING = name_set("grep egrep fgrep rg comm csvcut csvgrep xsv cut uniq head tail")
_CARRYING = name_set("cat sort tee true test [ cd basename dirname")
"""Programs beside which a selection stays one: they neither add nor change a record."""

_WRITERS = name_set("cat echo printf")
_SED_SELECTS = re.compile(r"(?:^|[\d$/}])[dq]$")
_AWK = name_set("awk gawk mawk")


def title_of(
    commands: Sequence[tuple[str, str]], main: Operation, effects: Sequence[NetEffect], files: str
) -> str:
    """What is true once ``effects`` are brought about.

    ``commands`` are the step's lines with the ids of their events, ``main`` is what the step as a whole does, and
    ``files`` names the files as the subject of a sentence: "The file a.txt".
    """
    lines = dict(commands)
    last = list(dict.fromkeys(lines[e.event_id] for e in effects if e.event_id in lines))
    there = [e for e in effects if e.survives]
    if not there:
        return _gone(last, effects)
    last = [lines[e.event_id] for e in there if e.event_id in lines]
    found = {operation_of(command) for command in last}
    if found == {MOVE} and any(not e.survives for e in effects):
        return MOVE.goal if len(there) == 1 else "The files are in their new places"
    if found == {PREPARE} and (said := _prepared(last)):
        return said
    if found <= {MOVE, DELETE, PREPARE}:
        # What only came to its place was made before: that says what it is.
        found = {main}
        last = [command for _, command in commands if operation_of(command) is main] or last
    if len(found) == 1 and all(_is_true(operation := one, last) for one in found):
        return operation.goal
    return named_title(there, files)


def named_title(effects: Sequence[NetEffect], files: str) -> str:
    """The files themselves, as the subject that ``files`` is."""
    state = "up to date" if all(e.change is NetChange.MODIFIED for e in effects) else "ready"
    return f"{files} {'are' if files.startswith('The files') else 'is'} {state}"


def _gone(commands: Sequence[str], effects: Sequence[NetEffect]) -> str:
    if commands and all(map(gives_way, commands)):
        return (
            "The file is no longer under its old name"
            if len(effects) == 1
            else "The files are no longer under their old names"
        )
    return DELETE.goal


def _prepared(commands: Sequence[str]) -> str:
    programs = {part.program for command in commands for part in parts_of(command)}
    if "ln" in programs:
        return "The link is in place" if len(commands) == 1 else "The links are in place"
    return "The permissions are set" if programs & {"chmod", "chown", "umask"} else ""


def _is_true(operation: Operation, commands: Sequence[str]) -> bool:
    """Whether the operation says what the commands make; of a text that is put together, or worded anew, none does."""
    if operation in (WRITE, RUN, PREPARE, DELETE, MOVE) or not commands:
        return False
    parts = [part for command in commands for part in parts_of(command)]
    if any(part.program in _WRITERS and part.writes and _is_text(part) for part in parts):
        return False
    return operation not in (FILTER, TRIM) or all(map(_selects, parts))


def _is_text(part: Part) -> bool:
    return part.program != "cat" or (part.is_fed and not part.operands)


def _selects(part: Part) -> bool:
    """Whether what a program gives out is a selection of what it takes in, as that was."""
    name, arguments = part.program, part.arguments
    if not name or name in _SELECTING or name in _CARRYING:
        return True
    if name == "sed":
        in_place = any(a.startswith(("-i", "--in-place")) for a in arguments)
        return not in_place and ("-n" in arguments or any(map(_SED_SELECTS.search, part.operands[:1])))
    if name in _AWK:
        program = part.operands[0] if part.operands else ""
        return not program.lstrip().startswith("{") or "if" in program
    return name == "jq" and any("select(" in a for a in arguments)
