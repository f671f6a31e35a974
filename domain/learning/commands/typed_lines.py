"""Lines that a person typed at a program's prompt, kept with the command as a here-document that does the same."""

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

from domain.learning.commands.command_line import parts_of
from domain.learning.commands.typing_programs import line_program_options, waits_for_lines

END_OF_TYPED = "END_OF_TYPED_LINES"
"""Ends the here-document of typed lines; tells one that was recorded from one that a person wrote."""

_TYPED = re.compile(
    rf"(?P<line>[^\n]+) <<'{END_OF_TYPED}'\n(?P<text>(?:.*\n)*?){END_OF_TYPED}\n?", re.MULTILINE
)
_STARTS_PROGRAMS = re.compile(
    r"^\s*(?:\\?!|\.(?:shell|system)\b|\.(?:once|output)\s+\|)|\bos\.(?:system|popen|exec|spawn)|\bsubprocess\b"
    r"|\bpty\.|\bchild_process\b|\bgetpass\b",
    re.MULTILINE,
)
_STATEMENT_ENDS = re.compile(r";\s*(?:--.*)?$|\\g\s*$")
_INPUT_MODE = re.compile(r"(?:[\d.,;$%+\s-]|'[a-z]|/(?:\\.|[^/\\])*/|\?(?:\\.|[^?\\])*\?)*[aci]\s*")
"""A command of ed after which text is put in: addresses and one letter."""


def with_typed_lines(line: str, typed: Sequence[str]) -> str | None:
    """The command ``line`` with a here-document of what was typed at the prompt that it opens.

    ``None`` where the line opens no prompt that is known, where nothing was typed, or where a typed line starts
    another program or asks for a password: what was typed then may have been for that one.
    """
    parts = parts_of(line)
    text = "\n".join(typed)
    if len(parts) != 1 or "\n" in line or not waits_for_lines(parts[0]) or not text.strip():
        return None
    options = line_program_options(parts[0].program)
    if options is None or END_OF_TYPED in text or _STARTS_PROGRAMS.search(text):
        return None
    given = [one for one in options if one not in parts[0].arguments]
    return _joined(" ".join([line.strip(), *given]), typed)


@dataclass(frozen=True)
class TypedCommand:
    """A command with the lines that were typed at its prompt."""

    line: str
    """The command line, with what makes the program read lines as at its prompt."""
    typed: tuple[str, ...]

    @property
    def statements(self) -> tuple[tuple[str, ...], ...]:
        """The typed lines by what belongs together: an SQL statement, an indented block, a text and its end."""
        program = parts_of(self.line)[0].program
        if program.endswith("ed"):
            return tuple(_editor_commands(self.typed))
        if line_program_options(program):
            return tuple(_blocks(self.typed))
        if program in ("bc", "dc"):
            return tuple((one,) for one in self.typed)
        return tuple(_sql_statements(self.typed))

    def keeping(self, statements: Sequence[Sequence[str]]) -> str:
        """The command with these statements alone."""
        return _joined(self.line, [one for statement in statements for one in statement])


def typed_command(command: str) -> TypedCommand | None:
    """The command and its typed lines; ``None`` where none were recorded with it."""
    found = _TYPED.fullmatch(command)
    return TypedCommand(found["line"], tuple(found["text"].splitlines())) if found else None


def shorter_forms(command: str) -> Generator[str, bool, None]:
    """The command without one typed statement after the other, the first ones first: what was put right later stays.

    It is sent whether the form did the same, so that further ones are of that; it ends when none does. The last form
    is the program without the option that makes it pass over failed lines.
    """
    found = typed_command(command)
    if found is None:
        return
    statements = list(found.statements)
    place, shortened = 0, False
    while place < len(statements) > 1:
        rest = [*statements[:place], *statements[place + 1 :]]
        if (yield found.keeping(rest)):
            statements, shortened = rest, True
        else:
            place += 1
        if place == len(statements) and shortened:
            # What two statements did for each other shows only now.
            place, shortened = 0, False
    plain = TypedCommand(_without_prompt_options(found.line), found.typed)
    if plain.line != found.line:
        yield plain.keeping(statements)


def _without_prompt_options(line: str) -> str:
    options = line_program_options(parts_of(line)[0].program) or ()
    return " ".join(word for word in line.split(" ") if word not in options)


def without_typed_lines(command: str) -> str:
    """The command line alone, as far as it was typed in the shell."""
    found = typed_command(command)
    return found.line if found else command


def _joined(line: str, typed: Sequence[str]) -> str:
    return "\n".join([f"{line} <<'{END_OF_TYPED}'", *typed, END_OF_TYPED])


def _editor_commands(typed: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Commands of ed; a text that is put in goes with its command, up to the dot."""
    found: list[str] = []
    is_text = False
    for line in typed:
        found.append(line)
        is_text = line != "." if is_text else bool(_INPUT_MODE.fullmatch(line))
        if not is_text:
            yield tuple(found)
            found = []
    if found:
        yield tuple(found)


def _blocks(typed: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Statements of an interpreter; a block ends before the next line that is not indented, or with an empty one."""
    found: list[str] = []
    for line in typed:
        if found and line.strip() and not line[:1].isspace() and not line.startswith((")", "]", "}")):
            yield tuple(found)
            found = []
        found.append(line)
    if found:
        yield tuple(found)


def _sql_statements(typed: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Statements up to their semicolon, and commands of the client (``.mode``, ``\\copy``), each a line."""
    found: list[str] = []
    for line in typed:
        is_command = not found and line.lstrip().startswith((".", "\\"))
        found.append(line)
        if is_command or _STATEMENT_ENDS.search(line):
            yield tuple(found)
            found = []
    if found:
        yield tuple(found)
