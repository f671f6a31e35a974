"""Permissions that a command asks for: all of a file's (``600``), or a change of some (``u+x``) beside the others."""

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from domain.learning.commands.command_line import calls_in
from domain.learning.commands.shell_grammar import UnreadableCommand
from domain.learning.interpretation.naming import listed

_CLAUSE = re.compile(r"([ugoa]*)([-+=])([rwx]*)")
_CHANGE = r"[ugoa]*(?:[-+][rwx]+|=[rwx]*)"
_MODE = re.compile(rf"[0-7]{{3,4}}|{_CHANGE}(?:,{_CHANGE})*")
_UNKNOWN = re.compile(r"\$\{[^}]*\}|\$\w+|\$\([^()]*\)|\{\}")
_BITS = {"r": 0o4, "w": 0o2, "x": 0o1}
_PLACES = {"u": 6, "g": 3, "o": 0}
_WHO = {"u": "its owner", "g": "its group", "o": "others", "ugo": "everybody"}
_MAY = {"r": "readable", "w": "writable", "x": "executable"}


def asked_of(path: str, commands: Sequence[str]) -> str | None:
    """The mode that the last ``chmod`` of a file asked for, as it was typed; ``None`` where none did."""
    found = [
        mode
        for command in commands
        for mode, names in _changes(command)
        if any(_names(n, path) for n in names)
    ]
    return found[-1] if found else None


def is_relative(mode: str) -> bool:
    """Whether a mode leaves permissions that it does not name as they were."""
    return not mode.isdigit()


def holds(argument: str, mode: int) -> bool:
    """Whether permission bits are as a mode asks for."""
    if not is_relative(argument):
        return f"{mode:o}" == argument.lstrip("0")
    return all(bool(mode & bit) is wanted for bit, wanted in _wanted(argument))


def in_words(argument: str) -> str:
    """What a mode asks for, as what is true of a file."""
    if not is_relative(argument):
        return f"has the permissions {argument}"
    return f"is {listed([_said(*clause) for clause in _clauses(argument)])}"


def _said(who: str, sign: str, what: str) -> str:
    may = listed([_MAY[one] for one in what]) or "closed"
    whom = _WHO.get(who) or listed([_WHO[one] for one in who])
    return f"{'not ' if sign == '-' else ''}{may} for {whom}"


def _clauses(argument: str) -> Iterator[tuple[str, str, str]]:
    """Each part of a change: for whom, whether it gives or takes, and which permissions."""
    for who, sign, what in _CLAUSE.findall(argument):
        # Without a name it is for all, but that nobody else may write new files as a rule (umask).
        default = "u" if "w" in what and sign == "+" else "ugo"
        names = (
            "".join(one for one in "ugo" if one in who)
            if who and "a" not in who
            else ("ugo" if who else default)
        )
        yield names, sign, "".join(one for one in "rwx" if one in what)


def _wanted(argument: str) -> Iterator[tuple[int, bool]]:
    for names, sign, what in _clauses(argument):
        for name in names:
            for one, bit in _BITS.items():
                if one in what or sign == "=":
                    yield bit << _PLACES[name], one in what and sign != "-"


def _changes(command: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each mode that the command asks for, with patterns of the files that it is asked of."""
    try:
        calls = calls_in(command)
    except UnreadableCommand:
        return
    for call in calls:
        if call.program != "chmod":
            continue
        words = list(call.arguments)
        at = next((n for n, word in enumerate(words) if _MODE.fullmatch(word)), None)
        if at is None:
            continue
        goes_down = any(re.fullmatch(r"-[a-zA-Z]*R[a-zA-Z]*|--recursive", word) for word in words[:at])
        names = [
            _UNKNOWN.sub("*", word).removeprefix("./") for word in words[at + 1 :] if not word.startswith("-")
        ]
        if call.is_given_more:
            names.append("*")
        yield words[at], (*names, *(f"{name}/*" if name != "." else "*" for name in names if goes_down))


def _names(pattern: str, path: str) -> bool:
    return fnmatchcase(path, pattern) or fnmatchcase(path, f"*/{pattern}")
