"""State file of a running ``apprentice up`` (addresses, token, process ids), and access to its local store."""

import contextlib
import json
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError
from sqlalchemy import make_url

from cli.platform.output import ExitCode, fail
from config.origins import SettingsError
from config.settings import Settings, load_settings
from stores.platform.database import Database

_STATE_FILE = "run.json"
_LOCK_FILE = "up.lock"
_PID_FILE = "up.pid"


class ProcessIds(BaseModel):
    """The parts' process ids; ``temporal`` is missing when the server is an external one."""

    model_config = ConfigDict(frozen=True)

    temporal: int | None
    worker: int
    api: int


class RunState(BaseModel):
    """The content of the ready file (the keys are a promise to outside tooling)."""

    model_config = ConfigDict(frozen=True)

    api_url: str
    console_url: str
    temporal_ui_url: str | None
    temporal_address: str
    admin_token: str
    data_dir: Path
    memory_root: Path
    workspace: Path
    pids: ProcessIds


class AlreadyRunning(Exception):
    """Another ``apprentice up`` holds the data directory; the text names its process id."""


@contextlib.contextmanager
def hold_data_dir(data_dir: Path) -> Generator[None]:
    """Keeps every other ``apprentice up`` away from ``data_dir`` while the block runs.

    Raises:
        AlreadyRunning: one is running there already.
    """
    pid_file = data_dir / _PID_FILE
    lock = FileLock(data_dir / _LOCK_FILE, timeout=0, mode=0o600)
    try:
        lock.acquire()
    except Timeout:
        pid = pid_file.read_text(encoding="ascii").strip() if pid_file.exists() else "unknown"
        raise AlreadyRunning(
            f"`apprentice up` is already running on {data_dir} (pid {pid}): use it, stop it with "
            f"`kill {pid}`, or choose another --data-dir"
        ) from None
    try:
        write_private(pid_file, f"{os.getpid()}\n")
        yield
    finally:
        pid_file.unlink(missing_ok=True)
        lock.release()


def write_private(path: Path, text: str) -> None:
    """Writes a file in one step, readable by its owner only.

    Raises:
        OSError: the folder is missing or the disk refuses it; an older file is then untouched.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def publish(state: RunState, ready_file: Path | None) -> None:
    """Writes the state where other commands look for it, and to the ready file that was asked for."""
    text = json.dumps(state.model_dump(mode="json"), indent=2) + "\n"
    for path in (state.data_dir / _STATE_FILE, ready_file):
        if path:
            write_private(path, text)


def withdraw(data_dir: Path, ready_file: Path | None) -> None:
    """Removes what ``publish`` wrote: nothing is ready any more, or not yet."""
    for path in (data_dir / _STATE_FILE, ready_file):
        if path:
            path.unlink(missing_ok=True)


def read_run_state(data_dir: Path) -> RunState | None:
    """What is running on ``data_dir``; nothing when nothing is, or when it was killed."""
    try:
        state = RunState.model_validate_json((data_dir / _STATE_FILE).read_bytes())
    except (FileNotFoundError, ValidationError):
        return None
    return state if _is_alive(state.pids.api) else None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


DataDir = Annotated[Path | None, typer.Option(help="The data directory of the installation.")]


@contextmanager
def opened(data_dir: Path | None) -> Generator[tuple[Settings, Database]]:
    """The settings of the installation, and its database, closed in the end.

    Raises:
        typer.Exit: the settings are refused, or there is no database yet.
    """
    try:
        settings = load_settings(data_dir=data_dir)
    except SettingsError as error:
        fail(str(error), ExitCode.USAGE)
    _require_database(settings)
    database = Database(settings.database_url)
    try:
        yield settings, database
    finally:
        database.close()


def _require_database(settings: Settings) -> None:
    url = make_url(settings.database_url)
    # Opening a SQLite file that is not there would make an empty one.
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
        fail(f"there is no database at {url.database}; run `apprentice up` first", ExitCode.NOT_READY)
