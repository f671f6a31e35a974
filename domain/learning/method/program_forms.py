"""Command-line forms of programs: which options take a value, and the meaning and role of options and operands.

The tables are text: a line at the margin names programs and, after ``;``, how their words are read; each indented
line is an option or an operand::

    sort ; words
      -t --field-separator = : fields are separated by {}
      -o --output =output
      @ input*

Behind an option's names stands what it takes: ``=`` a value, ``=input``, ``=output``, ``=expression`` a value with
that role, ``=?`` a value only where it is attached, ``=2`` two values, ``=list`` all words up to the next option,
``=rest`` a value that ends the program's own options, ``=skip`` a value of no meaning, nothing: no value. ``-#`` is
an option that is a number. Operands are in order; ``*`` marks the one that may repeat, ``?`` one that is there only
after all others, ``unless -e -f`` one that those options replace. In a meaning, ``{}`` stands for the quoted
values, ``{name}`` for a wording of ``domain.learning.method.wordings``; ``-`` means that no result depends on it,
and what stands in square brackets is there only where a value is given.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from domain.learning.method.file_programs import FILE_PROGRAMS
from domain.learning.method.git_programs import GIT_PROGRAMS
from domain.learning.method.shell_programs import SHELL_PROGRAMS
from domain.learning.method.text_programs import TEXT_PROGRAMS
from domain.learning.method.tool_programs import TOOL_PROGRAMS


@dataclass(frozen=True)
class Option:
    """An option: its first name, what it takes, the role of its value and its meaning."""

    name: str
    takes: str = ""
    role: str = "option"
    meaning: str = ""


@dataclass(frozen=True)
class Operand:
    """A place for operands with their role and meaning."""

    role: str
    meaning: str
    repeats: bool = False
    is_last_to_fill: bool = False
    unless: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ProgramForm:
    """How the arguments of a program are read; ``is_known`` is False for the form of programs without a table."""

    name: str = ""
    options: Mapping[str, Option] = field(default_factory=dict[str, Option])
    operands: tuple[Operand, ...] = ()
    styles: frozenset[str] = frozenset()
    is_known: bool = True


UNKNOWN_FORM = ProgramForm(operands=(Operand("value", "given {}", repeats=True),), is_known=False)
"""Every word that starts with a dash is an option, everything else is quoted as it stands."""

_ROLES = frozenset({"input", "output", "expression", "value", "archive"})
_DEFAULT_MEANING = {"input": "reads {}", "output": "writes {}", "archive": "the archive is {}"}
_OPTION_LINE = re.compile(r"  (?P<names>[-+]\S+(?: -\S+)*|\w+)(?: =(?P<takes>\S*))?(?: : (?P<meaning>.+))?")
_OPERAND_LINE = re.compile(
    r"  @ (?P<role>[a-z]+)(?P<mark>[*?]*)(?: unless (?P<unless>-\S+(?: -\S+)*))?(?: : (?P<meaning>.+))?"
)


def form_of(program: str) -> ProgramForm:
    """The form of ``program`` (``git commit`` for a subcommand), `UNKNOWN_FORM` where no table has it."""
    return _forms().get(program, UNKNOWN_FORM)


def known_programs() -> tuple[str, ...]:
    """The programs and subcommands that the tables describe."""
    return tuple(_forms())


@cache
def _forms() -> dict[str, ProgramForm]:
    forms: dict[str, ProgramForm] = {}
    for table in (TEXT_PROGRAMS, FILE_PROGRAMS, SHELL_PROGRAMS, GIT_PROGRAMS, TOOL_PROGRAMS):
        for names, styles, lines in table_blocks(table):
            options, operands = _read_lines(lines)
            for name in names:
                forms[name] = ProgramForm(name, options, operands, frozenset(styles.split()))
    return forms


def table_blocks(table: str) -> Iterator[tuple[list[str], str, list[str]]]:
    """The blocks of a table of programs: the names at the margin, what follows ``;`` there, and the indented lines."""
    for block in re.split(r"\n(?=\S)", table.strip("\n")):
        header, *lines = block.split("\n")
        names, _, styles = header.partition(";")
        yield [name.strip() for name in names.split(",")], styles, lines


def _read_lines(lines: list[str]) -> tuple[dict[str, Option], tuple[Operand, ...]]:
    options: dict[str, Option] = {}
    operands: list[Operand] = []
    for line in filter(None, lines):
        if found := _OPERAND_LINE.fullmatch(line):
            operands.append(_operand(found))
        elif found := _OPTION_LINE.fullmatch(line):
            option = _option(found)
            options |= dict.fromkeys(found["names"].split(), option)
        else:
            raise ValueError(f"no line of a program's table: {line!r}")
    return options, tuple(operands)


def _operand(found: re.Match[str]) -> Operand:
    role = found["role"]
    if role not in _ROLES:
        raise ValueError(f"no role of an operand: {found.group()!r}")
    return Operand(
        role,
        found["meaning"] or _DEFAULT_MEANING.get(role, "given {}"),
        "*" in found["mark"],
        "?" in found["mark"],
        frozenset((found["unless"] or "").split()),
    )


def _option(found: re.Match[str]) -> Option:
    takes = found["takes"]
    role = "option" if takes is None else "value"
    if takes in _ROLES:
        role, takes = takes, ""
    meaning = found["meaning"] or _DEFAULT_MEANING.get(role, "")
    kinds = {None: "", "": "value", "?": "attached", "2": "pair"}
    return Option(found["names"].split()[0], kinds.get(takes, takes or "value"), role, meaning)
