"""Output of commands: tables and lines for people, JSON for programs, exit codes.

Results go to standard output, everything else to standard error; with ``--json`` an error is told on both: as the
API's envelope ``{"error": {code, message, retryable, …}}`` for programs, as a sentence for people. ``NO_COLOR`` is
honoured. Control sequences in untrusted text are escaped: the terminal shows them and does not obey them.
"""

import dataclasses
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from enum import IntEnum
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from contracts.abilities.availability import UnprovedStep

# Control characters (C0 but line end and tab, DEL, C1), and what turns the direction of text.
_COMMANDING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def harmless(text: str) -> str:
    """``text`` with characters that command a terminal, or reorder what is read, as JSON escapes them."""
    return _COMMANDING.sub(lambda found: json.dumps(found[0])[1:-1], text)


class TerminalConsole(Console):
    """Rich's console; what is printed is made ``harmless``, its own colours and cursor are not touched."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """As rich's, piece by piece."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else harmless(text), style, control)


_WIDTH_WHEN_PIPED = 200

PASSED = "[green]✓[/]"
FAILED = "[red]✗[/]"
SKIPPED = "[yellow]–[/]"
WAITING = "[dim]·[/]"

NAME_WIDTH = 13
"""Columns for the names of :func:`facts`."""


class ExitCode(IntEnum):
    """How a command ended, for scripts."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    NOT_READY = 3
    """The service, or something it needs, cannot be reached or is not ready yet."""
    REFUSED = 4
    """The service answered, and refused."""


JSON_OPTION = "--json"

JsonFlag = Annotated[bool, typer.Option(JSON_OPTION, help="Print JSON for programs, errors too.")]
"""The ``--json`` option; every command that prints data takes it."""

_told: ContextVar[list[str] | None] = ContextVar("errors_told_as_json", default=None)
"""Codes of the errors told to a program in this invocation; ``None`` where sentences alone are wanted."""


def begin(arguments: Sequence[str]) -> None:
    """Notes whether this command line asks for JSON; what follows ``--`` belongs to another command."""
    own = list(arguments)
    own = own[: own.index("--")] if "--" in own else own
    _told.set([] if JSON_OPTION in own else None)


def tell_error(
    code: str, message: str, *, retryable: bool = False, further: Mapping[str, object] | None = None
) -> None:
    """The first error of an invocation on standard output in the API's envelope, where ``--json`` was given.

    What the service refused keeps its code and further keys; what went wrong around it has the exit code's name.
    """
    told = _told.get()
    if told is not None and not told:
        told.append(code)
        error = {"code": code, "message": message, "retryable": retryable, **(further or {})}
        typer.echo(harmless(json.dumps({"error": error}, ensure_ascii=False, default=str)))


def write_json(value: Any) -> None:
    """``value`` (models and dataclasses too) as indented JSON on standard output.

    An error that comes after it is told in words alone: a program reads one JSON document.
    """
    told = _told.get()
    if told is not None:
        told.append("answered")
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, default=_plain))


def write_table(columns: Sequence[str], rows: Sequence[Sequence[object]], title: str | None = None) -> None:
    """A table on standard output; a missing value is shown as a dash. Nothing is read as markup."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    console = _console(sys.stdout)
    for row in rows:
        table.add_row(*(console.render_str(_shown(cell), markup=False, emoji=False) for cell in row))
    console.print(table)


def listing(*columns: str, whole: str = "") -> Table:
    """An empty table for people: what is too long is folded; the column ``whole`` is not broken."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in columns:
        table.add_column(column, no_wrap=column == whole, overflow="ellipsis" if column == whole else "fold")
    return table


def write_line(text: str = "") -> None:
    """One line on standard output, as it is."""
    _console(sys.stdout).print(text, markup=False, emoji=False, highlight=False, soft_wrap=True)


def print_parts(console: Console, parts: Iterable[RenderableType]) -> None:
    """Print ``parts``. Lines are never broken: a command or an address can be copied from any terminal."""
    for part in parts:
        if isinstance(part, Group):
            print_parts(console, part.renderables)
        else:
            console.print(part, soft_wrap=isinstance(part, Text | str))


def facts(rows: Iterable[tuple[str, str | None]], indent: int = 2) -> Text:
    """Names and values, a line each; rows without a value are left out. Values are not read as markup."""
    text = Text()
    for name, value in rows:
        if value:
            text.append(" " * indent + name.ljust(NAME_WIDTH), style="dim")
            text.append(f"{value}\n")
    text.rstrip()
    return text


def unproved_list(steps: "Sequence[UnprovedStep]") -> Text:
    """The steps that nothing proves, each with its reason; nothing of it is read as markup."""
    text = Text("  not proved here\n" if steps else "", style="yellow")
    for one in steps:
        text.append(f"    – {' '.join(one.step.split())}\n", style="default")
        text.append(f"      {one.reason}\n", style="dim")
    text.rstrip()
    return text


def warn(text: str) -> None:
    """One line on standard error, as it is."""
    _console(sys.stderr).print(text, markup=False, emoji=False, highlight=False, soft_wrap=True)


def fail(message: str, code: ExitCode = ExitCode.FAILURE) -> NoReturn:
    """Ends the command: the message on standard error and the exit code, and for ``--json`` the error as JSON.

    Raises:
        typer.Exit: always.
    """
    tell_error(code.name, message, retryable=code is ExitCode.NOT_READY)
    _console(sys.stderr).print(
        "Error:", style="bold red", end=" ", markup=False, highlight=False, soft_wrap=True
    )
    warn(message)
    raise typer.Exit(code)


def _console(stream: Any) -> Console:
    # A pipe has no width: lines that are cut there could not be searched.
    return TerminalConsole(file=stream, width=None if stream.isatty() else _WIDTH_WHEN_PIPED)


def _shown(cell: object) -> str:
    return "–" if cell is None or cell == "" else str(cell)


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return str(value)
