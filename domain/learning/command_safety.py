"""What a taught command could do to the world: destroy, send, or neither.

A conservative judgement from the text alone, made before anything runs; the sandbox holds what slips by it.
"""

import fnmatch
import posixpath
import re
from collections.abc import Iterable, Iterator

from contracts.learning.validation import SafetyClass
from domain.learning.program_risks import destroys, sends
from domain.learning.shell_calls import BUILTINS, SHELLS, Call, calls_in, name_set
from domain.learning.shell_grammar import defined_functions
from domain.learning.shell_words import UnreadableCommand

_MASK = re.compile(r"\[MASKED|\[REDACTED|[=:]\*{3,}|(?<!\S)--?[\w-]+\s+['\"]?\*{3,}")

_DELETING = frozenset({"rm", "rmdir", "unlink", "shred", "mv"})
_CHANGING = _DELETING | name_set(
    """chmod chown chgrp ln dd truncate kill pkill killall sed perl install patch git npm pip pip3 pipx make
    cargo go apt apt-get dnf yum brew docker podman crontab systemctl psql mysql sqlite3"""
)
_INTERPRETERS = name_set("python python3 node ruby perl php Rscript awk lua tclsh")
_PROGRAM_NAME = re.compile(r"[A-Za-z0-9_.+@\[-]*[A-Za-z0-9_+\[]")


def destructive_reason(command: str, working_folder: str = ".") -> str | None:
    """Why ``command`` must not run where destructive writes are forbidden, for people; None when it may.

    Removing and overwriting files by names that stay inside the rehearsal folder (``working_folder`` is
    relative to it) is not destructive: a rehearsal has only its own files. What cannot be read, or hides what
    it runs, counts as destructive.
    """
    try:
        placed = tuple(_placed_calls(command, working_folder))
        recursive = _calls_itself_in_background(command)
    except UnreadableCommand as error:
        return f"the command cannot be judged: {error}"
    if recursive:
        return "a function calls itself without end"
    return next((reason for call, folder in placed if (reason := destroys(call, folder))), None)


def external_send_reason(command: str) -> str | None:
    """Why ``command`` would reach outside over a network, for people; None when nothing says so."""
    try:
        return next((reason for reason in map(sends, calls_in(command)) if reason), None)
    except UnreadableCommand as error:
        return f"the command cannot be judged: {error}"


def holds_masked_secret(command: str) -> bool:
    """Whether a secret was cut out of the command, so that it cannot be run as it was shown.

    Asterisks count where a value belongs: behind ``=``, ``:`` or an option.
    """
    return _MASK.search(command) is not None


def removes_any(command: str, names: Iterable[str], working_folder: str = ".") -> str | None:
    """The first of ``names`` that the command would remove or move; all paths are relative to the jail.

    An unreadable command removes the first of them, for all one can tell.
    """
    wanted = tuple(names)
    try:
        operands = [
            posixpath.normpath(posixpath.join(folder, operand))
            for call, folder in _placed_calls(command, working_folder)
            for operand in _removed_operands(call)
        ]
    except UnreadableCommand:
        return wanted[0] if wanted else None
    return next((n for n in wanted if any(_covers(operand, n) for operand in operands)), None)


def safety_class(commands: Iterable[str]) -> SafetyClass:
    """How much harm the commands could do together: that of the worst of them.

    High: destroys, sends, takes another user's rights, or cannot be read. Medium: removes, moves or changes
    what is there, or runs code whose text is not in the command. Low: reads and creates.
    """
    worst = SafetyClass.LOW
    for command in commands:
        if destructive_reason(command) or external_send_reason(command):
            return SafetyClass.HIGH
        calls = calls_in(command)
        if any(call.is_privileged for call in calls):
            return SafetyClass.HIGH
        if any(_changes(call) for call in calls):
            worst = SafetyClass.MEDIUM
    return worst


def programs_used(commands: Iterable[str]) -> tuple[str, ...]:
    """The programs the commands need on the search path, each once, in order of first use.

    Left out: what the shell does itself, functions the command defines, programs named by a relative path or
    by a variable, and commands that cannot be read.
    """
    programs: dict[str, None] = {}
    for command in commands:
        try:
            functions = defined_functions(command)
            for call in calls_in(command):
                if _is_on_search_path(call) and call.program not in functions:
                    programs[call.program] = None
        except UnreadableCommand:
            continue
    return tuple(programs)


def _removed_operands(call: Call) -> tuple[str, ...]:
    """What a call removes or moves away, as it is written; ``.`` where that depends on what is there."""
    if call.program == "find" and "-delete" in call.arguments:
        return call.operands[:1] or (".",)
    if call.program not in _DELETING:
        return ()
    if call.is_given_more:
        return (".",)
    return call.operands[:-1] if call.program == "mv" else call.operands


def _placed_calls(command: str, working_folder: str) -> Iterator[tuple[Call, str]]:
    """Each call with the folder it runs in, as far as ``cd`` tells."""
    folder = working_folder
    for call in calls_in(command):
        yield call, folder
        if call.program in ("cd", "pushd") and call.operands:
            folder = posixpath.normpath(posixpath.join(folder, call.operands[0]))


def _is_on_search_path(call: Call) -> bool:
    if call.program in BUILTINS or not _PROGRAM_NAME.fullmatch(call.program):
        return False
    return "/" not in call.path or call.path.startswith("/")


def _changes(call: Call) -> bool:
    if call.program in _CHANGING or call.runs_unseen_text or "$" in call.program:
        return True
    if call.program in SHELLS | _INTERPRETERS or call.program in ("source", ".", "eval"):
        return True
    return "/" in call.path and not call.path.startswith(("/usr/", "/bin/"))


def _covers(operand: str, name: str) -> bool:
    """Whether removing ``operand`` (maybe a pattern, maybe a folder) removes ``name``."""
    parts = name.split("/")
    return operand == "." or any(
        fnmatch.fnmatchcase("/".join(parts[:count]), operand) for count in range(1, len(parts) + 1)
    )


def _calls_itself_in_background(command: str) -> bool:
    names = map(re.escape, defined_functions(command))
    return any(re.search(rf"(?<![\w:]){name}\s*\|\s*{name}(?![\w:])", command) for name in names)
