"""What was done wrong and put right by a later command, as one command that does it right at once.

A commit that the next one amends, a program whose text was mended before it ran, and a name that was mistyped and
changed afterwards. Whether the one command does the
same, a replay tells.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from contracts.learning.evidence import CommandUse
from contracts.learning.proposal import RehearsalCommand
from domain.learning.commands.command_line import Part, parts_of, programs_in, scripts_run
from domain.learning.interpretation.hand_edits import writing_line

_LONGEST = 2000
"""The most characters of a command that is repeated otherwise than it was typed."""

_AMEND = re.compile(r"\s--amend(?=\s|$)")
_MESSAGE = re.compile(r"-[A-Za-z]*[mF].*|--(?:message|file)(?:=.*)?", re.DOTALL)
_ALL = re.compile(r"-[A-Zb-z]*a[A-Za-z]*|--all")
_AMENDED = "A later commit amended it; that commit alone gives the same history."
_RENAMED = "It only changed a mistyped name; the result is named right at once."
_MENDS = "It only mended a program before it ran; that is written once, in its final text."
_ALIKE = 0.8
"""How alike two words are of which one is the other mistyped."""
_MENDED = "What it wrote was mended before it ran; the program is written once, in its final text."


@dataclass(frozen=True)
class PutRight:
    """One command in place of several."""

    place: int
    """Which of the commands is to be repeated otherwise."""
    command: str
    left_out: tuple[int, ...]
    """Which of the commands it makes needless."""
    reason: str


def put_right(
    commands: Sequence[RehearsalCommand], uses: Sequence[CommandUse], text: Callable[[str], str | None]
) -> Iterator[PutRight]:
    """What may be done right at once; ``uses`` are those of the commands, ``text`` gives a file's final text."""
    yield from _amended([one.command for one in commands])
    yield from _mended(commands, uses, text)
    yield from _renamed([one.command for one in commands], uses)


def _amended(commands: Sequence[str]) -> Iterator[PutRight]:
    earlier: int | None = None
    for place, command in enumerate(commands):
        commit = _commit_in(command)
        if commit is None:
            continue
        if earlier is not None and "--amend" in commit.arguments:
            for line in _at_once(commands[earlier], command, commit):
                yield PutRight(place, line, (earlier,), _AMENDED)
        earlier = place


def _commit_in(command: str) -> Part | None:
    found = (part for part in parts_of(command) if part.program == "git" and "commit" in part.arguments)
    return next(found, None)


def _at_once(first: str, second: str, amending: Part) -> Iterator[str]:
    """A commit that does what the two did: with the message of the second one, or of the first where it stays."""
    if "--no-edit" in amending.arguments:
        yield first
    elif any(map(_MESSAGE.fullmatch, amending.arguments)):
        line = _AMEND.sub("", second, count=1)
        yield line
        commit = _commit_in(first)
        if commit is not None and any(map(_ALL.fullmatch, commit.arguments)):
            yield f"{line} --all"


def _mended(
    commands: Sequence[RehearsalCommand], uses: Sequence[CommandUse], text: Callable[[str], str | None]
) -> Iterator[PutRight]:
    first_run: dict[str, int] = {}
    for place, one in enumerate(commands):
        for path in scripts_run(one.command, one.working_folder):
            first_run.setdefault(path, place)
    for path, run_at in first_run.items():
        writers = [
            n
            for n, use in enumerate(uses)
            if path in use.written and programs_in(commands[n].command) != ("chmod",)
        ]
        content = text(path)
        if len(writers) < 2 or writers[-1] >= run_at or not content:
            continue
        *mended, last = writers
        line = writing_line(path, content, commands[last].working_folder)
        if len(line) <= _LONGEST and all({*uses[n].written} == {path} for n in writers):
            yield PutRight(last, line, tuple(mended), _MENDED)
            # Between them its permissions may have been set: then it has to be there from the first on.
            first, *others = writers
            yield PutRight(first, line, tuple(others), _MENDS)


def _renamed(commands: Sequence[str], uses: Sequence[CommandUse]) -> Iterator[PutRight]:
    for place, use in enumerate(uses):
        words = _mistyped(use.removed, use.written)
        makers = [n for n in range(place) if {*use.removed} & {*uses[n].written}]
        if words is None or len(makers) != 1 or not _only_moves(commands[place]):
            continue
        (maker,), (wrong, right) = makers, words
        line = re.sub(rf"(?<![^\W_]){re.escape(wrong)}(?![^\W_])", lambda _, new=right: new, commands[maker])
        if {*uses[maker].written} == {*use.removed} and line != commands[maker]:
            yield PutRight(maker, line, (place,), _RENAMED)


def _only_moves(command: str) -> bool:
    programs = [part for part in parts_of(command) if part.program]
    return bool(programs) and all(
        part.program == "mv" or (part.program == "git" and part.arguments[:1] == ("mv",)) for part in programs
    )


def _mistyped(old: Sequence[str], new: Sequence[str]) -> tuple[str, str] | None:
    """The one word by which all new paths differ from the old ones, mistyped and right; ``None`` for other changes."""
    words = {_differing(*pair) for pair in zip(sorted(old), sorted(new), strict=False)}
    if len(old) != len(new) or len(words) != 1:
        return None
    wrong, right = words.pop()
    is_word = wrong.isalpha() and right.isalpha() and wrong != right
    return (wrong, right) if is_word and SequenceMatcher(None, wrong, right).ratio() >= _ALIKE else None


def _differing(one: str, other: str) -> tuple[str, str]:
    """The word of each path in which they differ."""
    begin = len(posixpath.commonprefix([one, other]))
    end = min(len(posixpath.commonprefix([one[::-1], other[::-1]])), len(one) - begin, len(other) - begin)
    stop = len(one) - end
    begin = len(re.sub(r"[^\W_]+\Z", "", one[:begin]))
    end = len(re.sub(r"\A[^\W_]+", "", one[stop:]))
    return one[begin : len(one) - end], other[begin : len(other) - end]
