"""Where the commands of a method hold the values of its parameters: the same places in its texts and in a trial.

A short number stands in many places by chance: a field, a key to sort by, a line number. So each place is read by what
its program makes of it, and only those count that are what the parameter is about.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import Enum, auto

from contracts.learning.interpretation import ParameterType, SkillParameter
from domain.learning.commands.shell_grammar import UnreadableCommand, split_commands
from domain.learning.commands.shell_places import Quoting, ValuePlace, value_places, with_texts
from domain.learning.comparison.parameters import bounded, is_short_number, meant, placeholder
from domain.learning.method.arguments import Argument
from domain.learning.method.command_items import Setting, read_calls, settings_in
from domain.learning.method.program_names import is_name, language_of, language_of_file, may_be_name


class PlaceKind(Enum):
    """What a number is where it stands."""

    VALUE = auto()
    """All that an option, an operand or an assignment is given."""
    WORDS = auto()
    """A piece of a name or of a text."""
    PROGRAM = auto()
    """In the text of a program or a document."""
    FORM = auto()
    """The form of the work: a field, a key to sort by, a line number, a place in a list."""


_ALL = frozenset(PlaceKind)
_DOCUMENTS = (Quoting.DOCUMENT, Quoting.LITERAL_DOCUMENT)
_FORM = re.compile(r"\{(?:key|fields|characters|bytes|mode)\}|\bfields?\b|\bof file \{0\}")
"""Meanings of options and operands that are the form of the work."""
_FORM_BEFORE = re.compile(r"(?:\$\(?|\\|\b(?:NR|FNR|NF)\s*(?:[=!<>]=?|[%+-])\s*)\Z")
_FORM_AFTER = re.compile(r"\s*[=!<>]=?\s*(?:NR|FNR|NF)\b")
_BRACKETED = re.compile(r"\[(?:\d+-)?\Z"), re.compile(r"(?:-\d+)?\]")
_REPEATED = re.compile(r"\{\d*,?\Z"), re.compile(r",?\d*\}")
_PROGRAMS = frozenset({"expression", "test", "calculation", "pattern", "function"})
_MARKS = range(701, 1000)


class ParameterPlaces:
    """The places of the values shown in the commands of a method; the longest value goes first."""

    def __init__(self, commands: Sequence[str], parameters: Sequence[SkillParameter]) -> None:
        self._by_value: dict[str, SkillParameter] = {}
        for parameter in parameters:
            if parameter.examples[0].strip():
                self._by_value.setdefault(parameter.examples[0], parameter)
        self._kinds = {
            value: _about(value, parameter.type, commands)
            for value, parameter in self._by_value.items()
            if is_short_number(value)
        }
        self._in_commands = self._any(_in_command)
        self._in_texts = self._any(_in_text)
        self._written = {place.word for command in commands for place in self.in_command(command)}

    def in_command(self, command: str) -> tuple[ValuePlace, ...]:
        """The places in a command, from left to right."""
        if self._in_commands is None:
            return ()
        found = value_places(command, self._in_commands)
        return tuple(
            p
            for p in found
            if (p.value not in self._kinds or _kind(command, p) in self._kinds[p.value])
            and not is_name_at(command, p)
        )

    def in_script(self, text: str, name: str = "") -> Iterator[re.Match[str]]:
        """The places in the text of a program, from its beginning; ``name`` is that of its file."""
        language = language_of_file(name)
        for match in self._in_commands.finditer(text) if self._in_commands else ():
            kinds = self._kinds.get(match.group(), _ALL)
            if language and may_be_name(match.group()) and is_name(language, text, *match.span()):
                continue
            if _kind_in_program(text[: match.start()], text[match.end() :]) in kinds:
                yield match

    def in_text(self, text: str, value: Callable[[str], str]) -> str:
        """A path, a text about files, or one that they hold, with other values.

        A short number counts inside names, and in a text that a command writes.
        """
        is_written = any(text in word for word in self._written)
        pattern = self._in_commands if is_written else self._in_texts
        return pattern.sub(lambda match: value(match.group()), text) if pattern else text

    def formal(self, command: str) -> str:
        """The command with ``{name}`` at the places."""
        return with_texts(command, self.in_command(command), lambda place: self._placeholder(place.value))

    def facts(self, command: str, worded: Callable[[str], Sequence[str]]) -> list[str]:
        """What ``worded`` says of the command, with ``{name}`` where it speaks of the values.

        Before it is worded, a short number becomes one that is nowhere else in the command, and is found again so; and
        what is a name in a program becomes one that is no value.
        """
        base = _mark(command)
        marks = {value: f"{base}{number:02d}" for number, value in enumerate(self._kinds)}
        names = {value: f"q{base}{number:02d}" for number, value in enumerate(self._by_value)}
        every = value_places(command, self._in_commands) if self._in_commands else ()
        held = {place.start: names[place.value] for place in every if is_name_at(command, place)}
        held |= {
            place.start: marks[place.value] for place in self.in_command(command) if place.value in marks
        }
        places = tuple(place for place in every if place.start in held)
        said = worded(with_texts(command, places, lambda place: held[place.start]))
        return [_with_names(self._spoken(text, marks), names) for text in said]

    def _spoken(self, text: str, marks: Mapping[str, str]) -> str:
        if self._in_texts is None:
            return text
        text = self._in_texts.sub(lambda match: self._said(match, marks), text)
        for value, mark in marks.items():
            text = text.replace(mark, self._placeholder(value))
        return text

    def _said(self, match: re.Match[str], marks: Collection[str]) -> str:
        is_variable = match.string[: match.start()].endswith(("$", "${", "-v ", "awk variable "))
        return match.group() if is_variable or match.group() in marks else self._placeholder(match.group())

    def _placeholder(self, value: str) -> str:
        return placeholder(self._by_value[value])

    def _any(self, piece: Callable[[str, ParameterType], str]) -> re.Pattern[str] | None:
        known = sorted(self._by_value, key=lambda value: (-len(value), value))
        pieces = [piece(value, self._by_value[value].type) for value in known]
        return re.compile("|".join(pieces)) if pieces else None


def _with_names(text: str, names: Mapping[str, str]) -> str:
    for value, mark in names.items():
        text = text.replace(mark, value)
    return text


def is_name_at(command: str, place: ValuePlace) -> bool:
    """Whether the value at a place is a name within the text of a program there: a variable, a column, a label."""
    if not may_be_name(place.value):
        return False
    mark = f"q{_mark(command)}"
    marked = with_texts(command, (place,), lambda _: mark)
    try:
        texts = [one for one in _program_texts(marked) if mark in one[1]]
    except UnreadableCommand:
        return False
    if not texts:
        return False
    # The innermost text says what it is.
    language, text = min(texts, key=lambda one: len(one[1]))
    return is_name(language, text, text.index(mark), text.index(mark) + len(mark))


def _program_texts(command: str) -> Iterator[tuple[str, str]]:
    """The program texts of a command line, each with its language."""
    for simple in split_commands(command):
        written = [one.target for one in simple.redirections if one.writes]
        programs = (language_of(word.rpartition("/")[2]) for word in simple.words)
        languages = [*programs, *map(language_of_file, written)]
        language = next(filter(None, languages), None)
        if simple.here_text is not None and language is not None:
            yield language, simple.here_text
    for call, _ in read_calls(command):
        language = language_of(call.program)
        for one in call.arguments if language is not None else ():
            if language == "jq" and one.name in ("--arg", "--argjson"):
                yield "jq", one.values[0]
                continue
            for value in one.values:
                if language == "awk" and one.name == "-v":
                    yield "awk", value.partition("=")[0]
                elif (
                    one.role == "expression"
                    or one.meaning.endswith("program {}")
                    or (language == "sql" and " " in value and one.role != "input")
                ):
                    yield language or "", value


def _in_command(value: str, kind: ParameterType) -> str:
    """A pattern of a value that was shown: a piece of its own, or a whole word however short it is."""
    if not (kind is ParameterType.NUMBER and value.isdigit()):
        return _in_text(value, kind)
    # With the letter of an option before it (-n5), a unit or another number after it (800x600, 90px); no part of a
    # date or a version.
    before = r"(?:(?<![\w.:/-])|(?<=(?<![\w-])-)|(?<=(?<![\w-])-[A-Za-z]))"
    after = r"(?=[A-Za-z%]{0,2}(?![A-Za-z0-9_.:/-])|x\d|\.(?!\d))"
    return rf"{before}{value}{after}|{_in_text(value, kind)}"


def _in_text(value: str, kind: ParameterType) -> str:
    if kind is ParameterType.NUMBER and value.isdigit():
        return rf"(?<!\d[-/.:_])(?:{bounded(value)})(?![-/.:_]\d)"
    whole = rf"(?<![^\s\"'=;|&(<>,]){re.escape(value)}(?![^\s\"';|&)<>,])"
    return f"{meant(value, kind)}|{whole}"


def _about(value: str, kind: ParameterType, commands: Sequence[str]) -> frozenset[PlaceKind]:
    """What a number has to be in a place so that the parameter is about it."""
    pattern = re.compile(_in_command(value, kind))
    found = {_kind(one, place) for one in commands for place in value_places(one, pattern)}
    if PlaceKind.VALUE in found:
        return frozenset({PlaceKind.VALUE, PlaceKind.WORDS})
    others = _ALL - {PlaceKind.FORM}
    return others if found & others or not found else _ALL


def _kind(command: str, place: ValuePlace) -> PlaceKind:
    """What the number at a place is: another one, that is nowhere else, is put there, and the command is read."""
    if place.quoting in _DOCUMENTS:
        return PlaceKind.PROGRAM
    mark = _mark(command)
    marked = with_texts(command, (place,), lambda _: mark)
    try:
        read = (*settings_in(marked), *(a for call, _ in read_calls(marked) for a in call.arguments))
    except UnreadableCommand:
        return PlaceKind.PROGRAM
    # A substitution is a piece of the word that it stands in, too: the innermost word says what the number is.
    holding = [(one, value) for one in read for value in one.values if mark in value]
    if holding:
        return _kind_of(*min(holding, key=lambda held: len(held[1])), mark)
    return PlaceKind.FORM if place.word.startswith("-") else _kind_in_word(place.word, place.value)


def _kind_of(one: Setting | Argument, value: str, mark: str) -> PlaceKind:
    role, meaning = (one.kind, "") if isinstance(one, Setting) else (one.role, one.meaning)
    if _FORM.search(meaning) or (isinstance(one, Argument) and one.name == "-"):
        return PlaceKind.FORM
    if role in _PROGRAMS or meaning.endswith("program {}"):
        before, _, after = value.partition(mark)
        return _kind_in_program(before, after)
    return _kind_in_word(value, mark)


def _kind_in_word(word: str, number: str) -> PlaceKind:
    unit = rf"[-+]?(?:\w+=)?{number}(?:[A-Za-z%]{{0,2}}|x\d*)"
    span = rf".*[+-]\s?{number} ?(?:second|minute|hour|day|week|month|year)s?\b.*"
    return PlaceKind.VALUE if re.fullmatch(f"{unit}|{span}", word, re.DOTALL) else PlaceKind.WORDS


def _kind_in_program(before: str, after: str) -> PlaceKind:
    in_brackets = any(low.search(before) and high.match(after) for low, high in (_BRACKETED, _REPEATED))
    if in_brackets or _FORM_BEFORE.search(before) or _FORM_AFTER.match(after):
        return PlaceKind.FORM
    return PlaceKind.PROGRAM


def _mark(command: str) -> str:
    """Digits that the command does not hold."""
    return next((str(n) for n in _MARKS if str(n) not in command), "7007007")
