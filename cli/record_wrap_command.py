"""``apprentice record wrap``: one command, run for real and reported as one receipt."""

from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from cli.invocation import reporting_errors
from cli.output import ExitCode, fail, warn
from cli.record_session import find_recordable
from contracts.learning.observation import ObservationAdapterKind

_WRAPPER = ObservationAdapterKind.WRAPPER_RECEIPT
_LAUNCHES = ObservationAdapterKind.PROCESS_LAUNCH


def wrap(
    command: Annotated[
        list[str], typer.Argument(help="The program and its arguments.", metavar="-- COMMAND…")
    ],
    session: Annotated[
        UUID | None, typer.Option(help="The session's id. Left out: your one session that is not at rest.")
    ] = None,
    label: Annotated[str | None, typer.Option(help="What this step does, in a few words.")] = None,
    folder: Annotated[
        Path, typer.Option(help="The demonstration's folder.", exists=True, file_okay=False)
    ] = Path(),
    api_url: Annotated[str | None, typer.Option(help="The service's address.")] = None,
    token: Annotated[str | None, typer.Option(help="An access token with the scope observe.")] = None,
) -> None:
    """Run one command as it is and record what it did; ends with the command's exit code."""
    from recorders.errors import RecorderError
    from recorders.spool import SpoolError
    from recorders.terminal.pty_shell import RECORDING_VARIABLE, is_recorded
    from recorders.wrapper import WrapperOptions, wrap_command
    from recorders.wrapper.child import CommandNotStarted

    if is_recorded():
        fail(
            f"this terminal is recorded already ({RECORDING_VARIABLE}): type the command itself",
            ExitCode.USAGE,
        )
    with reporting_errors():
        found = find_recordable(str(session) if session else None, api_url, token, _WRAPPER, [_LAUNCHES])
    options = WrapperOptions(
        learn_session_id=found.learn_session_id,
        target=found.target,
        spool_folder=found.spool_folder,
        folder=folder.absolute(),
        label=label,
        session_paused=found.is_paused,
        presence_folder=found.presence_folder,
        with_launches=_LAUNCHES in found.adapters,
    )
    try:
        summary = wrap_command(options, command, _say)
    except CommandNotStarted as error:
        warn(f"Error: {error}")
        raise typer.Exit(error.exit_code) from None
    except (RecorderError, SpoolError) as error:
        fail(str(error), ExitCode.USAGE)
    _say(summary.text())
    raise typer.Exit(summary.exit_code)


def _say(text: str) -> None:
    warn(f"[apprentice] {text}")
