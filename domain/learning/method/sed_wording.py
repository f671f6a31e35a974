"""Sed scripts in words: substitutions, deletions and selections of lines; what is more is quoted as it stands."""

import re

from domain.learning.method.quoting import quoted

_MAX_SCRIPT = 2_000
"""Characters of a script that is put into words; a longer one is quoted."""

_ADDRESS = re.compile(r"(\d+|\$|/(?:\\.|[^/\\])*/)(?:,(\d+|\$|/(?:\\.|[^/\\])*/))?(!?)")
_FLAGS = re.compile(r"[gpiI]|\d{1,4}")
_BETWEEN = re.compile(r"[\s;]*")


class _Unworded(Exception):
    """The script has a command that is not put into words."""


def sed_facts(script: str, *, extended: bool, quiet: bool) -> tuple[str, ...]:
    """A text for each command of ``script``, or the whole script quoted where one of them is not known.

    ``extended`` and ``quiet`` are sed's ``-E`` and ``-n``.
    """
    try:
        if len(script) > _MAX_SCRIPT:
            raise _Unworded
        facts = _Script(script, extended=extended, quiet=quiet).facts()
    except _Unworded:
        facts = []
    if facts:
        return tuple(facts)
    only = ", which prints only what it says" if quiet else ""
    return (f"edited by the sed script {quoted(script)}{only}",)


class _Script:
    """Reads a script from left to right."""

    def __init__(self, text: str, *, extended: bool, quiet: bool) -> None:
        self.text = text
        self.at = 0
        self.kind = " (extended regular expression)" if extended else ""
        self.quiet = quiet

    def facts(self) -> list[str]:
        found: list[str] = []
        self._pass()
        while self.at < len(self.text):
            found.append(self._command())
            start = self.at
            self._pass()
            if self.at < len(self.text) and start == self.at:
                raise _Unworded
        return found

    def _pass(self) -> None:
        found = _BETWEEN.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def _command(self) -> str:
        first = last = ""
        if found := _ADDRESS.match(self.text, self.at):
            first, last = found[1], found[2] or ""
            self.at = found.end()
            if found[3]:
                raise _Unworded
        letter = self.text[self.at : self.at + 1]
        self.at += 1
        if letter == "s":
            return self._substitution(first, last)
        if letter == "q" and first and not last and not self.quiet:
            return f"stops after {self._lines(first, last)[0]}"
        if letter == "d" and first and not self.quiet:
            lines, verb = self._lines(first, last)
            return f"{lines} {verb} deleted"
        if letter == "p" and first and self.quiet:
            lines, verb = self._lines(first, last)
            return f"only {lines} {verb} printed"
        raise _Unworded

    def _lines(self, first: str, last: str) -> tuple[str, str]:
        """The lines of an address, and ``is`` or ``are``."""
        if not last:
            if first == "$":
                return "the last line", "is"
            if first.isdigit():
                return f"line {first}", "is"
            return f"lines that match {quoted(first[1:-1])}{self.kind}", "are"
        ends = [
            ("the last" if one == "$" else one if one.isdigit() else quoted(one[1:-1]))
            for one in (first, last)
        ]
        word = "lines" if first.isdigit() else "lines from"
        return f"{word} {ends[0]} to {ends[1]}", "are"

    def _substitution(self, first: str, last: str) -> str:
        mark = self.text[self.at : self.at + 1]
        if not mark or mark in "\\\n":
            raise _Unworded
        self.at += 1
        pattern, replacement = self._up_to(mark), self._up_to(mark)
        flags: set[str] = set()
        while found := _FLAGS.match(self.text, self.at):
            flags.add(found.group())
            self.at = found.end()
        if ("p" in flags) != self.quiet:
            raise _Unworded
        return self._replaced(pattern, replacement, flags, first, last)

    def _replaced(self, pattern: str, replacement: str, flags: set[str], first: str, last: str) -> str:
        case = " (in any case)" if flags & {"i", "I"} else ""
        shown = f"{quoted(pattern)}{self.kind}{case}"
        number = next((f for f in flags if f.isdigit()), "")
        if "g" in flags:
            what = f"every {shown}" + (f" from number {number} of each line on" if number else "")
        elif number:
            what = f"{shown} number {number} of each line"
        else:
            what = f"the first {shown} of each line"
        done = f"is replaced by {quoted(replacement)}" if replacement else "is removed"
        place = f"on {self._lines(first, last)[0]}: " if first else ""
        only = ", only such lines are printed" if self.quiet else ""
        return f"{place}{what} {done}{only}"

    def _up_to(self, mark: str) -> str:
        """The text up to the next ``mark`` that is not escaped; an escaped one loses its backslash."""
        piece: list[str] = []
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == mark:
                self.at += 1
                return "".join(piece)
            if character == "\\":
                following = self.text[self.at + 1 : self.at + 2]
                piece.append(following if following == mark else character + following)
                self.at += 2
            else:
                piece.append(character)
                self.at += 1
        raise _Unworded
