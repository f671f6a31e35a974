"""What a value is for: the program that is given it, and what it means there."""

import re
from collections.abc import Sequence

from domain.learning.commands.command_line import parts_of
from domain.learning.method.option_meanings import CommandFact, facts_of
from domain.learning.redaction.redaction import redact

LONGEST = 120
"""The most characters of a purpose; a longer one is said in general."""

_PIECE = re.compile(r"(?:'[^']*'|\"[^\"]*\"|[^;|&\n'\"]|['\"])+")
"""A simple command of a line, as far as its quotes tell."""

_NAMED_IT = re.compile(r"\bthe (\w+) it$")

_SUBSTITUTION = re.compile(r"<\(([^()]*)\)")
_PROGRAM_BEFORE = re.compile(r"(?:^|[|;&(]|\s)([A-Za-z][\w.+-]*)(?:\s+-\S+)*\s*$")
_ORDINALS = ("first", "second", "third", "fourth")

_COMPARED = {
    "<=": "at most",
    ">=": "at least",
    "<": "below",
    ">": "above",
    "==": "equal to",
    "!=": "other than",
}
_IN_A = {
    "expression": "in the expression of",
    "input": "in the name of what is read by",
    "output": "in the name of what is written by",
}


def purpose_of(value: str, commands: Sequence[str]) -> str:
    """For what the first of ``commands`` that holds ``value`` takes it: "find: looks in it"; empty where none says."""
    whole = re.compile(rf"(?<![\w.]){re.escape(value)}(?!\w)")
    facts = [fact for command in commands for fact in facts_of(command)]
    exact = [fact for fact in facts if value in fact.literals]
    part = [fact for fact in facts if any(map(whole.search, fact.literals))]
    said = next((text for fact in (*exact, *part) if (text := _said(fact, value))), "")
    return redact(said, personal=True).text


def differing_purposes(values: Sequence[str], commands: Sequence[str]) -> tuple[str, ...]:
    """What each of several values that are given to the same program alike is for: the result or place that differs.

    Empty texts where nothing tells them apart.
    """
    for difference in (_result_with, _substitution_with):
        said = [next(filter(None, (difference(value, line) for line in commands)), "") for value in values]
        if all(said) and len(set(said)) == len(said):
            return tuple(redact(one, personal=True).text for one in said)
    return ("",) * len(values)


def _result_with(value: str, line: str) -> str:
    """What the command that reads the value, or the pipeline that it begins, writes."""
    reading = False
    for part in parts_of(line):
        reading = reading or value in (*part.operands, *part.reads)
        if reading and part.writes:
            return f"for {part.writes[0]}"
    return ""


def _substitution_with(value: str, line: str) -> str:
    """Which of the process substitutions of a command holds the value: "comm: its first file"."""
    found = [*_SUBSTITUTION.finditer(line)]
    at = next((i for i, one in enumerate(found) if value in one[1].split()), len(_ORDINALS))
    program = _PROGRAM_BEFORE.search(line[: found[0].start()]) if found else None
    return f"{program[1]}: its {_ORDINALS[at]} file" if program and at < len(_ORDINALS) else ""


def piece_with(value: str, command: str) -> str:
    """The simple command of a line that holds ``value`` as a word or as a part of one."""
    pieces = (piece.group().strip(" {}()") for piece in _PIECE.finditer(command))
    found = next((piece for piece in pieces if value in piece), command)
    return redact(" ".join(found.split()), personal=True).text


def _said(fact: CommandFact, value: str) -> str:
    program = fact.program or "the text"
    quoted = f"'{value}'"
    if value in fact.literals and quoted in fact.text:
        if not fact.program and fact.text.endswith(f" is {quoted}"):
            return f"the variable {fact.text.split(' ', 1)[0]}"
        text = _NAMED_IT.sub(r"the \1", f"{program}: {fact.text.replace(quoted, 'it')}".replace("'", ""))
    elif value in fact.literals:
        text = f"{program}: {fact.text}"
    else:
        compared = re.search(
            rf"([$\w.]+)\s*(<=|>=|==|!=|<|>)\s*[\"']?{re.escape(value)}(?!\w)", " ".join(fact.literals)
        )
        if compared:
            return f"{program}: {compared[1]} is {_COMPARED[compared[2]]} it"
        if not fact.program:
            return "in the text that is given"
        return f"{_IN_A.get(fact.kind, 'in what is given to')} {program}"
    return text if len(text) <= LONGEST else f"given to {program}"
