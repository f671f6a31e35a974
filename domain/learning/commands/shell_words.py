"""Shell words: quotes, escapes, expansions and patterns of a bash command line, read from left to right.

The commands inside substitutions are left to the subclass, ``shell_grammar``'s parser.
"""

import re
from abc import ABC, abstractmethod


class UnreadableCommand(ValueError):
    """No complete shell command (open quote or bracket, missing ``done``), or nested too deep."""


OPEN_BRACKET = "a bracket is left open"
_OPEN_QUOTE = "a single quote is left open"
_MAX_DEPTH = 30
"""Nesting of substitutions and compound commands; also bounds the recursion of the parser."""

_BLANKS = re.compile(r"(?:[ \t\r]+|\\\r?\n|#[^\n]*)*")
_PLAIN = re.compile(r"[^ \t\r\n;&|()<>'\"\\$`\[]+")
_PLAIN_IN_DOUBLE_QUOTES = re.compile(r"[^\"\\$`]+")
_PLAIN_IN_BRACES = re.compile(r"[^}'\"\\$`]+")
_SINGLE_QUOTED = re.compile(r"'([^']*)'")
_ANSI_QUOTED = re.compile(r"\$'((?:\\.|[^'\\])*)'", re.DOTALL)
_BACKQUOTED = re.compile(r"`((?:\\.|[^`\\])*)`", re.DOTALL)
_PATTERN = re.compile(r"[*?~{]")
"""Signs outside quotes for which the shell may put names or words of its own."""

_EXPANDS = re.compile(r"\$[\w@*#?$!-]")
_BRACKET = re.compile(r"\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"|`(?:\\.|[^`\\])*`|[][()]", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*")
_ARRAY = re.compile(r"[A-Za-z_]\w*(?:\[[^]]*\])?\+?=")
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|[uU]([0-9a-fA-F]{1,8})|([0-7]{1,3})|c(.)|(.))",
    re.DOTALL,
)
_ESCAPED = dict(zip("abeEfnrtv\\'\"?", "\a\b\x1b\x1b\f\n\r\t\v\\'\"?", strict=True))


class WordReader(ABC):
    """Reads the words of ``text``; ``at`` is the position of what comes next."""

    def __init__(self, text: str, depth: int = 0) -> None:
        self.text = text
        self.at = 0
        self.has_expansion = False
        """Whether the shell puts something into what was read."""
        self.depth: int = depth - 1
        self.deepen()

    @abstractmethod
    def read_brackets(self) -> None:
        """Reads the commands in the round brackets that open here."""

    @abstractmethod
    def read_apart(self, text: str, *, is_script: bool) -> None:
        """Reads ``text``: all of it where it is a script, else only the substitutions in it."""

    def deepen(self) -> None:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise UnreadableCommand("the command is nested too deep to be judged")

    def skip(self) -> int:
        """Passes blanks, continued lines and comments; returns the position."""
        found = _BLANKS.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.at

    def word(self, *, assigns: bool = False) -> str | None:
        """Reads a word, quotes removed; None before anything else. ``assigns``: it may be an assignment."""
        start = self.skip()
        pieces: list[str] = []
        while self.at < len(self.text) and (piece := self._piece(start, assigns=assigns)) is not None:
            pieces.append(piece)
        return "".join(pieces) if self.at > start else None

    def needed_word(self, after: str) -> str:
        word = self.word()
        if word is None:
            raise UnreadableCommand(f"a word is missing after {after}")
        return word

    def regular_expression(self) -> str:
        """Reads the pattern after ``=~`` as written; its brackets and bars are its own."""
        start, depth = self.skip(), 0
        while self.at < len(self.text):
            character = self.text[self.at]
            if depth == 0 and character in " \t\r\n)":
                break
            depth += (character == "(") - (character == ")")
            if character in "()|;&<> \t" or self._piece(self.at, assigns=False) is None:
                self.at += 1
        return self.text[start : self.at]

    def arithmetic(self, start: int) -> bool:
        """Reads the ``((…))`` at ``start``; False where that is a subshell in another."""
        if not self.text.startswith("((", start):
            return False
        depth = 0
        for found in _BRACKET.finditer(self.text, start):
            depth += (found.group() == "(") - (found.group() == ")")
            if depth == 1 and found.group() == ")":
                if not self.text.startswith(")", found.end()):
                    return False
                self.read_apart(self.text[start + 2 : found.start()], is_script=False)
                self.at = found.end() + 1
                return True
        return False

    def expansion(self, *, in_quotes: bool = False) -> str:
        """Reads an expansion and the commands in it; returns it as written, ``$'…'`` decoded."""
        start = self.at
        if self.text[start] == "`":
            self._backquoted(in_quotes=in_quotes)
        elif self.text.startswith("$(", start):
            if not self.arithmetic(start + 1):
                self.at = start + 1
                self.read_brackets()
        elif self.text.startswith("${", start):
            self._braces()
        elif self.text.startswith("$[", start):
            self.at += 1
            self._square_brackets()
        elif not in_quotes and self.text.startswith("$'", start):
            return self._ansi_quoted()
        elif not in_quotes and self.text.startswith('$"', start):
            self.at += 1
            return ""
        elif _EXPANDS.match(self.text, start):
            self.at += 2 if self.text.startswith("$$", start) else 1
        else:
            self.at += 1
            return "$"
        self.has_expansion = True
        return self.text[start : self.at]

    def _piece(self, start: int, *, assigns: bool) -> str | None:
        """Reads the next part of the word that began at ``start``; None where the word ends."""
        if plain := _PLAIN.match(self.text, self.at):
            self.at = plain.end()
            self.has_expansion |= _PATTERN.search(plain.group()) is not None
            return plain.group()
        begin, character = self.at, self.text[self.at]
        if character in "'\"\\":
            return self._quoted(character)
        if character in "$`":
            return self.expansion()
        if character == "[":
            self.has_expansion = True
            if assigns and _NAME.fullmatch(self.text, start, begin):
                self._square_brackets()
            else:
                self.at += 1
        elif self.text.startswith(("<(", ">("), begin):
            self.at += 1
            self.read_brackets()
            self.has_expansion = True
        elif character != "(" or not self._pattern_or_array(start, assigns=assigns):
            return None
        return self.text[begin : self.at]

    def _pattern_or_array(self, start: int, *, assigns: bool) -> bool:
        """Reads the brackets of ``!(a|b)`` or ``name=(a b)`` where one of these opens here."""
        if self.at > start and self.text[self.at - 1] in "?*+@!":
            self._alternatives()
        elif assigns and _ARRAY.fullmatch(self.text, start, self.at):
            self.at += 1
            while self.word() is not None or self.text.startswith("\n", self.at):
                self.at += self.text.startswith("\n", self.at)
            if not self.text.startswith(")", self.at):
                raise UnreadableCommand(OPEN_BRACKET)
            self.at += 1
        else:
            return False
        return True

    def _alternatives(self) -> None:
        self.deepen()
        self.at += 1
        open_brackets = 1
        while open_brackets:
            if self.at >= len(self.text):
                raise UnreadableCommand(OPEN_BRACKET)
            character = self.text[self.at]
            if self._piece(self.at - 1, assigns=False) is None:
                open_brackets += (character == "(") - (character == ")")
                self.at += 1
        self.depth -= 1

    def _quoted(self, mark: str) -> str:
        if mark == '"':
            return self._double_quoted()
        if mark == "\\":
            self.at += 2
            escaped = self.text[self.at - 1 : self.at]
            return "" if escaped == "\n" else escaped or mark
        found = _SINGLE_QUOTED.match(self.text, self.at)
        if found is None:
            raise UnreadableCommand(_OPEN_QUOTE)
        self.at = found.end()
        return found.group(1)

    def _double_quoted(self) -> str:
        self.at += 1
        pieces: list[str] = []
        while not self.text.startswith('"', self.at):
            if plain := _PLAIN_IN_DOUBLE_QUOTES.match(self.text, self.at):
                pieces.append(plain.group())
                self.at = plain.end()
            elif self.at >= len(self.text):
                raise UnreadableCommand("a double quote is left open")
            elif self.text[self.at] == "\\":
                escaped = self.text[self.at + 1 : self.at + 2]
                pieces.append({"\n": ""}.get(escaped, escaped if escaped in '$`"\\' else "\\" + escaped))
                self.at += 2
            else:
                pieces.append(self.expansion(in_quotes=True))
        self.at += 1
        return "".join(pieces)

    def _ansi_quoted(self) -> str:
        found = _ANSI_QUOTED.match(self.text, self.at)
        if found is None:
            raise UnreadableCommand(_OPEN_QUOTE)
        self.at = found.end()
        return _ESCAPE.sub(_decoded, found.group(1))

    def _backquoted(self, *, in_quotes: bool) -> None:
        found = _BACKQUOTED.match(self.text, self.at)
        if found is None:
            raise UnreadableCommand("a backquote is left open")
        self.at = found.end()
        escapes = r'\\([\\`$"])' if in_quotes else r"\\([\\`$])"
        self.read_apart(re.sub(escapes, r"\1", found.group(1)), is_script=True)

    def _braces(self) -> None:
        """Reads a ``${…}``; quotes count in it even between double quotes."""
        self.deepen()
        self.at += 2
        while not self.text.startswith("}", self.at):
            if plain := _PLAIN_IN_BRACES.match(self.text, self.at):
                self.at = plain.end()
            elif self.at >= len(self.text):
                raise UnreadableCommand(OPEN_BRACKET)
            elif self.text[self.at] in "$`":
                self.expansion()
            else:
                self._quoted(self.text[self.at])
        self.at += 1
        self.depth -= 1

    def _square_brackets(self) -> None:
        """Reads a subscript or ``$[…]`` with the substitutions in it."""
        depth = 0
        for found in _BRACKET.finditer(self.text, self.at):
            depth += (found.group() == "[") - (found.group() == "]")
            if depth == 0:
                self.read_apart(self.text[self.at + 1 : found.start()], is_script=False)
                self.at = found.end()
                return
        raise UnreadableCommand(OPEN_BRACKET)


def _decoded(escape: re.Match[str]) -> str:
    """The character of an escape in ``$'…'``; NUL and what is no character are left out."""
    hexadecimal, octal, control, mark = escape[1] or escape[2], escape[3], escape[4], escape[5]
    if hexadecimal or octal:
        code = int(hexadecimal, 16) if hexadecimal else int(octal, 8) & 255
        return chr(code) if 0 < code < 0xD800 or 0xDFFF < code < 0x110000 else ""
    return chr(ord(control) & 31) if control else _ESCAPED.get(mark, "\\" + mark)
