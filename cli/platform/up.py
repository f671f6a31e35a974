"""``apprentice up``: Temporal, worker, API and console on this machine, in the foreground until stopped."""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import httpx
import typer

from cli.platform.output import ExitCode, fail, warn, write_line
from cli.platform.run_state import AlreadyRunning, ProcessIds, RunState, hold_data_dir, publish, withdraw
from cli.processes.fork_client import CAN_FORK, ForkClient
from cli.processes.supervisor import Part, PartFailed, Supervisor
from config.origins import SettingsError
from config.settings import (
    Settings,
    as_environment,
    load_settings,
    names_a_cluster,
    prepare_data_dir,
    temporal_connect_kwargs,
)
from worker.embedded_temporal import (
    PORT_TAKEN,
    EmbeddedTemporal,
    EmbeddedTemporalError,
    find_binary,
    free_port,
    hidden_address,
    is_listening,
    server_environment,
    serves,
)

_TEMPORAL = "temporal"
_ADMIN_TOKEN_FILE = "admin_token"  # noqa: S105 - a file name

DataDir = Annotated[Path | None, typer.Option(help="Where everything is kept (default: ~/.apprentice).")]
ApiPort = Annotated[int | None, typer.Option(help="Port of API and console; 0 picks a free one.")]
TemporalPort = Annotated[int | None, typer.Option(help="Port of the embedded Temporal; 0 picks a free one.")]
UiPort = Annotated[int | None, typer.Option(help="Port of the Temporal UI; 0 picks a free one.")]
ReadyFile = Annotated[Path | None, typer.Option(help="Written once everything answers, removed at the end.")]
NoUi = Annotated[bool, typer.Option("--no-ui", help="Leave the Temporal UI out.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show what the parts log.")]


def up(
    data_dir: DataDir = None,
    api_port: ApiPort = None,
    temporal_port: TemporalPort = None,
    ui_port: UiPort = None,
    ready_file: ReadyFile = None,
    no_ui: NoUi = False,
    verbose: Verbose = False,
) -> None:
    """Run everything on this machine until Ctrl-C: Temporal, worker, API and console."""
    try:
        settings = load_settings(
            data_dir=data_dir, api_port=api_port, temporal_port=temporal_port, temporal_ui_port=ui_port
        )
        prepare_data_dir(settings)
    except SettingsError as error:
        fail(str(error), ExitCode.USAGE)
    try:
        with hold_data_dir(settings.data_dir):
            withdraw(settings.data_dir, ready_file)
            try:
                asyncio.run(_run_somewhere(settings, ready_file, with_ui=not no_ui, verbose=verbose))
            finally:
                withdraw(settings.data_dir, ready_file)
    except AlreadyRunning as error:
        fail(str(error))
    except (PartFailed, EmbeddedTemporalError) as error:
        fail(str(error), ExitCode.NOT_READY)


_PLACES_TRIED = 5


async def _run_somewhere(
    settings: Settings, ready_file: Path | None, *, with_ui: bool, verbose: bool
) -> None:
    """Runs everything; where another program took a port of Temporal first, once more with other ports.

    A port that was asked for stays as it is, and is refused by name.
    """
    for tried in range(1, _PLACES_TRIED + 1):
        try:
            await _run(settings, ready_file, with_ui=with_ui, verbose=verbose)
            return
        except PartFailed as error:
            if error.part != _TEMPORAL or PORT_TAKEN not in str(error) or tried == _PLACES_TRIED:
                raise
        warn(f"Another program took a port of Temporal; trying others ({tried + 1} of {_PLACES_TRIED}).")


async def _run(settings: Settings, ready_file: Path | None, *, with_ui: bool, verbose: bool) -> None:
    embedded = not names_a_cluster(os.environ)
    settings = _with_real_ports(settings, embedded=embedded, with_ui=with_ui)
    parts: list[Part] = []
    if embedded:
        server = _temporal(settings, with_ui=with_ui)
        parts.append(_part(server))
        settings = settings.model_copy(
            update={"temporal_ui_upstream": server.ui_url, "temporal_ui_url": _ui_url(settings, with_ui)}
        )
    environment = dict(os.environ) | as_environment(settings)
    parts += _application(settings, environment)

    first_start = not (settings.data_dir / _ADMIN_TOKEN_FILE).exists()
    ready = False

    def write_state(pids: Mapping[str, int]) -> None:
        if ready:
            publish(_state(settings, pids), ready_file)

    def announce_ready() -> None:
        nonlocal ready
        ready = True
        try:
            write_state(supervisor.pids)
        except OSError as error:
            raise PartFailed(
                f"everything answers, but addresses and process ids cannot be noted for other programs: {error}",
                "api",
            ) from None
        _greet(settings, first_start=first_start)

    supervisor = Supervisor(
        parts,
        settings.log_dir,
        warn,
        pids_changed=write_state,
        echo=(lambda name, line: warn(f"{name:8} | {line}")) if verbose else None,
        forks=ForkClient(environment) if CAN_FORK else None,
    )
    loop = asyncio.get_running_loop()
    for number in signals_that_stop():
        loop.add_signal_handler(number, supervisor.request_stop)
    await supervisor.run(announce_ready)
    write_line("Stopped.")


def signals_that_stop() -> list[signal.Signals]:
    """What asks for an orderly stop; the end of a terminal does not where ``nohup`` has it ignored."""
    stopping = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        stopping.append(signal.SIGHUP)
    return stopping


def _with_real_ports(settings: Settings, *, embedded: bool, with_ui: bool) -> Settings:
    """``settings`` with 0 replaced by free ports.

    Raises:
        EmbeddedTemporalError: something else listens on a port that was asked for.
    """
    names = ["api_port"]
    names += ["temporal_port"] if embedded else []
    names += ["temporal_ui_port"] if embedded and with_ui else []
    chosen: dict[str, int] = {}
    for name in names:
        port = getattr(settings, name) or _unused_port(set(chosen.values()))
        if is_listening("127.0.0.1", port):
            raise EmbeddedTemporalError(
                f"port {port} ({name}) is in use by another program: stop that program, choose another port, "
                "or 0 for a free one"
            )
        chosen[name] = port
    return settings.model_copy(update=chosen)


def _unused_port(taken: set[int]) -> int:
    while (port := free_port()) in taken:
        pass
    return port


def _ui_url(settings: Settings, with_ui: bool) -> str | None:
    """Where people open the Temporal UI: the API process serves it, and refuses other names."""
    own = f"http://127.0.0.1:{settings.temporal_ui_port}" if with_ui else None
    return settings.temporal_ui_url or own


def _temporal(settings: Settings, *, with_ui: bool) -> EmbeddedTemporal:
    codec = None
    if with_ui and settings.payload_encryption:
        # Imported here because it is slow to load.
        from api.platform.temporal_ui import CODEC

        codec = f"{_ui_url(settings, with_ui)}{CODEC}"
    return EmbeddedTemporal(
        find_binary(),
        runs_database(settings),
        settings.temporal_port,
        hidden_address() if with_ui else None,
        settings.namespace,
        codec,
    )


def _part(server: EmbeddedTemporal) -> Part:
    return Part(
        _TEMPORAL,
        server.command,
        server_environment(os.environ),
        is_ready=lambda: serves(server.address, server.namespace),
    )


def runs_database(settings: Settings) -> Path:
    """The database file of the embedded server.

    One that was written before there was a key to sign with is set aside as ``unsigned-temporal.db``: no worker
    would believe what it holds. The server starts empty then, and the worker brings back from the store what is open.
    """
    # Imported here because the SDK is slow to load.
    from gateways.platform.payload_signing import FOLDER

    file = settings.temporal_dir / "temporal.db"
    if not (settings.data_dir / FOLDER).exists():
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                file.with_name(f"{file.name}{suffix}").rename(file.with_name(f"unsigned-{file.name}{suffix}"))
    return file


def _application(settings: Settings, environment: Mapping[str, str]) -> list[Part]:
    def command(name: str) -> list[str]:
        # -P: a folder named cli where the command was typed must not be taken for ours.
        return [sys.executable, "-P", "-m", "cli.main", name]

    async def answers() -> bool:
        return await api_is_ready(settings.local_api_url)

    return [
        Part("worker", command("worker"), environment, drain_seconds=20, forked=["worker"]),
        # Patient: two programs load beside each other here, on a busy machine slowly. One that ends is seen at once.
        Part("api", command("api"), environment, answers, 180, drain_seconds=15, forked=["api"]),
    ]


async def api_is_ready(api_url: str) -> bool:
    """Whether the API answers that it, the worker and what they need are ready."""
    async with httpx.AsyncClient(trust_env=False, timeout=5) as client:
        try:
            answer = await client.get(f"{api_url}/readyz")
        except httpx.TransportError:
            return False
    return answer.is_success and answer.json().get("ready") is True


def _state(settings: Settings, pids: Mapping[str, int]) -> RunState:
    return RunState(
        api_url=settings.api_url,
        console_url=settings.console_url,
        temporal_ui_url=settings.temporal_ui_url,
        temporal_address=temporal_connect_kwargs(settings)["target_host"],
        admin_token=(settings.data_dir / _ADMIN_TOKEN_FILE).read_text(encoding="utf-8").strip(),
        data_dir=settings.data_dir,
        memory_root=settings.memory_root,
        workspace=settings.workspace,
        pids=ProcessIds(temporal=pids.get("temporal"), worker=pids["worker"], api=pids["api"]),
    )


def _greet(settings: Settings, *, first_start: bool) -> None:
    token_file = settings.data_dir / _ADMIN_TOKEN_FILE
    shown_once = f"{token_file.read_text().strip()} (shown this once; kept " if first_start else "("
    write_line("Apprentice is ready.")
    for label, value in (
        ("Console", settings.console_url),
        ("API", f"{settings.api_url}/docs"),
        ("Temporal UI", settings.temporal_ui_url or "not served here"),
        ("Admin token", f"{shown_once}in {token_file})"),
        ("Data", str(settings.data_dir)),
        ("Logs", str(settings.log_dir)),
    ):
        write_line(f"  {label:12} {value}")
    write_line("Ctrl-C stops it.")
