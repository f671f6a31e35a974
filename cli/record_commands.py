"""``apprentice record``: recording a demonstration."""

from pathlib import Path
from typing import Annotated

import typer

from cli.connection import ADMIN_TOKEN_FILE, find_connection
from cli.invocation import NothingToDo, reporting_errors
from clients.apprentice_api import ApprenticeApi
from config.settings import load_settings
from contracts.learning.session import LearnSessionState

app = typer.Typer(no_args_is_help=True, help="Record a demonstration.")

SPOOL_FOLDER = "spool"
"""Under the data directory; what could not be delivered waits there."""

_OBSERVES = frozenset({LearnSessionState.ARMED, LearnSessionState.CAPTURING, LearnSessionState.PAUSED})


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
    from recorders.ingest_client import IngestTarget
    from recorders.terminal import TerminalRecorderOptions, record_terminal

    with reporting_errors():
        connection = find_connection(api_url, token)
        if connection.token is None:
            raise NothingToDo(
                f"no access token: name one with --token or APPRENTICE_TOKEN (no {ADMIN_TOKEN_FILE} was found)"
            )
        with ApprenticeApi(connection.api_url, connection.token) as api:
            found = api.learn.session(session) if session else api.learn.active_session()
        if found is None:
            raise NothingToDo("you have no session under way; begin one with `apprentice learn create`")
        if found.state not in _OBSERVES:
            raise NothingToDo(
                f"session {found.learn_session_id} is {found.state.value}: it records no longer"
            )
        options = TerminalRecorderOptions(
            learn_session_id=found.learn_session_id,
            target=IngestTarget(connection.api_url, connection.token),
            spool_folder=load_settings().data_dir / SPOOL_FOLDER,
            folder=folder.absolute(),
        )
    code = record_terminal(options)
    if code == 0:
        typer.echo(f"Next: apprentice learn stop {found.learn_session_id}")
        return
    raise typer.Exit(code)
