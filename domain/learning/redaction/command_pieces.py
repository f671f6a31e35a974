"""Commands, words and here-strings of a line of shell, with their places in it, whatever else the line holds.

For redaction alone: every text is taken apart somehow, also one that no shell would read, and what stands in quotes
or in ``$(…)`` is taken apart again. ``domain/learning/commands`` reads commands exactly and refuses what it cannot
read, which a mask must not.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_PIECE = re.compile(
    r"(?P<blank>[ \t\r]+|\\\r?\n)|(?P<here><<<)|(?P<pipe>\|&?(?!\|))|(?P<end>\|\||&&|[;&\n()`]|\$\()"
    r"|(?P<to>\d?(?:<<-?|<>|>>|>\||[<>])&?)"
    r"|(?P<word>(?:\"(?:[^\"\\]|\\.)*+\"|'[^']*'|\\.|\$(?!\()|[^\s\"'\\|&;<>()`$]|[\"'\\])+)",
    re.DOTALL,
)
_QUOTED = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'([^']*)'", re.DOTALL)
_SHORT_OPTIONS = re.compile(r"-[A-Za-z]+")
_DEEPEST = 4
# What people write about their work, not what a program runs.
_TELLING_PROGRAMS = frozenset({"git", "gh", "glab", "hg", "svn", "jj", "notify-send"})
_TELLING_OPTIONS = frozenset(
    {"-m", "-am", "--message", "--title", "-t", "--description", "--notes", "--body", "-b"}
)


@dataclass(frozen=True, slots=True)
class Word:
    """One word as it is written, quotes included, from ``start`` to ``end`` of the text."""

    start: int
    end: int
    text: str

    @property
    def bare(self) -> str:
        """The word without its quotes."""
        return self.text.replace('"', "").replace("'", "")

    @property
    def program(self) -> str:
        """The name of the program where the word is one: no folder, no ``.exe``, lower case."""
        return re.split(r"[/\\]", self.bare)[-1].lower().removesuffix(".exe")


@dataclass(slots=True)
class PiecedCommand:
    """One simple command: its words, what it is given as here-string, and the command that is piped into it."""

    words: list[Word] = field(default_factory=list[Word])
    here: Word | None = None
    fed_by: "PiecedCommand | None" = None


def commands_in(text: str, offset: int = 0, depth: int = 0) -> Iterator[PiecedCommand]:
    """The commands of ``text`` from left to right, those in quotes behind the command that quotes them."""
    command, expects = PiecedCommand(), ""
    for piece in _PIECE.finditer(text):
        kind = piece.lastgroup
        if kind == "word":
            word = Word(offset + piece.start(), offset + piece.end(), piece.group())
            if expects == "here":
                command.here = word
            elif not expects:
                command.words.append(word)
            expects = ""
        elif kind in {"here", "to"}:
            expects = kind or ""
        elif kind in {"pipe", "end"}:
            yield from _with_quoted(command, depth)
            command, expects = PiecedCommand(fed_by=command if kind == "pipe" else None), ""
    yield from _with_quoted(command, depth)


def has_option(command: PiecedCommand, letter: str) -> bool:
    """Whether a letter is among the command's short options: ``b`` in ``-nbB``."""
    return any(_SHORT_OPTIONS.fullmatch(word.bare) and letter in word.bare for word in command.words)


def _with_quoted(command: PiecedCommand, depth: int) -> Iterator[PiecedCommand]:
    yield command
    if depth >= _DEEPEST:
        return
    tells = bool(command.words) and command.words[0].program in _TELLING_PROGRAMS
    for before, word in zip((None, *command.words), command.words, strict=False):
        if tells and before is not None and before.bare in _TELLING_OPTIONS:
            continue
        for quoted in _QUOTED.finditer(word.text):
            group = 1 if quoted.group(1) is not None else 2
            if (inner := quoted.group(group)) and any(c.isspace() for c in inner):
                yield from commands_in(inner, word.start + quoted.start(group), depth + 1)
