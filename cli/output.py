"""What commands print: tables and lines for people, JSON for programs, and the exit codes.

Results go to standard output, everything else to standard error. ``NO_COLOR`` is honoured.
"""

import dataclasses
import json
import sys
from collections.abc import Sequence
from enum import IntEnum
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.table import Table

from cli.terminal import TerminalConsole

_WIDTH_WHEN_PIPED = 200


class ExitCode(IntEnum):
    """How a command ended, for scripts."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    NOT_READY = 3
    """The service, or something it needs, cannot be reached or is not ready yet."""
    REFUSED = 4
    """The service answered, and refused."""


JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
"""The ``--json`` option; every command that prints data takes it."""


def write_json(value: Any) -> None:
    """``value`` (models and dataclasses too) as indented JSON on standard output."""
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


def write_line(text: str = "") -> None:
    """One line on standard output, as it is."""
    _console(sys.stdout).print(text, markup=False, emoji=False, highlight=False, soft_wrap=True)


def warn(text: str) -> None:
    """One line on standard error, as it is."""
    _console(sys.stderr).print(text, markup=False, emoji=False, highlight=False, soft_wrap=True)


def fail(message: str, code: ExitCode = ExitCode.FAILURE) -> NoReturn:
    """Ends the command: the message on standard error and the exit code.

    Raises:
        typer.Exit: always.
    """
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
