"""Splits a shell command line into its simple commands, for judging how safe it is.

Unlike a reading for meaning (``command_line``) it looks into every place from which the shell would run
something: substitutions, subshells, loops, branches and here-documents. Nothing is expanded.
"""

import re
from dataclasses import dataclass, field

from domain.learning.shell_words import Redirection, SimpleCommand, UnreadableCommand

_MAX_DEPTH = 12
_OPENING_KEYWORDS = frozenset({"if", "then", "elif", "else", "while", "until", "do", "!", "{", "coproc"})
_CLOSING_KEYWORDS = frozenset({"fi", "done", "esac", "}"})
_HEADERS = frozenset({"for", "select"})
_REDIRECTION = re.compile(r"&>>|&>|<<<|<<-|<<|<>|<&|>>|>\||>&|<|>")
_CONTROL = re.compile(r";;&|;;|;&|&&|\|\||\|&|[;&|()\n]")


@dataclass
class _Pending:
    """A simple command while it is being read."""

    words: list[str] = field(default_factory=list[str])
    redirections: list[Redirection] = field(default_factory=list[Redirection])
    here_text: str | None = None
    fed_by_pipe: bool = False


def split_commands(text: str) -> tuple[SimpleCommand, ...]:
    """The simple commands of ``text`` and of all it nests; a substitution's come before the command's own.

    Raises:
        UnreadableCommand: the text cannot be split.
    """
    reader = _Reader(text, 0)
    reader.read()
    return tuple(c for c in reader.found if not (c.words and c.words[0] in reader.functions))


def defined_functions(text: str) -> frozenset[str]:
    """The names of the shell functions that ``text`` itself defines at its top level."""
    reader = _Reader(text, 0)
    reader.read()
    return frozenset(reader.functions)


class _Reader:
    def __init__(self, text: str, depth: int) -> None:
        if depth > _MAX_DEPTH:
            raise UnreadableCommand("the command is nested too deep to be judged")
        self.text = text
        self.depth = depth
        self.at = 0
        self.found: list[SimpleCommand] = []
        self.functions: set[str] = set()
        self.command = _Pending()
        self.word: str | None = None
        self.operator: str | None = None
        self.documents: list[tuple[str, bool]] = []
        self.in_case = 0
        self.expects_pattern = False

    def read(self) -> None:
        while self.at < len(self.text):
            self._step()
        self._end_command("\n")

    def _step(self) -> None:
        character = self.text[self.at]
        if character in " \t\r":
            self._end_word()
            self.at += 1
        elif character == "#" and self.word is None:
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
        elif self._starts_arithmetic():
            self.at = self._closing("((", "))", self.at)
        elif self.text.startswith(("<(", ">("), self.at):
            self._add(self._nested(self.at + 1))
        elif redirection := _REDIRECTION.match(self.text, self.at):
            self._redirect(redirection.group())
        elif control := _CONTROL.match(self.text, self.at):
            self._control(control.group())
        else:
            self._read_piece()

    def _starts_arithmetic(self) -> bool:
        return self.word is None and not self.command.words and self.text.startswith("((", self.at)

    def _read_piece(self) -> None:
        character = self.text[self.at]
        if character == "'":
            end = self.text.find("'", self.at + 1)
            if end < 0:
                raise UnreadableCommand("a single quote is left open")
            self._add(self.text[self.at + 1 : end])
            self.at = end + 1
        elif character == '"':
            self._read_double_quotes()
        elif character == "\\":
            following = self.text[self.at + 1 : self.at + 2]
            self._add("" if following == "\n" else following)
            self.at += 2
        else:
            self._add(self._expansion() or self._plain())

    def _plain(self) -> str:
        self.at += 1
        return self.text[self.at - 1]

    def _read_double_quotes(self) -> None:
        self._add("")
        self.at += 1
        while True:
            character = self.text[self.at : self.at + 1]
            if not character:
                raise UnreadableCommand("a double quote is left open")
            if character == '"':
                self.at += 1
                return
            if character == "\\" and self.text[self.at + 1 : self.at + 2] in ("$", "`", '"', "\\", "\n"):
                self._add(self.text[self.at + 1].replace("\n", ""))
                self.at += 2
            else:
                self._add(self._expansion() or self._plain())

    def _expansion(self) -> str:
        """The text of an expansion that starts here, its commands noted; empty where none starts."""
        start = self.at
        if self.text.startswith("$((", start):
            self.at = self._closing("((", "))", start + 1)
        elif self.text.startswith("$(", start):
            self._nested(start + 1)
        elif self.text.startswith("${", start):
            self.at = self._closing("{", "}", start + 1)
        elif self.text.startswith("`", start):
            end = re.compile(r"(?<!\\)`").search(self.text, start + 1)
            if end is None:
                raise UnreadableCommand("a backquote is left open")
            self._descend(self.text[start + 1 : end.start()].replace("\\`", "`"))
            self.at = end.end()
        return self.text[start : self.at]

    def _nested(self, opening: int) -> str:
        """Reads the commands in the brackets that open at ``opening``; returns them with the brackets."""
        inner = _Reader(self.text[opening + 1 :], self.depth + 1)
        depth = 1
        while depth:
            if inner.at >= len(inner.text):
                raise UnreadableCommand("a bracket is left open")
            character = inner.text[inner.at]
            before = inner.at
            ends_pattern = character == ")" and inner.is_at_pattern()
            inner._step()
            if inner.at == before + 1 and not ends_pattern:
                depth += (character == "(") - (character == ")")
        inner.text = inner.text[: inner.at - 1]
        inner._end_command("\n")
        self.found += inner.found
        self.functions |= inner.functions
        self.at = opening + 1 + inner.at
        return self.text[opening : self.at]

    def is_at_pattern(self) -> bool:
        """Whether what is being read is a branch's pattern, so that a closing bracket ends only that."""
        words = [*self.command.words, *([] if self.word is None else [self.word])]
        return words[:1] == ["case"] or (self.expects_pattern and words[:1] != ["esac"])

    def _search(self, text: str) -> None:
        """Notes the commands of the substitutions in a text that is no command itself."""
        reader = _Reader(text, self.depth + 1)
        while reader.at < len(text):
            if text[reader.at] == "\\":
                reader.at += 2
            elif not reader._expansion():
                reader.at += 1
        self.found += reader.found

    def _descend(self, text: str) -> None:
        inner = _Reader(text, self.depth + 1)
        inner.read()
        self.found += inner.found
        self.functions |= inner.functions

    def _closing(self, opening: str, closing: str, start: int) -> int:
        """Where the bracket that opens at ``start`` has been closed."""
        depth, at = 0, start
        while at < len(self.text):
            if self.text.startswith(opening, at):
                depth, at = depth + 1, at + len(opening)
            elif self.text.startswith(closing, at):
                depth, at = depth - 1, at + len(closing)
                if not depth:
                    self._search(self.text[start + len(opening) : at - len(closing)])
                    return at
            else:
                at += 1
        raise UnreadableCommand("a bracket is left open")

    def _add(self, piece: str) -> None:
        self.word = (self.word or "") + piece

    def _redirect(self, operator: str) -> None:
        if self.word is not None and self.word.isdigit():
            self.word = None
        self._end_word()
        self.operator = operator
        self.at += len(operator)
        if operator in ("<<", "<<-"):
            delimiter = re.compile(r"[ \t]*(\S+?)(?=[\s;&|<>()]|$)").match(self.text, self.at)
            if delimiter is None:
                raise UnreadableCommand("a here-document has no end word")
            quoted = any(mark in delimiter.group(1) for mark in "'\"\\")
            self.documents.append((re.sub(r"['\"\\]", "", delimiter.group(1)), quoted))
            self.operator = None
            self.at = delimiter.end()

    def _control(self, operator: str) -> None:
        self._end_word()
        self.at += len(operator)
        if operator == "\n" and self.documents:
            self._read_documents()
        self._end_command(operator)

    def _read_documents(self) -> None:
        for delimiter, quoted in self.documents:
            end = re.compile(rf"^\t*{re.escape(delimiter)}$", re.MULTILINE).search(self.text, self.at)
            stop = end.start() if end else len(self.text)
            body = self.text[self.at : stop]
            self.command.here_text = body
            if not quoted:
                self._search(body)
            self.at = min(len(self.text), end.end() + 1) if end else stop
        self.documents = []

    def _end_word(self) -> None:
        if self.word is None:
            return
        if self.operator == "<<<":
            self.command.here_text = self.word
        elif self.operator is not None:
            self.command.redirections.append(Redirection(self.operator, self.word))
        else:
            self.command.words.append(self.word)
        self.word = self.operator = None

    def _end_command(self, operator: str) -> None:
        self._end_word()
        command, self.command = self.command, _Pending(fed_by_pipe=operator in ("|", "|&"))
        words = self._without_keywords(command.words, operator)
        if operator == "(" and len(words) == 1:
            self.functions.add(words[0])
            words = []
        if words or command.redirections:
            self.found.append(
                SimpleCommand(
                    tuple(words), tuple(command.redirections), command.fed_by_pipe, command.here_text
                )
            )

    def _without_keywords(self, words: list[str], operator: str) -> list[str]:
        """The words without the grammar around them; a loop's header and a branch's patterns are none."""
        if self.expects_pattern and words[:1] != ["esac"]:
            self.expects_pattern = operator != ")"
            return []
        while words and (words[0] in _OPENING_KEYWORDS or words[0] in _CLOSING_KEYWORDS):
            if words[0] == "esac":
                self.in_case = max(0, self.in_case - 1)
                self.expects_pattern = False
            words = words[1:]
        if words[:1] == ["case"]:
            self.in_case += 1
            self.expects_pattern = operator != ")"
            return []
        if words[:1] == ["function"]:
            self.functions.update(words[1:2])
            return words[3:] if words[2:3] == ["{"] else []
        self.expects_pattern = self.in_case > 0 and operator in (";;", ";&", ";;&")
        return [] if words[:1] and words[0] in _HEADERS else words
