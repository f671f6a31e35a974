"""What a value is for: the program that is given it, and what it means there."""

import re
from collections.abc import Sequence

from domain.learning.method.option_meanings import CommandFact, facts_of
from domain.learning.redaction.redaction import redact

LONGEST = 120
"""The most characters of a purpose; a longer one is said in general."""

_PIECE = re.compile(r"(?:'[^']*'|\"[^\"]*\"|[^;|&\n'\"]|['\"])+")
"""A simple command of a line, as far as its quotes tell."""

_NAMED_IT = re.compile(r"\bthe (\w+) it$")

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
