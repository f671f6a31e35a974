"""``apprentice record pause|resume|stop|status|adapters``: recorders from outside (DOC3 §0A.11, §0C.22)."""

from typing import Annotated

import typer
from rich.text import Text

from cli.invocation import Invocation, NothingToDo, api_command, reporting_errors
from cli.output import JsonFlag, write_json, write_line, write_table
from config.settings import load_settings
from contracts.learning.adapter_registry import RegisteredAdapter

SessionOption = Annotated[
    str | None, typer.Option(help="Only the recorders of this session. Left out: all that run here.")
]


def pause(session: SessionOption = None, as_json: JsonFlag = False) -> None:
    """Pause the recorders that run on this machine: nothing is kept until they are resumed."""
    _steer("pause", session, as_json)


def resume(session: SessionOption = None, as_json: JsonFlag = False) -> None:
    """Let paused recorders go on."""
    _steer("resume", session, as_json)


def stop(session: SessionOption = None, as_json: JsonFlag = False) -> None:
    """End recording; a recorded shell or command goes on without it."""
    _steer("stop", session, as_json)


def status(session: SessionOption = None, as_json: JsonFlag = False) -> None:
    """Show what records on this machine now."""
    from recorders.running import RECORDERS_FOLDER, running_recorders

    with reporting_errors():
        folder = load_settings().data_dir / RECORDERS_FOLDER
    found = running_recorders(folder, session)
    if as_json:
        write_json([*found])
    elif not found:
        write_line("Nothing records on this machine.")
    else:
        rows = [
            (one.kind.value, one.state, one.learn_session_id, one.pid, one.watches, one.started_at)
            for one in found
        ]
        write_table(("recorder", "state", "session", "process", "watches", "since"), rows)


def adapters(call: Invocation) -> None:
    """List the kinds of recorders: which are available, how yours fare, what to use instead."""
    listed = call.api.learn.adapters()
    call.answer(*(Text(_line(one)) for one in listed.adapters))


def register(app: typer.Typer) -> None:
    """Add these commands to ``app``."""
    for command in (pause, resume, stop, status):
        app.command(command.__name__)(command)
    api_command(app, "adapters")(adapters)


def _steer(how: str, session: str | None, as_json: bool) -> None:
    from recorders.running import RECORDERS_FOLDER, Steering, running_recorders, steer

    with reporting_errors():
        folder = load_settings().data_dir / RECORDERS_FOLDER
        told = [one for one in running_recorders(folder, session) if steer(one, Steering(how))]
        if not told:
            of = f" of session {session}" if session else ""
            raise NothingToDo(f"no recorder{of} runs on this machine; `apprentice record status` lists them")
    if as_json:
        write_json(told)
        return
    for one in told:
        write_line(f"Told the {one.kind.value} recorder of session {one.learn_session_id} to {how}.")


def _line(adapter: RegisteredAdapter) -> str:
    status = adapter.status
    if not adapter.available:
        instead = " or ".join(adapter.alternatives) or "nothing"
        return f"–  {status.kind.value:18} {adapter.reason}; use {instead} instead"
    health = f"cannot record: {status.last_error_code}" if status.last_error_code else "ok"
    seen = f", last seen {status.last_seen_at:%Y-%m-%d %H:%M} UTC" if status.last_seen_at else ""
    return f"{'✓' if status.healthy else '!'}  {status.kind.value:18} {health}{seen}: {adapter.captures}"
