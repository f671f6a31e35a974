"""Values of known parameters that a new way of doing a task shows again, word by word.

An improvement adds programs and options, so that its commands no longer answer the old ones as a whole. A word that the
value stood in still does: ``fehler_kw52.tsv`` answers ``fehler_kw10.tsv``.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from contracts.learning.interpretation import ParameterType, SkillParameter
from domain.learning.commands.shell_grammar import UnreadableCommand, split_commands
from domain.learning.comparison.parameters import ParameterWording, meant, placeholder

_TELLING = 3
"""Letters and digits that a word has beside its values, from which on it is known by them."""

_HOLES = {ParameterType.NUMBER: r"[-+]?\d+(?:\.\d+)?", ParameterType.PATH: r".+"}
_ANY = r"[^\s/]+"


@dataclass(frozen=True)
class _Word:
    """A word of a command, with the program that it is given to and the word before it."""

    program: str
    before: str
    text: str


def values_in_place(
    known: Sequence[SkillParameter], before: Sequence[str], now: Sequence[str]
) -> dict[str, str]:
    """The first example of each known parameter → what stands in its place in the commands ``now``.

    Where several values do, the one that most places show; where none does, the parameter is left out.
    """
    words = list(_words(now))
    shown: dict[str, Counter[str]] = {}
    for old in _words(before):
        inside = [p for p in known if p.examples[0] and re.search(meant(p.examples[0], p.type), old.text)]
        if not inside:
            continue
        pattern, is_telling = _as_pattern(old.text, inside)
        for new in words:
            is_answer = is_telling or (new.program, new.before) == (old.program, old.before)
            if is_answer and (found := pattern.fullmatch(new.text)):
                for parameter in inside:
                    shown.setdefault(parameter.examples[0], Counter())[found[parameter.name]] += 1
    return {value: counted.most_common(1)[0][0] for value, counted in shown.items()}


def _as_pattern(text: str, inside: Sequence[SkillParameter]) -> tuple[re.Pattern[str], bool]:
    """The word with its values open, and whether what is left of it tells that word from others."""
    formal = ParameterWording([p.changed(examples=p.examples[:1]) for p in inside]).formal(text)
    met: set[str] = set()

    def hole(parameter: SkillParameter) -> str:
        if parameter.name in met:
            return rf"(?P={parameter.name})"
        met.add(parameter.name)
        return rf"(?P<{parameter.name}>{_HOLES.get(parameter.type, _ANY)})"

    marks = {placeholder(p): p for p in inside}
    pieces = re.split("(" + "|".join(map(re.escape, marks)) + ")", formal)
    pattern = "".join(hole(marks[one]) if one in marks else re.escape(one) for one in pieces)
    left = "".join(one for one in pieces if one not in marks)
    return re.compile(pattern), sum(map(str.isalnum, left)) >= _TELLING


def _words(commands: Sequence[str]) -> Iterator[_Word]:
    for command in commands:
        try:
            simple = split_commands(command)
        except UnreadableCommand:
            continue
        for one in simple:
            program = one.words[0] if one.words else ""
            for before, text in zip(one.words, one.words[1:], strict=False):
                yield _Word(program, before if before.startswith("-") else "", text)
            for redirection in one.redirections:
                yield _Word("", redirection.operator, redirection.target)
            if not one.words[1:]:
                yield _Word(program, "", program)
