"""``apprentice record``: recording a demonstration."""

from pathlib import Path
from typing import Annotated

import typer

from cli import record_steering
from cli.invocation import reporting_errors
from cli.record_browser_command import browser
from cli.record_session import find_recordable
from cli.record_wrap_command import wrap
from contracts.learning.observation import ObservationAdapterKind

app = typer.Typer(no_args_is_help=True, help="Record a demonstration.")

_TERMINAL = ObservationAdapterKind.TERMINAL_COMMAND
_LAUNCHES = ObservationAdapterKind.PROCESS_LAUNCH


@app.callback()
def record() -> None:
    """Record a demonstration."""


@app.command()
def terminal(
    session: Annotated[
        str | None, typer.Option(help="The session's id. Left out: your one session that is not at rest.")
    ] = None,
    folder: Annotated[
        Path, typer.Option(help="The demonstration's folder.", exists=True, file_okay=False)
    ] = Path(),
    api_url: Annotated[str | None, typer.Option(help="The service's address.")] = None,
    token: Annotated[str | None, typer.Option(help="An access token with the scope observe.")] = None,
) -> None:
    """Open a shell whose commands are recorded; `exit` ends the recording."""
    from recorders.terminal import TerminalRecorderOptions, record_terminal

    with reporting_errors():
        found = find_recordable(session, api_url, token, _TERMINAL, [_LAUNCHES])
        options = TerminalRecorderOptions(
            learn_session_id=found.learn_session_id,
            target=found.target,
            spool_folder=found.spool_folder,
            folder=folder.absolute(),
            presence_folder=found.presence_folder,
            with_launches=_LAUNCHES in found.adapters,
        )
    code = record_terminal(options)
    if code == 0:
        typer.echo(f"Next: apprentice learn stop {found.learn_session_id}")
        return
    raise typer.Exit(code)


app.command("browser")(browser)
app.command("wrap")(wrap)
record_steering.register(app)
