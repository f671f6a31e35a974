"""Finds and replaces literal values in a shell command so that the new value stays data, whatever it holds.

A value is spelled as the place asks for: bare in a word, between quotes, in a here-document. Variables and comments are
left alone; of ``${…}`` only what is cut off, put in its place or given instead counts.
"""

import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum, auto


class Quoting(Enum):
    """How the shell reads a piece of text."""

    BARE = auto()
    SINGLE = auto()
    DOUBLE = auto()
    DOCUMENT = auto()
    """A here-document in which the shell expands."""
    LITERAL_DOCUMENT = auto()
    SPECIAL = auto()
    """Backquotes, arithmetic, ``$'…'`` and the text in ``${name#text}``: only letters, digits and the like are safe."""
    BREAK = auto()
    """Between words, and the quotation marks themselves."""
    UNTOUCHED = auto()
    """Names of variables, comments, delimiters of here-documents."""


@dataclass(frozen=True)
class _Glyph:
    """One character as the program sees it, and where it is written."""

    character: str
    start: int
    end: int
    quoting: Quoting
    word: int


@dataclass(frozen=True)
class ValuePlace:
    """Where a value stands in a command."""

    value: str
    start: int
    end: int
    quoting: Quoting
    word: str
    """The word around it, quotes removed; in a here-document its line."""
    begins_word: bool

    def spelled(self, text: str) -> str:
        """``text`` as it is written at this place; control characters are the caller's to refuse."""
        match self.quoting:
            case Quoting.BARE:
                return shlex.quote(text)
            case Quoting.SINGLE:
                return text.replace("'", "'\\''")
            case Quoting.DOUBLE:
                return re.sub(r'([\\"$`])', r"\\\1", text)
            case Quoting.DOCUMENT:
                return re.sub(r"([\\$`])", r"\\\1", text)
            case _:
                return text


_NAME = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
_BRACES_WITH_TEXT = re.compile(r"\$\{(?:[A-Za-z_]\w*|\d+|[@*])(?:\[[@*\d]+\])?(?:##?|%%?|:?[-=+?]|//?[#%]?)")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")
_DELIMITER = re.compile(r"[ \t]*((?:'[^']*'|\"[^\"]*\"|\\.|[^\s;&|()<>'\"\\])+)")
_MAX_DEPTH = 30
"""Nesting of substitutions; what is deeper is ``SPECIAL``."""
_OPERATORS = frozenset(" \t\r\n;&|()<>")


def value_places(command: str, pattern: re.Pattern[str]) -> tuple[ValuePlace, ...]:
    """Where ``pattern`` matches the command as programs see it, quotes and escapes removed, from left to right.

    A match that spans several quotations is no place.
    """
    glyphs = _Scanner(command).scan()
    seen = "".join("\n" if g.quoting in (Quoting.BREAK, Quoting.UNTOUCHED) else g.character for g in glyphs)
    words: dict[int, str] = {}
    for glyph in glyphs:
        if glyph.quoting is not Quoting.BREAK:
            words[glyph.word] = words.get(glyph.word, "") + glyph.character
    found: list[ValuePlace] = []
    for match in pattern.finditer(seen):
        first, last = glyphs[match.start()], glyphs[match.end() - 1]
        before = glyphs[match.start() - 1] if match.start() else None
        found.append(
            ValuePlace(
                match.group(),
                first.start,
                last.end,
                first.quoting,
                words[first.word],
                before is None or before.word != first.word or before.quoting is Quoting.BREAK,
            )
        )
    return tuple(found)


def with_values(command: str, places: tuple[ValuePlace, ...], value: Callable[[ValuePlace], str]) -> str:
    """The command with another value at each place, spelled as the place asks for."""
    return with_texts(command, places, lambda place: place.spelled(value(place)))


def with_texts(command: str, places: Iterable[ValuePlace], text: Callable[[ValuePlace], str]) -> str:
    """The command with another text at each place, as it is."""
    parts: list[str] = []
    end = 0
    for place in places:
        parts += [command[end : place.start], text(place)]
        end = place.end
    return "".join((*parts, command[end:]))


class _Scanner:
    """Reads a command once, from left to right; what is not understood is ``SPECIAL``."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._glyphs: list[_Glyph] = []
        self._words = 0
        self._documents: list[tuple[str, bool, bool]] = []
        self._depth = 0

    def scan(self) -> list[_Glyph]:
        """Every character."""
        self._script(nested=False)
        return self._glyphs

    def _put(self, quoting: Quoting, word: int, length: int = 1, character: str | None = None) -> None:
        if character is None:
            for at in range(self._at, min(self._at + length, len(self._text))):
                self._glyphs.append(_Glyph(self._text[at], at, at + 1, quoting, word))
        else:
            self._glyphs.append(_Glyph(character, self._at, self._at + length, quoting, word))
        self._at += length

    def _new_word(self) -> int:
        self._words += 1
        return self._words

    def _script(self, *, nested: bool) -> None:
        """Reads commands up to the end, or to the bracket that closes a substitution."""
        word, depth, is_fresh = self._new_word(), 0, True
        while self._at < len(self._text):
            character = self._text[self._at]
            if character in _OPERATORS:
                if character == ")" and depth == 0 and nested:
                    return
                depth += (character == "(") - (character == ")" and depth > 0)
                word, is_fresh = self._operator(character), True
                continue
            if is_fresh:
                if character == "#":
                    end = self._text.find("\n", self._at)
                    self._put(Quoting.UNTOUCHED, word, (end if end >= 0 else len(self._text)) - self._at)
                    continue
                if assigned := _ASSIGNED.match(self._text, self._at):
                    self._put(Quoting.UNTOUCHED, word, assigned.end() - self._at)
                    word, is_fresh = self._new_word(), False
                    continue
            is_fresh = False
            self._piece(character, word)

    def _operator(self, character: str) -> int:
        """Reads what separates words; the number of the word after it."""
        is_document = self._text.startswith("<<", self._at) and not self._text.startswith("<<<", self._at)
        if is_document:
            self._document_begins()
        elif self._text.startswith("<<<", self._at):
            self._put(Quoting.BREAK, 0, 3)
        else:
            self._put(Quoting.BREAK, 0)
            if character == "\n":
                self._read_documents()
        return self._new_word()

    def _piece(self, character: str, word: int) -> None:
        if character == "\\":
            escaped = self._text[self._at + 1 : self._at + 2]
            if escaped in ("", "\n"):
                self._put(Quoting.BREAK, word, 1 + len(escaped), "\n")
            else:
                self._put(Quoting.BARE, word, 2, escaped)
        elif character == "'":
            self._single(word)
        elif character == '"':
            self._double(word)
        elif character in "$`":
            self._expansion(word, in_quotes=False)
        else:
            self._put(Quoting.BARE, word)

    def _single(self, word: int) -> None:
        self._put(Quoting.BREAK, word)
        end = self._text.find("'", self._at)
        self._put(Quoting.SINGLE, word, (end if end >= 0 else len(self._text)) - self._at)
        self._put(Quoting.BREAK, word)

    def _double(self, word: int) -> None:
        self._put(Quoting.BREAK, word)
        while self._at < len(self._text) and self._text[self._at] != '"':
            self._expanding(Quoting.DOUBLE, word, '$`"\\')
        self._put(Quoting.BREAK, word)

    def _expanding(self, quoting: Quoting, word: int, escapable: str) -> None:
        """One character, escape or expansion of a quotation in which the shell expands."""
        character = self._text[self._at]
        escaped = self._text[self._at + 1 : self._at + 2]
        if character == "\\" and escaped and escaped in escapable:
            self._put(quoting, word, 2, escaped)
        elif character in "$`":
            self._expansion(word, in_quotes=True)
        else:
            self._put(quoting, word)

    def _expansion(self, word: int, *, in_quotes: bool) -> None:
        rest = self._text[self._at : self._at + 3]
        if rest.startswith("`"):
            self._special(word, 1, "`")
        elif rest == "$((":
            self._special(word, 3, "))")
        elif rest.startswith("$["):
            self._special(word, 2, "]")
        elif rest.startswith("$(") and self._depth == _MAX_DEPTH:
            self._special(word, 2, ")")
        elif rest.startswith("$("):
            self._put(Quoting.BREAK, word, 2)
            self._depth += 1
            self._script(nested=True)
            self._depth -= 1
            self._put(Quoting.BREAK, word)
        elif rest.startswith("${"):
            self._braces(word)
        elif rest.startswith("$'") and not in_quotes:
            self._special(word, 2, "'")
        else:
            name = _NAME.match(self._text, self._at + 1)
            self._put(
                Quoting.UNTOUCHED if name else Quoting.BARE, word, 1 + len(name.group() if name else "")
            )

    def _special(self, word: int, opening: int, closing: str) -> None:
        """Up to ``closing``, or the end where it is missing."""
        self._put(Quoting.BREAK, word, opening)
        while self._at < len(self._text) and not self._text.startswith(closing, self._at):
            if self._text[self._at] == "\\":
                self._put(Quoting.BREAK, word, 2, "\n")
            else:
                self._put(Quoting.SPECIAL, word)
        self._put(Quoting.BREAK, word, len(closing))

    def _braces(self, word: int) -> None:
        depth, text_at = 0, len(self._text)
        if opening := _BRACES_WITH_TEXT.match(self._text, self._at):
            text_at = opening.end()
        while self._at < len(self._text):
            character = self._text[self._at]
            depth += (character == "{") - (character == "}")
            is_text = self._at >= text_at and depth == 1 and character not in "{}$`'\"\\"
            name = _NAME.match(self._text, self._at + 1) if character == "$" else None
            self._put(
                Quoting.SPECIAL if is_text else Quoting.UNTOUCHED, word, 1 + len(name.group() if name else "")
            )
            if character == "}" and depth == 0:
                return

    def _document_begins(self) -> None:
        strips = self._text.startswith("<<-", self._at)
        self._put(Quoting.BREAK, 0, 3 if strips else 2)
        delimiter = _DELIMITER.match(self._text, self._at)
        if delimiter is None:
            return
        written = delimiter.group(1)
        plain = re.sub(r"\\(.)|['\"]", r"\1", written)
        self._documents.append((plain, plain != written, strips))
        self._put(Quoting.UNTOUCHED, 0, delimiter.end() - self._at)

    def _read_documents(self) -> None:
        documents, self._documents = self._documents, []
        for delimiter, is_literal, strips in documents:
            while self._at < len(self._text):
                end = self._text.find("\n", self._at)
                end = len(self._text) if end < 0 else end
                line = self._text[self._at : end]
                if (line.lstrip("\t") if strips else line) == delimiter:
                    self._put(Quoting.UNTOUCHED, 0, min(end + 1, len(self._text)) - self._at)
                    break
                self._line(end, is_literal=is_literal)

    def _line(self, end: int, *, is_literal: bool) -> None:
        word = self._new_word()
        while self._at < end:
            if is_literal:
                self._put(Quoting.LITERAL_DOCUMENT, word)
            else:
                self._expanding(Quoting.DOCUMENT, word, "$`\\")
        if self._at < len(self._text):
            self._put(Quoting.BREAK, 0)
