"""Literals of a command line: values of options, operands, patterns, numbers, texts that a result may depend on.

Held against the facts of ``option_meanings``, scripts and examples, so that nothing of a method is lost.
"""

from collections.abc import Iterator

from domain.learning.commands.shell_grammar import UnreadableCommand
from domain.learning.method.arguments import is_literal
from domain.learning.method.command_items import read_calls, settings_in


def literals_of(command_line: str) -> tuple[str, ...]:
    """The literal words of ``command_line``, each once; none where bash would refuse it.

    Program names, subcommands, options without a value, ``-``, ``{}`` and words that are an expansion alone
    (``"$f"``, ``$(date +%F)``, whose own words count) are none. The value of an option that is written in one word
    with it (``-k2``, ``--width=800``) is given without the option's name.
    """
    try:
        return tuple(dict.fromkeys(_literals(command_line)))
    except UnreadableCommand:
        return ()


def _literals(command_line: str) -> Iterator[str]:
    for setting in settings_in(command_line):
        yield from setting.literals
    for call, redirections in read_calls(command_line):
        for argument in call.arguments:
            if argument.role != "skipped":
                yield from argument.literals
        yield from (r.target for r in redirections if is_literal(r.target))
