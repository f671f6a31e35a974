"""Shell parser: the simple commands of a bash command line with their redirections and here-documents.

Used to judge programs and risk before anything runs, so it looks into every place from which bash would run
something: substitutions, subshells, loops, branches, functions and here-documents. Nothing is expanded. The
grammar is that of bash 5 with ``extglob``; what bash refuses is an `UnreadableCommand`, never a guess.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from domain.learning.commands.shell_words import OPEN_BRACKET, UnreadableCommand, WordReader


@dataclass(frozen=True)
class Redirection:
    """An operator such as ``>`` and the word after it."""

    operator: str
    target: str

    @property
    def writes(self) -> bool:
        """Whether it opens a file for writing."""
        return ">" in self.operator and not (self.operator == ">&" and self.target.lstrip("-").isdigit())


@dataclass(frozen=True)
class SimpleCommand:
    """The words of one command, quotes removed, variables left as written; none for redirections alone."""

    words: tuple[str, ...]
    redirections: tuple[Redirection, ...] = ()
    fed_by_pipe: bool = False
    here_text: str | None = None
    """Its standard input, where a here-document or here-string gives it."""
    is_expanded: bool = False
    """Whether the shell puts something into its words, its files or its here-document: a variable, names of files."""
    ends_loop: bool = False
    """Whether these are the redirections of a loop."""


@dataclass(frozen=True)
class ControlWords:
    """The words of loops, branches, calculations and calls of own functions, which belong to no program."""

    items: tuple[str, ...] = ()
    """What ``for`` and ``select`` go through."""
    patterns: tuple[str, ...] = ()
    """The patterns of ``case``."""
    calculations: tuple[str, ...] = ()
    """What stands in ``((…))``, that of ``for ((…))`` included."""
    function_calls: tuple[tuple[str, ...], ...] = ()
    """Calls of functions that the text itself defines, with their arguments."""


@dataclass
class _Pending:
    """A command while its here-document may still follow."""

    words: list[str] = field(default_factory=list[str])
    redirections: list[Redirection] = field(default_factory=list[Redirection])
    fed_by_pipe: bool = False
    here_text: str | None = None
    in_document: "list[_Pending]" = field(default_factory=list["_Pending"])
    """The commands that its here-document substitutes."""
    body: "list[_Pending]" = field(default_factory=list["_Pending"])
    """The commands of a compound command: they read its here-document."""
    feeder: "_Pending | None" = None
    """The command that feeds it through a pipe."""
    is_expanded: bool = False
    ends_loop: bool = False


@dataclass(frozen=True)
class _Document:
    """A here-document whose text has not begun yet."""

    command: _Pending
    delimiter: str
    is_literal: bool
    strips_tabs: bool


_WORD_END = r"(?=[ \t\r\n;&|()<>]|\\\n|\Z)"
_RESERVED = re.compile(
    r"(?:if|then|elif|else|fi|while|until|for|select|do|done|case|esac|function|coproc|time|\[\[|[{}!])"
    + _WORD_END
)
_IN = re.compile("in" + _WORD_END)
_TEST_END = re.compile(r"\]\]" + _WORD_END)
_TEST_OPERATOR = re.compile(r"&&|\|\||[()]|[<>](?!\()")
_BEFORE_TERM = frozenset({"[[", "&&", "||", "!", "("})
_OPERATOR = re.compile(r";;&|;;|;&|&&|\|\||\|&|[;|()\n]|&(?!>)")
_REDIRECTION = re.compile(
    r"(?:(?:\d+|\{[A-Za-z_]\w*\})(?=[<>]))?(&>>|&>|<<<|<<-|<<|<>|<&|>>|>\||>&|[<>](?!\())"
)
_COMPOUND = r"(?=[({]|(?:if|while|until|for|select|case|\[\[)\s)"
_TIMED = re.compile(rf"time(?:[ \t]+-p)?[ \t]*(?:{_COMPOUND}|(?=!))")
_COPROCESS_NAME = re.compile(rf"[ \t]*[A-Za-z_]\w*[ \t]+{_COMPOUND}")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[.*\])?\+?=", re.DOTALL)
_ASSIGNING_BUILTINS = frozenset({"alias", "declare", "eval", "export", "local", "readonly", "typeset"})
_COMPOUNDS = frozenset({"(", "{", "if", "while", "until", "for", "select", "case", "[["})
_LOOPS = frozenset({"while", "until", "for", "select"})
_STARTS = _COMPOUNDS | {"function", "coproc", "time", "!", ""}
_END = "the end of the text"


def split_commands(text: str) -> tuple[SimpleCommand, ...]:
    """The simple commands of ``text`` and of all it nests; a substitution's come before the command's own.

    Calls of functions that ``text`` defines are left out, but for their redirections.

    Raises:
        UnreadableCommand: bash would refuse the text, or it is nested too deep.
    """
    return _parsed(text)[0]


def defined_functions(text: str) -> frozenset[str]:
    """The names of the shell functions that ``text`` itself defines.

    Raises:
        UnreadableCommand: bash would refuse the text, or it is nested too deep.
    """
    return _parsed(text)[1]


def control_words(text: str) -> ControlWords:
    """The words of ``text`` that are part of its control flow instead of a command.

    Raises:
        UnreadableCommand: bash would refuse the text, or it is nested too deep.
    """
    return _parsed(text)[2]


@lru_cache(maxsize=2048)
def _parsed(text: str) -> tuple[tuple[SimpleCommand, ...], frozenset[str], ControlWords]:
    parser = _Parser(text)
    parser.script()
    functions = frozenset(parser.functions)
    control = ControlWords(
        tuple(parser.items),
        tuple(parser.patterns),
        tuple(parser.calculations),
        tuple(_function_calls(parser.found, functions)),
    )
    return tuple(_finished(parser.found, parser.functions)), functions, control


def _function_calls(found: list[_Pending], functions: frozenset[str]) -> Iterator[tuple[str, ...]]:
    for command in found:
        yield from _function_calls(command.in_document, functions)
        if command.words and command.words[0] in functions:
            yield tuple(command.words)


def _finished(found: list[_Pending], functions: set[str]) -> Iterator[SimpleCommand]:
    for compound in found:
        for inner in compound.body:
            inner.here_text = compound.here_text if inner.here_text is None else inner.here_text
    for command in found:
        yield from _finished(command.in_document, functions)
        words = () if command.words and command.words[0] in functions else tuple(command.words)
        if words or command.redirections:
            given, feeder = command.here_text, command.feeder
            if given is None and feeder is not None and feeder.words == ["cat"]:
                given = feeder.here_text
            yield SimpleCommand(
                words,
                tuple(command.redirections),
                command.fed_by_pipe,
                given,
                is_expanded=command.is_expanded,
                ends_loop=command.ends_loop,
            )


class _Parser(WordReader):
    """Recursive-descent parser of a list of commands."""

    def __init__(self, text: str, depth: int = 0) -> None:
        super().__init__(text, depth)
        self.found: list[_Pending] = []
        self.functions: set[str] = set()
        self.items: list[str] = []
        self.patterns: list[str] = []
        self.calculations: list[str] = []
        self.documents: list[_Document] = []
        self.is_piped = False

    def script(self) -> None:
        """Reads the whole text as a list of commands."""
        self._list(_END, may_be_empty=True)

    def substitutions(self) -> None:
        """Reads the substitutions alone: the text is a here-document or an arithmetic expression."""
        while self.at < len(self.text):
            if self.text[self.at] in "$`":
                self.expansion(in_quotes=True)
            else:
                self.at += 2 if self.text[self.at] == "\\" else 1

    def read_apart(self, text: str, *, is_script: bool) -> None:
        inner = _Parser(text, self.depth + 1)
        inner.is_piped = self.is_piped
        inner.script() if is_script else inner.substitutions()
        self.found += inner.found
        self.functions |= inner.functions
        self.items += inner.items
        self.patterns += inner.patterns
        self.calculations += inner.calculations
        self.has_expansion |= inner.has_expansion

    def read_brackets(self) -> None:
        outer, self.documents = self.documents, []
        self.at += 1
        self._list(")", may_be_empty=True)
        self.documents = outer + self.documents

    # Lists and pipelines

    def _list(self, *ends: str, may_be_empty: bool = False) -> str:
        """Reads commands up to one of ``ends``, which is consumed and returned."""
        self.deepen()
        self._newlines()
        is_ready, may_end = True, may_be_empty
        while (symbol := self._peek()) not in ends or not may_end:
            if not is_ready or symbol not in _STARTS:
                raise _unexpected(symbol, *ends)
            self._and_or()
            may_end, is_ready = True, self._peek() in (";", "&", "\n")
            if is_ready:
                self._take(self._peek())
                self._newlines()
        self._take(symbol)
        self.depth -= 1
        return symbol

    def _and_or(self) -> None:
        self._pipeline()
        while (symbol := self._peek()) in ("&&", "||"):
            self._take(symbol)
            self._newlines()
            self._pipeline()

    def _pipeline(self) -> None:
        outer = self.is_piped
        while (symbol := self._peek()) in ("!", "time"):
            timed = _TIMED.match(self.text, self.at)
            if symbol == "time" and timed is None:
                break
            self.at = timed.end() if timed else self.at + 1
            if self._peek() in (";", "\n", _END):
                return
        self._command()
        while (symbol := self._peek()) in ("|", "|&"):
            self._take(symbol)
            self._newlines()
            self.is_piped = True
            feeder = self.found[-1] if self.found else None
            self._command()
            if self.found:
                self.found[-1].feeder = feeder
        self.is_piped = outer

    # Commands

    def _command(self) -> None:
        symbol, first = self._peek(), len(self.found)
        if symbol in _COMPOUNDS:
            self._take(symbol)
            self._compound(symbol)
            command = _Pending(body=self.found[first:], ends_loop=symbol in _LOOPS)
            self._redirections(command)
            self.found.append(command)
        elif symbol == "function":
            self._take(symbol)
            self._function(self.needed_word(symbol))
        elif symbol == "coproc":
            self._coprocess()
        elif symbol in ("", "time"):
            self._simple()
        else:
            raise _unexpected(symbol)

    def _compound(self, symbol: str) -> None:
        match symbol:
            case "(" if not self._calculation(self.at - 1):
                self._list(")")
            case "{":
                self._list("}")
            case "if":
                self._if()
            case "while" | "until":
                self._list("do")
                self._list("done")
            case "for" | "select":
                self._for()
            case "case":
                self._case()
            case "[[":
                self._test()
            case _:
                pass

    def _simple(self) -> None:
        command = _Pending(fed_by_pipe=self.is_piped)
        program, start = "", self.skip()
        self.has_expansion = False
        self._redirections(command)
        while (word := self.word(assigns=not program or program in _ASSIGNING_BUILTINS)) is not None:
            if not program and not _ASSIGNMENT.match(word):
                program = word
                if not command.words and self.text.startswith("(", self.skip()):
                    return self._function(word)
            command.words.append(word)
            self._redirections(command)
        if self.at == start:
            raise _unexpected(self._peek())
        command.is_expanded |= self.has_expansion
        return self.found.append(command)

    def _function(self, name: str) -> None:
        """Reads a function's definition after its name."""
        if self._peek() == "(":
            self._take("(")
            self._expect(")")
        self.functions.add(name)
        self._newlines()
        if self._peek() not in _COMPOUNDS:
            raise _unexpected(self._peek())
        self._command()

    def _coprocess(self) -> None:
        self._take("coproc")
        if name := _COPROCESS_NAME.match(self.text, self.at):
            self.at = name.end()
        self.deepen()
        outer, self.is_piped = self.is_piped, True
        self._command()
        self.is_piped = outer
        self.depth -= 1

    def _if(self) -> None:
        end = "elif"
        while end == "elif":
            self._list("then")
            end = self._list("elif", "else", "fi")
        if end == "else":
            self._list("fi")

    def _calculation(self, start: int) -> bool:
        is_read = self.arithmetic(start)
        if is_read:
            self.calculations.append(self.text[start + 2 : self.at - 2].strip())
        return is_read

    def _for(self) -> None:
        if self.text.startswith("((", self.skip()):
            if not self._calculation(self.at):
                raise UnreadableCommand(OPEN_BRACKET)
        else:
            self.needed_word("for")
            self._newlines()
            if header := _IN.match(self.text, self.skip()):
                self.at = header.end()
                while (item := self.word()) is not None:
                    self.items.append(item)
        if self._peek() == ";":
            self._take(";")
        self._newlines()
        symbol = self._peek()
        if symbol not in ("do", "{"):
            raise _unexpected(symbol, "do")
        self._take(symbol)
        self._list("done" if symbol == "do" else "}")

    def _case(self) -> None:
        self.needed_word("case")
        self._newlines()
        header = _IN.match(self.text, self.skip())
        if header is None:
            raise _unexpected(self._peek(), "in")
        self.at = header.end()
        end = ";;"
        while end != "esac":
            self._newlines()
            end = self._peek()
            if end == "esac":
                self._take(end)
            else:
                end = self._branch()

    def _branch(self) -> str:
        """Reads the patterns and commands of one branch of ``case``; returns what ends it."""
        if self._peek() == "(":
            self._take("(")
        self.patterns.append(self.needed_word("case"))
        while self._peek() == "|":
            self._take("|")
            self.patterns.append(self.needed_word("case"))
        self._expect(")")
        return self._list(";;", ";&", ";;&", "esac", may_be_empty=True)

    def _test(self) -> None:
        """Reads a ``[[ … ]]`` as one command; its operators are words too."""
        words = ["[["]
        open_brackets = 0
        self._newlines()
        while (end := _TEST_END.match(self.text, self.at)) is None:
            if operator := _TEST_OPERATOR.match(self.text, self.at):
                if operator.group() == "(" and words[-1] not in _BEFORE_TERM:
                    raise _unexpected("(")
                self.at = operator.end()
                words.append(operator.group())
                open_brackets += (words[-1] == "(") - (words[-1] == ")")
            else:
                words.append(self.needed_word("[["))
                if words[-1] == "=~":
                    words.append(self.regular_expression())
            self._newlines()
        self.at = end.end()
        if open_brackets or words[-1] in _BEFORE_TERM:
            raise UnreadableCommand("the test in [[ ]] is not complete")
        self.found.append(_Pending([*words, "]]"], fed_by_pipe=self.is_piped))

    # Redirections and here-documents

    def _redirections(self, command: _Pending) -> None:
        while found := _REDIRECTION.match(self.text, self.skip()):
            self.at = found.end()
            operator, start = found.group(1), self.skip()
            if _REDIRECTION.match(self.text, start):
                raise UnreadableCommand(f"a word is missing after {operator}")
            word = self.needed_word(operator)
            if operator in ("<<", "<<-"):
                is_literal = any(mark in self.text[start : self.at] for mark in "'\"\\")
                self.documents.append(_Document(command, word, is_literal, operator == "<<-"))
            elif operator == "<<<":
                command.here_text = word
            else:
                command.redirections.append(Redirection(operator, word))

    def _read_documents(self) -> None:
        documents, self.documents = self.documents, []
        for one in documents:
            tabs = r"\t*" if one.strips_tabs else ""
            last = re.compile(rf"^{tabs}{re.escape(one.delimiter)}$", re.MULTILINE).search(self.text, self.at)
            one.command.here_text = self.text[self.at : last.start() if last else len(self.text)]
            self.at = min(len(self.text), last.end() + 1) if last else len(self.text)
            if not one.is_literal:
                outer, self.found = self.found, one.command.in_document
                self.has_expansion = False
                self.read_apart(one.command.here_text, is_script=False)
                one.command.is_expanded |= self.has_expansion
                self.found = outer

    # Tokens

    def _peek(self) -> str:
        """The operator or reserved word that comes next, `_END`, or an empty text before anything else."""
        if self.skip() >= len(self.text):
            return _END
        found = _OPERATOR.match(self.text, self.at) or _RESERVED.match(self.text, self.at)
        return found.group() if found else ""

    def _take(self, symbol: str) -> None:
        self.at += 0 if symbol == _END else len(symbol)
        if symbol == "\n" and self.documents:
            self._read_documents()

    def _newlines(self) -> None:
        while self._peek() == "\n":
            self._take("\n")

    def _expect(self, symbol: str) -> None:
        if (found := self._peek()) != symbol:
            raise _unexpected(found, symbol)
        self._take(symbol)


def _unexpected(symbol: str, *wanted: str) -> UnreadableCommand:
    if symbol == _END and wanted:
        return UnreadableCommand(
            OPEN_BRACKET if wanted[-1] in (")", "}") else f"its syntax is wrong, {wanted[-1]} is missing"
        )
    shown = {"\n": "the end of the line", "": "a word"}.get(symbol, symbol)
    return UnreadableCommand(f"its syntax is wrong, {shown} is out of place")
