"""Arguments of a call by role: options with their values, inputs, outputs, expressions and other operands."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from domain.learning.commands.command_line import name_set
from domain.learning.method.program_forms import UNKNOWN_FORM, Option, ProgramForm, form_of

_NUMBER_OPTION = re.compile(r"-\d+")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_MODE = re.compile(r"-[rwxXst]+")
_TEST_OPERATORS = name_set("! ( ) = == != < > =~ && || ] ]]")
_TEST_OPTION = re.compile(r"-[A-Za-z]+")
_FIND_SYNTAX = frozenset({"(", ")"})
_ENDS_OF_EXEC = frozenset({";", "+"})
_EXEC = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_PLACEHOLDERS = frozenset({"{}", "-", ""})
_EXPANSION = r"\$(?:\w+|\{\w+\}|[@*#?!$-]|\((?!\()[^()]*\))|`[^`]*`"
_ONLY_EXPANDED = re.compile(rf"(?:{_EXPANSION})+|[<>]\(.*\)", re.DOTALL)


@dataclass(frozen=True)
class Argument:
    """An option with its values, or the operands of one place; ``role`` is that of the values.

    ``meaning`` is empty for an option that no table has and ``-`` for one that no result depends on; ``name`` is
    empty for operands; ``occurrence`` counts earlier options of the same name from 0.
    """

    role: str
    meaning: str
    values: tuple[str, ...] = ()
    name: str = ""
    negated: bool = False
    occurrence: int = 0

    @property
    def literals(self) -> tuple[str, ...]:
        """The values that the command line itself fixes."""
        return tuple(v for v in self.values if is_literal(v, self.role))


def is_literal(word: str, role: str = "value") -> bool:
    """Whether a word fixes something: no placeholder and, but for expressions, no expansion alone."""
    if word in _PLACEHOLDERS:
        return False
    if role == "test" and (word in _TEST_OPERATORS or _TEST_OPTION.fullmatch(word)):
        return False
    return role == "expression" or _ONLY_EXPANDED.fullmatch(word) is None


@dataclass(frozen=True)
class ReadCall:
    """A call with its arguments by role; ``program`` includes the subcommand (``git commit``)."""

    program: str
    form: ProgramForm
    arguments: tuple[Argument, ...]

    @property
    def flags(self) -> frozenset[str]:
        """The first names of the options that are given."""
        return frozenset(a.name for a in self.arguments if a.name)


def read_call(program: str, words: tuple[str, ...]) -> ReadCall:
    """The arguments of ``program`` by role, as its table has them; quoted as they stand where none has it."""
    program = re.sub(r"^(python|pip)\d?(?:\.\d+)?$", r"\1", program)
    form = form_of(program)
    if "sub" not in form.styles:
        return ReadCall(program, form, _arguments(form, words))
    reader = _Reader(form, words, stops=True)
    options = reader.read()
    if not reader.rest:
        return ReadCall(program, form, tuple(options))
    name = f"{program} {reader.rest[0]}"
    inner = form_of(name)
    read = (*options, *_arguments(inner, tuple(reader.rest[1:])))
    return ReadCall(name, inner, read)


def _arguments(form: ProgramForm, words: tuple[str, ...]) -> tuple[Argument, ...]:
    if "test" in form.styles:
        kept = tuple(w for w in words if w not in ("]", "]]"))
        # One fact shows the whole test; its operators are no values.
        return (Argument("test", "tests {joined}", kept),) if kept else ()
    reader = _Reader(form, words, stops=bool(form.styles & {"stop", "command"}))
    options = reader.read()
    operands, rest = reader.operands, reader.rest
    if "stop" in form.styles and not reader.is_ended_by_option:
        operands, rest = rest[:1], rest[1:]
    elif "command" in form.styles:
        operands, rest = rest, []
    given = frozenset(o.name for o in options)
    read = [*options, *_placed(form, operands, given)]
    return (*read, *(_arguments(UNKNOWN_FORM, tuple(rest)) if rest else ()))


class _Reader:
    """Separates the options of a program from its operands."""

    def __init__(self, form: ProgramForm, words: tuple[str, ...], *, stops: bool) -> None:
        self.form = form
        self.words = list(words)
        self.at = 0
        self.stops = stops
        self.operands: list[str] = []
        self.rest: list[str] = []
        self.is_ended_by_option = False
        self.negated = False
        self.count: dict[str, int] = {}
        if "bundle" in form.styles and words and not words[0].startswith("-"):
            self.words[0] = "-" + words[0]

    def read(self) -> list[Argument]:
        """The options in order; `operands` and `rest` are filled on the way."""
        found: list[Argument] = []
        while self.at < len(self.words):
            word = self.words[self.at]
            self.at += 1
            if word == "--":
                self.operands += self.words[self.at :]
                break
            if self._is_operand(word):
                if self.stops:
                    self.rest = self.words[self.at - 1 :]
                    break
                self.operands.append(word)
                continue
            found += self._options(word)
            if self.rest:
                break
        if self.stops and self.operands:
            self.rest, self.operands = self.operands, []
        return found

    def _is_operand(self, word: str) -> bool:
        styles = self.form.styles
        if "find" in styles and (word in _FIND_SYNTAX or word in ("!", ",")):
            return False
        if "equals" in styles and word.partition("=")[0] in self.form.options:
            return False
        if word.startswith("+") and word in self.form.options:
            return False
        if not word.startswith("-") or word == "-":
            return True
        return bool(
            ("numbers" in styles and _NUMBER.fullmatch(word))
            or ("mode" in styles and not self.operands and _MODE.fullmatch(word))
            or ("echo" in styles and (self.operands or not re.fullmatch(r"-[neE]+", word)))
        )

    def _options(self, word: str) -> Iterator[Argument]:
        if "find" in self.form.styles and self._is_syntax(word):
            return
        name, equals, value = word.partition("=")
        if option := self.form.options.get(name if equals else word):
            yield self._option(option, value if equals else None)
        elif _NUMBER_OPTION.fullmatch(word) and "-#" in self.form.options:
            yield self._option(self.form.options["-#"], word[1:])
        elif word.startswith("--") or not self.form.is_known or "words" in self.form.styles:
            yield self._unknown(name, value if equals else None)
        else:
            yield from self._bundle(word)

    def _is_syntax(self, word: str) -> bool:
        if word in ("!", "-not"):
            self.negated = True
            return True
        if word in _EXEC:
            while self.at < len(self.words) and self.words[self.at] not in _ENDS_OF_EXEC:
                self.at += 1
            self.at += 1
            return True
        return word in _FIND_SYNTAX or word == ","

    def _bundle(self, word: str) -> Iterator[Argument]:
        """The options of ``-xzf name``: all but the last take no value."""
        for position, letter in enumerate(word[1:], start=1):
            option = self.form.options.get("-" + letter)
            behind = word[position + 1 :]
            if option is None and not letter.isalpha():
                yield self._unknown(word[:position], word[position:])
                return
            if option is None:
                yield self._unknown("-" + letter, None)
            elif option.takes:
                yield self._option(option, behind or None)
                return
            else:
                yield self._option(option, None)

    def _option(self, option: Option, value: str | None) -> Argument:
        values: list[str] = [] if value is None else [value]
        if value is None and option.takes not in ("", "attached"):
            values = self._next_values(option.takes)
        if option.takes == "rest":
            self.rest, self.at = self.words[self.at :], len(self.words)
            self.is_ended_by_option = True
        role = "skipped" if option.takes == "skip" else option.role
        return self._argument(role, option.meaning, values, option.name)

    def _next_values(self, takes: str) -> list[str]:
        start = self.at
        if takes == "list":
            while self.at < len(self.words) and not self.words[self.at].startswith("-"):
                self.at += 1
        else:
            self.at = min(len(self.words), self.at + (2 if takes == "pair" else 1))
        return self.words[start : self.at]

    def _unknown(self, name: str, value: str | None) -> Argument:
        role = "option" if value is None else "value"
        return self._argument(role, "", [] if value is None else [value], name)

    def _argument(self, role: str, meaning: str, values: list[str], name: str) -> Argument:
        occurrence = self.count.get(name, 0)
        self.count[name] = occurrence + 1
        negated, self.negated = self.negated, False
        return Argument(role, meaning, tuple(values), name, negated, occurrence)


def _placed(form: ProgramForm, operands: list[str], given: frozenset[str]) -> Iterator[Argument]:
    """The operands at their places: fixed ones first and last, the rest where one may repeat."""
    places = [o for o in form.operands if not o.unless & given]
    optional = [o for o in places if o.is_last_to_fill]
    if optional and len(operands) < 2:
        places = [o for o in places if not o.is_last_to_fill]
    if not places:
        if operands:
            yield Argument("value", "given {}", tuple(operands))
        return
    repeating = next((n for n, o in enumerate(places) if o.repeats), len(places) - 1)
    behind = min(len(places) - repeating - 1, max(0, len(operands) - repeating))
    end = len(operands) - behind
    for number, place in enumerate(places):
        if number < repeating:
            values = operands[number : number + 1]
        elif number == repeating:
            values = operands[repeating:end]
        else:
            at = end + number - repeating - 1
            values = operands[at : at + 1]
        if values:
            yield Argument(place.role, place.meaning, tuple(values))
