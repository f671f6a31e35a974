"""Calls that only prepare or tidy up for others: files made and removed again, input that must be sorted.

Such a call is no technique of the work: whoever joins two files sorts them first, and removes the sorted ones.
"""

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from domain.learning.commands.command_line import Call, calls_in, name_set
from domain.learning.commands.operations import NetChange, NetEffect
from domain.learning.commands.shell_grammar import UnreadableCommand
from domain.learning.method.arguments import read_call

_REMOVING = name_set("rm rmdir unlink shred")
_CHANGING = _REMOVING | name_set("chmod chown chgrp truncate")
"""Programs whose outputs were there before."""

_EXPANSION = re.compile(r"\$\{[^}]*\}|\$\(.*\)|\$\w+|`[^`]*`")
_PATTERN = re.compile(r"[*?\[]")
_NEEDS_SORTED = name_set("join comm uniq")
_OTHER_ORDER = name_set("sort shuf tsort wc join")
"""Programs whose output does not have the order of their input, or has none."""


@dataclass(frozen=True)
class _Placed:
    """A call with the number of its command line."""

    line: int
    call: Call


def auxiliary_calls(
    lines: Sequence[tuple[Call, ...]],
    assignments: Mapping[str, Sequence[str]],
    effects: Collection[NetEffect],
) -> frozenset[tuple[int, int]]:
    """The calls that only serve others, each as the position of its line and its position there.

    ``lines`` are the calls of each command, ``assignments`` the values that these give to variables. A removal serves
    others where all that it names was made before, by what the commands write or what the ``effects`` show; so does
    moving what a command has just written. A sort does where only programs read it that need sorted input, and no
    result has its order.
    """
    flow = _Flow(lines, assignments, effects)
    return frozenset(
        (number, position)
        for number, calls in enumerate(lines)
        for position, call in enumerate(calls)
        if flow.is_auxiliary(_Placed(number, call))
    )


class _Flow:
    """What the calls of a method write, read and remove."""

    def __init__(
        self,
        lines: Sequence[tuple[Call, ...]],
        assignments: Mapping[str, Sequence[str]],
        effects: Collection[NetEffect],
    ) -> None:
        self.calls = [_Placed(number, call) for number, calls in enumerate(lines) for call in calls]
        self.written = {word for one in self.calls for word in _results(one.call)}
        self.made = self.written | {word for one in self.calls for word in _outputs(one.call)}
        self.made |= {
            f"${name}" for name, values in assignments.items() if any("mktemp" in v for v in values)
        }
        self.folders = {
            word for one in self.calls if one.call.program == "mkdir" for word in _outputs(one.call)
        }
        self.removed = {
            word
            for one in self.calls
            if one.call.program in _REMOVING
            for word in map(_word, one.call.operands)
        }
        self.transient = [one.path for one in effects if one.change is NetChange.TRANSIENT]
        self.new = [one.path for one in effects if one.change is NetChange.CREATED] + self.transient
        self.lost = [one.path for one in effects if one.change is NetChange.DELETED]

    def is_auxiliary(self, placed: _Placed) -> bool:
        call = placed.call
        if call.program in _REMOVING:
            return bool(call.operands) and all(self._was_made(_word(one)) for one in call.operands)
        if call.program == "mv":
            sources = [_word(one) for one in call.operands[:-1]]
            return bool(sources) and all(one in self.written for one in sources)
        if call.program == "sort":
            return self._only_serves(placed)
        return False

    def _was_made(self, word: str) -> bool:
        """Whether all that a removal names was made by the commands themselves."""
        pattern = _EXPANSION.sub("*", word)
        if any(_matches(path, pattern) for path in self.lost):
            return False
        if word in self.made or any(word.startswith(f"{folder}/") for folder in self.folders):
            return True
        if any(_matches(path, pattern) for path in self.new):
            return True
        is_telling = _PATTERN.search(word) and pattern.strip("*") and not word.startswith("*.*")
        return bool(is_telling) and any(fnmatchcase(one, pattern) for one in self.made)

    def _is_gone(self, word: str) -> bool:
        pattern = _EXPANSION.sub("*", word)
        return any(word == one or fnmatchcase(word, one) for one in self.removed) or any(
            _matches(path, pattern) for path in self.transient
        )

    def _only_serves(self, sort: _Placed) -> bool:
        arguments = read_call("sort", sort.call.arguments).arguments
        if any(one.name in ("-c", "-R") for one in arguments):
            return False
        readers = self._readers(sort)
        if not readers or any(one.call.program not in _NEEDS_SORTED for one in readers):
            return False
        keys = sum(one.name == "-k" for one in arguments)
        return not any(self._keeps_order(one, keys) for one in readers)

    def _keeps_order(self, reader: _Placed, keys: int, depth: int = 0) -> bool:
        """Whether a result has the order in which ``reader`` got its lines; a join has that of its key anyway."""
        if reader.call.program == "join":
            return keys > 1
        if depth > len(self.calls):
            return True
        if reader.call.program not in _NEEDS_SORTED:
            return reader.call.program not in _OTHER_ORDER
        readers = self._readers(reader)
        return not readers or any(self._keeps_order(one, keys, depth + 1) for one in readers)

    def _readers(self, placed: _Placed) -> list[_Placed]:
        """The calls that read the output; none where it is a result of the method, or also one."""
        later = self.calls[self.calls.index(placed) + 1 :]
        results = _results(placed.call)
        if results:
            if not all(map(self._is_gone, results)):
                return []
            return [one for one in later if one.call.program not in _REMOVING and results & _read(one.call)]
        same_line = [one for one in later if one.line == placed.line]
        for one in same_line:
            if any(_ends_with(inner, placed.call) for inner in _substitutions(one.call)):
                return [one]
        fed = next((i for i, one in enumerate(same_line) if one.call.is_fed), None)
        if fed is None or (fed > 0 and not any(_substitutions(same_line[fed].call))):
            return []
        return [same_line[fed]]


def _word(word: str) -> str:
    plain = re.sub(r"\$\{(\w+)\}", r"$\1", word)
    return posixpath.normpath(plain) if plain else plain


def _matches(path: str, pattern: str) -> bool:
    """Whether a removal of ``pattern``, in whatever folder it was typed, takes the file."""
    return any(fnmatchcase(path, one) for one in (pattern, f"*/{pattern}", f"{pattern}/*", f"*/{pattern}/*"))


def _results(call: Call) -> frozenset[str]:
    """The files that the call's output goes to, as they are written."""
    named = [
        value
        for one in read_call(call.program, call.arguments).arguments
        if one.name and one.role == "output"
        for value in one.values
    ]
    redirected = [
        one.target
        for one in call.redirections
        if one.writes and not one.target.startswith("/dev/") and not one.target.isdigit()
    ]
    return frozenset(map(_word, (*named, *redirected)))


def _outputs(call: Call) -> frozenset[str]:
    if call.program in _CHANGING:
        return frozenset()
    arguments = read_call(call.program, call.arguments).arguments
    return frozenset(
        _word(value) for one in arguments if one.role in ("output", "archive") for value in one.values
    )


def _read(call: Call) -> frozenset[str]:
    inputs = [one.target for one in call.redirections if one.operator == "<"]
    return frozenset(map(_word, (*call.operands, *inputs)))


def _substitutions(call: Call) -> Iterator[tuple[Call, ...]]:
    """The calls of each process substitution that the call reads."""
    for word in (*call.arguments, *(one.target for one in call.redirections)):
        if word.startswith("<(") and word.endswith(")"):
            try:
                yield calls_in(word[2:-1])
            except UnreadableCommand:
                continue


def _ends_with(inner: Sequence[Call], call: Call) -> bool:
    return bool(inner) and (inner[-1].program, inner[-1].arguments) == (call.program, call.arguments)
