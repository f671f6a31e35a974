"""Running numbers in the new names of files: a loop that counts, ``printf '%03d'``, ``rename`` with a counter."""

import re
from collections.abc import Iterable, Mapping, Sequence

from domain.learning.commands.command_line import Call
from domain.learning.commands.shell_grammar import UnreadableCommand
from domain.learning.method.command_items import settings_in

RUNNING_NUMBER = "{#}"
"""Stands for a running number in a name."""

_NAMING = frozenset({"mv", "cp"})
_NAME = r"[A-Za-z_]\w*"
_COUNTS = tuple(
    re.compile(form)
    for form in (
        rf"\b(?P<name>{_NAME})=(?:\$\(\(|\$\[|\$\(\s*expr\s+)\s*\$?\{{?(?P=name)\}}?\s*\+",
        rf"\b(?P<name>{_NAME})\s*\+\+|\b(?P<other>{_NAME})\s*\+=\s*\d",
        rf"\+\+\s*(?P<name>{_NAME})\b",
        rf"\bfor\s+(?P<name>{_NAME})\s+in\s+(?:\$\(\s*seq\b|`\s*seq\b|\{{\d+\.\.|\"?\$\{{!)",
        rf"\b(?:nl|cat\s+-n)\b[^;\n]*\|\s*while\s+(?:IFS=\S*\s+)?read\s+(?:-r\s+)?(?P<name>{_NAME})\b",
        rf"\bwhile\s+(?:IFS=\S*\s+)?read\s+(?:-r\s+)?(?P<name>{_NAME})\b.*\bdone\s*<\s*<\(.*(?:\bnl|\bcat\s+-n)\b",
    )
)
"""How a variable gets a running number: counted up, from ``seq``, or read from numbered lines."""

_FORMATTED = re.compile(r"\$\(\s*printf\s[^()]*%0?\d*d(?:[^()]|\([^()]*\)|\(\([^()]*\)\))*\)")
_VARIABLE = re.compile(rf"\$\{{?({_NAME})|\$\(\(([^()]*)\)\)")
_SUBSCRIPT = re.compile(r"\[[^\]]*\]")
_DEEPEST = 3
_COUNTED_BY_RENAME = re.compile(r"\+\+|\$#|\bsprintf\b|%0?\d*d|\$N\b|\bcounter\b")


def assignments_in(commands: Sequence[str], lines: Sequence[tuple[Call, ...]]) -> dict[str, tuple[str, ...]]:
    """The values that the commands, whose calls are ``lines``, give to each variable, ``printf -v`` among them."""
    found: dict[str, tuple[str, ...]] = {}
    for command, calls in zip(commands, lines, strict=True):
        try:
            settings = settings_in(command)
        except UnreadableCommand:
            continue
        for one in settings:
            if one.kind == "assignment":
                found[one.name] = (*found.get(one.name, ()), *one.values)
        for call in calls:
            if call.program == "printf" and call.arguments[:1] == ("-v",) and len(call.arguments) > 2:
                words = " ".join(f'"{one}"' for one in call.arguments[2:])
                found[call.arguments[1]] = (*found.get(call.arguments[1], ()), f"$(printf {words})")
    return found


def counters_in(text: str) -> frozenset[str]:
    """The variables that hold a running number."""
    found = (match for form in _COUNTS for match in form.finditer(text))
    return frozenset(name for match in found for name in match.groupdict().values() if name)


def with_running_number(
    call: Call, assignments: Mapping[str, tuple[str, ...]], counters: frozenset[str]
) -> tuple[str, ...]:
    """The arguments of a call that names files, with ``{#}`` where the new name has a running number.

    A number that the former name has as well is none: ``mv "p$i.txt" "p0$i.txt"``.
    """
    if call.program in ("rename", "prename", "file-rename", "mmv"):
        return _renamed(call.arguments)
    words = call.operands
    if call.program not in _NAMING or len(words) < 2:
        return call.arguments
    said = {name: values for name, values in assignments.items() if name not in counters}
    former = {*_variables(_SUBSCRIPT.sub("", " ".join(_resolved(one, said) for one in words[:-1])))}
    new = _resolved(words[-1], said)
    counted = counters - former
    numbered = _FORMATTED.sub(
        lambda found: found[0] if former & {*_variables(found[0])} else _as_number(found[0]), new
    )
    numbered = re.sub(
        rf"\$\{{?(?:{'|'.join(map(re.escape, sorted(counted))) or '(?!)'})\b\}}?", RUNNING_NUMBER, numbered
    )
    numbered = re.sub(
        r"\$\(\(([^()]*)\)\)",
        lambda found: RUNNING_NUMBER if counted & {*re.findall(_NAME, found[1])} else found[0],
        numbered,
    )
    return (*call.arguments[:-1], numbered) if RUNNING_NUMBER in numbered else call.arguments


def _as_number(printed: str) -> str:
    """The format of a ``$(printf …)`` with ``{#}`` for its number."""
    form = re.search(r"printf\s+(?:--\s+)?(\"[^\"]*\"|'[^']*'|\S+)", printed)
    return re.sub(r"%0?\d*d", RUNNING_NUMBER, form[1].strip("\"'")) if form else RUNNING_NUMBER


def _renamed(arguments: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        f"{RUNNING_NUMBER} {one}" if at == 0 and _COUNTED_BY_RENAME.search(one) else one
        for at, one in enumerate(arguments)
    )


def _resolved(word: str, assignments: Mapping[str, tuple[str, ...]]) -> str:
    """``word`` with what was assigned to its variables, but for those that count."""
    for _ in range(_DEEPEST):
        for name, values in assignments.items():
            if len(values) == 1 and f"${name}" not in values[0]:
                word = re.sub(rf"\$(?:{name}\b|\{{{name}\}})", lambda _, said=values[0]: said, word)
    return word


def _variables(text: str) -> Iterable[str]:
    for name, calculated in _VARIABLE.findall(text):
        yield from [name] if name else re.findall(_NAME, calculated)
