"""What a command line holds in order: calls by role, redirections, assignments, given texts and control words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from domain.learning.commands.command_line import calls_in
from domain.learning.commands.shell_grammar import Redirection, control_words, split_commands
from domain.learning.method.arguments import ReadCall, is_literal, read_call

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*(?:\[[^\]]*\])?)\+?=(.*)", re.DOTALL)


@dataclass(frozen=True)
class Setting:
    """A word that no program is given: an assignment, a loop's item, a pattern, a calculation, a given text.

    ``kind`` is ``assignment``, ``item``, ``pattern``, ``calculation``, ``text`` or ``function``; ``name`` is the
    variable's or function's.
    """

    kind: str
    values: tuple[str, ...]
    name: str = ""

    @property
    def literals(self) -> tuple[str, ...]:
        """The values that the command line itself fixes."""
        return tuple(v for v in self.values if is_literal(v))


def settings_in(command_line: str) -> tuple[Setting, ...]:
    """Assignments, given texts and control words of a command line, each kind in order; then those of its scripts.

    Raises:
        UnreadableCommand: bash would refuse the text, or it is nested too deep.
    """
    scripts = (call.script for call in calls_in(command_line) if call.script is not None)
    return tuple(setting for text in (command_line, *scripts) for setting in _settings(text))


def _settings(command_line: str) -> Iterator[Setting]:
    control = control_words(command_line)
    if control.items:
        yield Setting("item", control.items)
    if control.patterns:
        yield Setting("pattern", control.patterns)
    yield from (Setting("calculation", (one,)) for one in control.calculations if one)
    yield from (Setting("function", call[1:], call[0]) for call in control.function_calls)
    texts: dict[str, None] = {}
    for simple in split_commands(command_line):
        for word in simple.words:
            found = _ASSIGNMENT.fullmatch(word)
            if found is None:
                break
            yield Setting("assignment", (found[2],), found[1])
        if simple.here_text:
            # The commands of a compound share its text.
            texts[simple.here_text.strip("\n")] = None
    yield from (Setting("text", (text,)) for text in texts)


def read_calls(command_line: str) -> tuple[tuple[ReadCall, tuple[Redirection, ...]], ...]:
    """Every call of a command line with its arguments by role, and the files of its redirections.

    Raises:
        UnreadableCommand: bash would refuse the text, or it is nested too deep.
    """
    return tuple(
        (read_call(call.program, call.arguments), tuple(filter(_is_file, call.redirections)))
        for call in calls_in(command_line)
    )


def _is_file(redirection: Redirection) -> bool:
    target = redirection.target
    return target not in ("/dev/null", "/dev/stdout", "/dev/stderr", "-") and not target.isdigit()
