"""What a recorded command names: its parts, files, folders and hosts.

A reading for meaning; what a command could do to the world is judged by `command_safety`.
"""

import posixpath
import re
from dataclasses import dataclass
from functools import lru_cache

from domain.learning.shell_calls import Call, calls_in, name_set
from domain.learning.shell_words import UnreadableCommand

_WRAPPERS = name_set(
    """sudo doas env nice ionice nohup setsid stdbuf time timeout flock chroot xargs command builtin
    exec"""
)
_PATH_LIKE = re.compile(r"(?:[\w@%+.,-]+/)*[\w@%+,-][\w@%+.,-]*")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,8}$")
_URL = re.compile(r"\b(?:https?|s?ftp)://([^\s/'\"]+)")


@dataclass(frozen=True)
class Part:
    """One program of a command line with its arguments and the files its input and output are redirected to.

    Where only the redirections are left to tell (``> file``, ``sudo … > file``), ``program`` is empty.
    """

    program: str
    arguments: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    appends: bool = False


@lru_cache(maxsize=2048)
def parts_of(command: str) -> tuple[Part, ...]:
    """The parts of ``command`` in order; ``sudo`` and its like are looked through.

    A line that the shell could not read either is read by its white space.
    """
    try:
        calls = calls_in(command)
    except UnreadableCommand:
        words = command.split()
        calls = (Call(posixpath.basename(words[0]), tuple(words[1:])),) if words else ()
    parts = (_part(call) for call in calls)
    return tuple(p for p in parts if p.program or p.reads or p.writes)


def programs_in(command: str) -> tuple[str, ...]:
    """The programs that ``command`` calls, each once, in the order of their first call."""
    return tuple(dict.fromkeys(c.program for c in parts_of(command) if c.program))


def appends(command: str) -> bool:
    """Whether the command adds to a file with ``>>``, so that repeating it is no repetition."""
    return any(c.appends for c in parts_of(command))


def named_paths(command: str, working_folder: str) -> tuple[str, ...]:
    """The files that ``command`` names, relative to the demonstration's folder, each once.

    Options, URLs, absolute paths and whatever leaves the folder are left out.
    """
    paths: dict[str, None] = {}
    for simple in parts_of(command):
        for word in (*simple.operands, *simple.reads, *simple.writes):
            path = _relative(word, working_folder)
            if path is not None:
                paths[path] = None
    return tuple(paths)


def sources_in(command: str, working_folder: str) -> tuple[str, ...]:
    """The files and folders that the last part of ``command`` works on, as `named_paths` names them.

    For commands that take their sources as operands (archives, digests, copies). The results are among them:
    the caller knows those.
    """
    commands = [c for c in parts_of(command) if c.operands]
    if not commands:
        return ()
    words = commands[-1].operands
    is_bundle = commands[-1].program in ("tar", "bsdtar") and commands[-1].arguments[0] == words[0]
    paths = (_within(w, working_folder) for w in (words[1:] if is_bundle else words))
    return tuple(dict.fromkeys(p for p in paths if p is not None))


def names_outside_path(command: str) -> bool:
    """Whether the command names a place outside the demonstration's folder."""
    words = (w for c in parts_of(command) for w in (*c.operands, *c.reads, *c.writes))
    return any(w.startswith(("/", "~", "../")) and w != "/dev/null" for w in words)


def hosts_in(command: str) -> tuple[str, ...]:
    """The hosts of the URLs in ``command``, without user names and ports."""
    hosts = (m.group(1).rpartition("@")[2].partition(":")[0].lower() for m in _URL.finditer(command))
    return tuple(dict.fromkeys(h for h in hosts if h))


def looks_like_path(word: str) -> bool:
    """Whether a word reads as the name of a file rather than as a value."""
    return bool(_PATH_LIKE.fullmatch(word)) and ("/" in word or bool(_EXTENSION.search(word)))


def _part(call: Call) -> Part:
    outputs = [r for r in call.redirections if ">" in r.operator and r.target != "/dev/null"]
    outputs = [r for r in outputs if not r.target.isdigit() and r.target != "-"]
    wraps = call.program in _WRAPPERS
    return Part(
        "" if wraps else call.program,
        () if wraps else call.arguments,
        () if wraps else call.operands,
        reads=tuple(r.target for r in call.redirections if r.operator == "<"),
        writes=tuple(r.target for r in outputs),
        appends=any(">>" in r.operator for r in outputs),
    )


def _relative(word: str, working_folder: str) -> str | None:
    return _within(word, working_folder) if looks_like_path(word) else None


def _within(word: str, working_folder: str) -> str | None:
    if not _PATH_LIKE.fullmatch(word.rstrip("/")):
        return None
    path = posixpath.normpath(posixpath.join(working_folder or ".", word))
    return None if path.startswith(("/", "..")) or path == "." else path
