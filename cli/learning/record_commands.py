"""``apprentice record``: record a demonstration; pause, resume, stop and list recorders.

DOC3 §0A.11, §0C.22. :func:`find_recordable` finds the session, the API and the usable adapters for every recorder.
"""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer
from rich.text import Text

from cli.platform.invocation import (
    ADMIN_TOKEN_FILE,
    Invocation,
    NothingToDo,
    api_command,
    find_connection,
    reporting_errors,
)
from cli.platform.output import ExitCode, JsonFlag, fail, warn, write_json, write_line, write_table
from clients.apprentice.api import ApprenticeApi
from clients.apprentice.transport import ApiRefusal, ApiUnreachable, RetryPolicy
from config.settings import load_settings
from contracts.errors import ErrorCode
from contracts.learning.observation import ObservationAdapterKind, RegisteredAdapter
from contracts.learning.session import LearnSession, LearnSessionState
from contracts.learning.state_machine import SessionCommand
from domain.learning.adapters import ADAPTERS
from domain.learning.interpretation.meaningful import lets_in
from recorders.delivery import DeliveryReport, IngestTarget
from recorders.running import RECORDERS_FOLDER

if TYPE_CHECKING:
    from recorders.starting_state import InputOptions

app = typer.Typer(no_args_is_help=True, help="Record a demonstration.")

SPOOL_FOLDER = "spool"
"""Under the data directory; what could not be delivered waits there."""

_OBSERVES = frozenset({LearnSessionState.ARMED, LearnSessionState.CAPTURING, LearnSessionState.PAUSED})
_ONCE = RetryPolicy(attempts=1)


@dataclass(frozen=True)
class Recordable:
    """A session that can be recorded, where to report to, and the adapters that may be used."""

    learn_session_id: str
    target: IngestTarget
    data_dir: Path
    adapters: frozenset[ObservationAdapterKind]
    is_paused: bool = False

    @property
    def spool_folder(self) -> Path:
        """Where events wait for delivery."""
        return self.data_dir / SPOOL_FOLDER

    @property
    def presence_folder(self) -> Path:
        """Where running recorders are found."""
        return self.data_dir / RECORDERS_FOLDER


def find_recordable(
    session: str | None,
    api_url: str | None,
    token: str | None,
    needed: ObservationAdapterKind,
    wished: Collection[ObservationAdapterKind] = (),
) -> Recordable:
    """The named session, or the caller's one that is under way, if it can be recorded with ``needed``.

    A session that is named is taken on trust while the service is away: what is seen waits in the spool.

    Raises:
        NothingToDo: no token, no session, or one that records no longer or keeps nothing of ``needed``.
        ApiFailure: the service refuses, with ``ADAPTER_UNAVAILABLE`` when ``needed`` cannot be used.
    """
    connection = find_connection(api_url, token)
    if connection.token is None:
        raise NothingToDo(
            f"no access token: name one with --token or APPRENTICE_TOKEN (no {ADMIN_TOKEN_FILE} was found)"
        )
    adapters, is_paused = frozenset({needed, *wished}), False
    with ApprenticeApi(connection.api_url, connection.token, retry=_ONCE) as api:
        try:
            observing = _observing(api, session)
            session_id = observing.learn_session_id
            is_paused = observing.state is LearnSessionState.PAUSED
            _refuse_unwatched(observing, needed)
            adapters = frozenset(
                kind for kind in adapters if _watches(observing, kind) and _is_usable(api, kind, needed)
            )
        except ApiUnreachable:
            if session is None:
                raise
            session_id = session
    target = IngestTarget(connection.api_url, connection.token)
    return Recordable(session_id, target, load_settings().data_dir, adapters, is_paused)


def _observing(api: ApprenticeApi, session: str | None) -> LearnSession:
    found = api.learn.session(session) if session else api.learn.latest_session(SessionCommand.STOP)
    if found is None:
        raise NothingToDo("you have no session under way; begin one with `apprentice learn create`")
    if found.state not in _OBSERVES:
        raise NothingToDo(f"session {found.learn_session_id} is {found.state.value}: it records no longer")
    return found


def _watches(session: LearnSession, kind: ObservationAdapterKind) -> bool:
    return lets_in(kind, session.observation_mode, session.target_app_whitelist)


def _refuse_unwatched(session: LearnSession, kind: ObservationAdapterKind) -> None:
    """Ends the command where the session would keep nothing of what is to be recorded.

    Raises:
        NothingToDo: it observes nothing, or other applications alone.
    """
    if _watches(session, kind):
        return
    watched = " and ".join(f"“{one}”" for one in session.target_app_whitelist)
    what = f"watches {watched} alone" if watched else "observes nothing"
    only = ADAPTERS[kind].application
    raise NothingToDo(
        f"session {session.learn_session_id} {what}: nothing would be kept of what {kind.value} reports. End it with "
        f"`apprentice learn cancel`, and begin one with `apprentice learn create --only {only}`."
    )


def _is_usable(api: ApprenticeApi, kind: ObservationAdapterKind, needed: ObservationAdapterKind) -> bool:
    """Whether the service takes this kind's events; asked by the sign of life that it is to get anyway."""
    try:
        api.learn.adapter_heartbeat(kind)
    except ApiRefusal as refusal:
        if refusal.code != ErrorCode.ADAPTER_UNAVAILABLE or kind is needed:
            raise
        return False
    return True


_TERMINAL = ObservationAdapterKind.TERMINAL_COMMAND
_ACTIONS = ObservationAdapterKind.BROWSER_DOM
_SNAPSHOTS = ObservationAdapterKind.BROWSER_SNAPSHOT


@app.callback()
def record() -> None:
    """Record a demonstration."""


InputsFlag = Annotated[
    bool,
    typer.Option(
        "--inputs/--no-inputs",
        help="Whether what the folder holds before the first command is kept as the lesson's starting point.",
    ),
]
TypedLinesFlag = Annotated[
    bool,
    typer.Option(
        "--typed-lines/--no-typed-lines",
        help="Whether lines typed at the prompts of programs such as sqlite3, python3 and ed are kept, unless they "
        "stay invisible, as passwords do.",
    ),
]
InputBytes = Annotated[
    int | None,
    typer.Option(
        min=0, help="The most bytes of the folder's files that are kept. Left out: by the settings."
    ),
]


def _inputs(found: Recordable, wanted: bool, max_input_bytes: int | None) -> "InputOptions | None":
    """What is kept of the folder, by the settings and the options."""
    from recorders.starting_state import InputOptions

    settings = load_settings()
    if not (wanted and settings.record_inputs):
        return None
    limits = settings.input_limits
    if max_input_bytes is not None:
        limits = limits.changed(max_total_bytes=min(max_input_bytes, limits.max_total_bytes))
    return InputOptions(limits, private_folders=(found.data_dir,))


@app.command()
def terminal(
    session: Annotated[
        str | None, typer.Option(help="The session's id. Left out: your session that is under way.")
    ] = None,
    folder: Annotated[
        Path, typer.Option(help="The demonstration's folder.", exists=True, file_okay=False)
    ] = Path(),
    inputs: InputsFlag = True,
    typed_lines: TypedLinesFlag = True,
    max_input_bytes: InputBytes = None,
    api_url: Annotated[str | None, typer.Option(help="The service's address.")] = None,
    token: Annotated[str | None, typer.Option(help="An access token with the scope observe.")] = None,
) -> None:
    """Open a shell whose commands are recorded; `exit` ends the recording."""
    from recorders.spool import RecorderError, SpoolError
    from recorders.terminal.recording import TerminalRecorderOptions, record_terminal

    with reporting_errors():
        found = find_recordable(session, api_url, token, _TERMINAL, [_LAUNCHES])
        options = TerminalRecorderOptions(
            learn_session_id=found.learn_session_id,
            target=found.target,
            spool_folder=found.spool_folder,
            folder=folder.absolute(),
            presence_folder=found.presence_folder,
            with_launches=_LAUNCHES in found.adapters,
            inputs=_inputs(found, inputs, max_input_bytes),
            typed_lines=typed_lines,
        )
    try:
        summary = record_terminal(options)
    except (RecorderError, SpoolError) as error:
        fail(str(error), ExitCode.USAGE)
    _say_next(found, summary.delivery, complete=summary.complete)


@app.command()
def browser(
    session: Annotated[
        str | None, typer.Option(help="The session's id. Left out: your session that is under way.")
    ] = None,
    url: Annotated[str | None, typer.Option(help="The page to begin with.")] = None,
    headless: Annotated[bool, typer.Option("--headless", help="Show no window.")] = False,
    cdp_url: Annotated[
        str | None,
        typer.Option(help="Watch the browser whose debugging port this is: http://127.0.0.1:PORT."),
    ] = None,
    folder: Annotated[
        Path, typer.Option(help="Where downloads of a started browser go.", exists=True, file_okay=False)
    ] = Path(),
    browser_arg: Annotated[
        list[str] | None, typer.Option(help="Handed to a started browser as it is (repeatable).")
    ] = None,
    api_url: Annotated[str | None, typer.Option(help="The service's address.")] = None,
    token: Annotated[str | None, typer.Option(help="An access token with the scope observe.")] = None,
) -> None:
    """Record a browser: by role and name what is done, never what is typed. Closing it ends the recording."""
    from recorders.browser.recording import BrowserRecorderOptions, record_browser
    from recorders.spool import RecorderError, SpoolError

    with reporting_errors():
        found = find_recordable(session, api_url, token, _ACTIONS, [_SNAPSHOTS])
    options = BrowserRecorderOptions(
        learn_session_id=found.learn_session_id,
        target=found.target,
        spool_folder=found.spool_folder,
        cdp_url=cdp_url,
        start_url=url,
        headless=headless,
        folder=folder.absolute(),
        browser_arguments=tuple(browser_arg or ()),
        presence_folder=found.presence_folder,
        with_snapshots=_SNAPSHOTS in found.adapters,
    )
    try:
        summary = record_browser(options, say=_say)
    except (RecorderError, SpoolError) as error:
        fail(str(error), ExitCode.USAGE)
    _say(summary.text())
    _say_next(found, summary.delivery, complete=summary.complete)


def _say_next(found: Recordable, delivery: DeliveryReport, *, complete: bool) -> None:
    """The command that follows a recording; one of which nothing was kept leaves the session as it was."""
    if not complete:
        raise typer.Exit(ExitCode.FAILURE)
    if delivery.taken:
        typer.echo(f"Next: apprentice learn stop {found.learn_session_id}")
    else:
        typer.echo(f"Nothing was kept. Next: apprentice learn status {found.learn_session_id}")


def _say(text: str) -> None:
    warn(f"[apprentice] {text}")


_WRAPPER = ObservationAdapterKind.WRAPPER_RECEIPT
_LAUNCHES = ObservationAdapterKind.PROCESS_LAUNCH


@app.command()
def wrap(
    command: Annotated[
        list[str], typer.Argument(help="The program and its arguments.", metavar="-- COMMAND…")
    ],
    session: Annotated[
        UUID | None, typer.Option(help="The session's id. Left out: your session that is under way.")
    ] = None,
    label: Annotated[str | None, typer.Option(help="What this step does, in a few words.")] = None,
    folder: Annotated[
        Path, typer.Option(help="The demonstration's folder.", exists=True, file_okay=False)
    ] = Path(),
    inputs: InputsFlag = True,
    max_input_bytes: InputBytes = None,
    api_url: Annotated[str | None, typer.Option(help="The service's address.")] = None,
    token: Annotated[str | None, typer.Option(help="An access token with the scope observe.")] = None,
) -> None:
    """Run one command as it is and record what it did; ends with the command's exit code."""
    from recorders.spool import RecorderError, SpoolError
    from recorders.terminal.pty_shell import RECORDING_VARIABLE, is_recorded
    from recorders.wrapper.child import CommandNotStarted
    from recorders.wrapper.wrapping import WrapperOptions, wrap_command

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
        inputs=_inputs(found, inputs, max_input_bytes),
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


SessionOption = Annotated[
    str | None, typer.Option(help="Only the recorders of this session. Left out: all that run here.")
]


@app.command()
def pause(session: SessionOption = None, as_json: JsonFlag = False) -> None:
    """Pause the recorders that run on this machine: nothing is kept until they are resumed."""
    _steer("pause", session, as_json)


@app.command()
def resume(session: SessionOption = None, as_json: JsonFlag = False) -> None:
    """Let paused recorders go on."""
    _steer("resume", session, as_json)


@app.command()
def stop(session: SessionOption = None, as_json: JsonFlag = False) -> None:
    """End recording; a recorded shell or command goes on without it."""
    _steer("stop", session, as_json)


@app.command()
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


@api_command(app, "adapters")
def adapters(call: Invocation) -> None:
    """List the kinds of recorders: which are available, how yours fare, what to use instead."""
    listed = call.api.learn.adapters()
    call.answer(*(Text(_line(one)) for one in listed.adapters))


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
    application = ADAPTERS[status.kind].application
    only = f" (--only {application})" if application else ""
    return (
        f"{'✓' if status.healthy else '!'}  {status.kind.value:18} {health}{seen}: {adapter.captures}{only}"
    )
