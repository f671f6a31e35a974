"""Facts that the result of a command line depends on, in words: separators, keys, patterns, scripts, files.

The meaning of options and operands is in the tables of ``program_forms``; what no table has is quoted as it stands.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from contracts.base import clipped
from domain.learning.commands.command_line import is_unreadable
from domain.learning.commands.shell_grammar import Redirection, UnreadableCommand
from domain.learning.method.arguments import Argument, ReadCall, is_literal
from domain.learning.method.command_items import Setting, read_calls, settings_in
from domain.learning.method.quoting import is_shown_whole, joined, quoted
from domain.learning.method.wordings import WORDINGS, Given

FactKind = Literal["option", "expression", "input", "output", "value"]

MAX_TEXT = 240
"""Characters of a fact's text."""

_WITH_VALUE = re.compile(r"\[(.*)\]")
_PLACE = re.compile(r"\{(\w*)\}")
_SETTING_TEXTS = {
    "item": "for each of {}",
    "pattern": "chosen by the patterns {}",
    "calculation": "calculates {}",
    "text": "the text {}",
}
_PACKS = frozenset({"-c", "-r", "-u"})


@dataclass(frozen=True)
class CommandFact:
    """One thing that the result of a command depends on, as part of a sentence.

    ``program`` includes the subcommand (``git tag``) and is empty for what belongs to the shell. ``literals`` are
    the exact words of the command line that the fact accounts for (values without the letters of their option);
    ``is_whole`` is False where ``text`` shows one of them shortened or on one line instead of several.
    """

    program: str
    text: str
    literals: tuple[str, ...]
    kind: FactKind
    is_whole: bool = True


@dataclass(frozen=True)
class CommandFacts:
    """The facts of a command line; ``is_unreadable`` where bash would refuse it, so that there are none."""

    facts: tuple[CommandFact, ...]
    is_unreadable: bool = False


def facts_of(command_line: str) -> tuple[CommandFact, ...]:
    """The facts of ``command_line``, each once; none where bash would refuse it (`read_facts` says which)."""
    return read_facts(command_line).facts


def read_facts(command_line: str) -> CommandFacts:
    """The facts of ``command_line``, each once, or the mark that it is unreadable."""
    if is_unreadable(command_line):
        return CommandFacts((), is_unreadable=True)
    try:
        return CommandFacts(tuple(dict.fromkeys(_facts(command_line))))
    except UnreadableCommand:
        return CommandFacts((), is_unreadable=True)


def _facts(command_line: str) -> Iterator[CommandFact]:
    for setting in settings_in(command_line):
        yield from _setting_facts(setting)
    for call, redirections in read_calls(command_line):
        for argument in call.arguments:
            yield from _argument_facts(call, argument)
        for redirection in redirections:
            yield from _redirection_facts(call.program, redirection)


def _setting_facts(setting: Setting) -> Iterator[CommandFact]:
    values = setting.literals
    if setting.kind == "assignment" and values:
        yield from _listed("", f"{setting.name} is {{}}", values, "value")
    elif setting.kind == "function" and values:
        yield from _listed("", f"function {quoted(setting.name)} is given {{}}", values, "value")
    elif values:
        kind: FactKind = "value" if setting.kind in ("item", "text") else "expression"
        yield from _listed("", _SETTING_TEXTS[setting.kind], values, kind)


def _redirection_facts(program: str, redirection: Redirection) -> Iterator[CommandFact]:
    if not is_literal(redirection.target):
        return
    if not redirection.writes:
        yield from _listed(program, "reads {}", (redirection.target,), "input")
    else:
        verb = "adds to the end of" if ">>" in redirection.operator else "writes"
        yield from _listed(program, f"{verb} {{}}", (redirection.target,), "output")


def _argument_facts(call: ReadCall, argument: Argument) -> Iterator[CommandFact]:
    if argument.role == "skipped" or not (argument.name or argument.literals):
        return
    meaning = argument.meaning
    kind = _kind_of(call, argument)
    if meaning in ("", "-"):
        if not meaning or argument.literals:
            named = joined([quoted(v) for v in argument.values])
            text = f"option {quoted(argument.name)}" + (f" is {named}" if named else "")
            yield _fact(call.program, text, argument.literals, kind)
        return
    meaning = _WITH_VALUE.sub(r"\1" if argument.values else "", meaning)
    negated = "not " if argument.negated else ""
    place = _PLACE.search(meaning)
    if place is None:
        yield _fact(call.program, negated + meaning, argument.literals, kind)
    elif place[1]:
        given = Given(argument.values, call.flags, argument.occurrence, call.program)
        filled = WORDINGS[place[1]](given)
        for text in (filled,) if isinstance(filled, str) else filled:
            whole = negated + meaning.replace(place.group(), text)
            yield _fact(call.program, whole, argument.literals, kind)
    else:
        values = argument.values if argument.name else argument.literals
        yield from _listed(call.program, negated + meaning, values, kind, argument.literals)


def _kind_of(call: ReadCall, argument: Argument) -> FactKind:
    match argument.role:
        case "archive":
            return "output" if call.flags & _PACKS else "input"
        case "test" | "expression":
            return "expression"
        case "input" | "output" | "value":
            return argument.role
        case _:
            return "option"


def _listed(
    program: str,
    meaning: str,
    values: tuple[str, ...],
    kind: FactKind,
    literals: tuple[str, ...] | None = None,
) -> Iterator[CommandFact]:
    """Facts with the quoted values in place of ``{}``: one, or several where they do not fit into one text."""
    room = MAX_TEXT - len(meaning)
    chunk: list[str] = []
    used = 0
    for value in values:
        length = len(quoted(value)) + 6
        if chunk and used + length > room:
            yield _list_fact(program, meaning, chunk, kind, literals)
            chunk, used = [], 0
        chunk.append(value)
        used += length
    if chunk:
        yield _list_fact(program, meaning, chunk, kind, literals)


def _list_fact(
    program: str, meaning: str, values: list[str], kind: FactKind, literals: tuple[str, ...] | None
) -> CommandFact:
    named = joined([quoted(v) for v in values])
    kept = tuple(v for v in values if (is_literal(v) if literals is None else v in literals))
    return _fact(program, meaning.replace("{}", named), kept, kind)


def _fact(program: str, text: str, literals: tuple[str, ...], kind: FactKind) -> CommandFact:
    is_whole = len(text) <= MAX_TEXT and all(map(is_shown_whole, literals))
    return CommandFact(program, clipped(text, MAX_TEXT), literals, kind, is_whole)
