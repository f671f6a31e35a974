"""Running recorders of this machine: presence files, steering by signals, heartbeats (DOC3 §0A.11).

A running recorder keeps a small file in a folder that is private to the user, and holds a lock on it for its
lifetime: an unlocked file was left by a recorder that was killed, and is removed. Steering by signals interrupts
neither a person nor a command. A thread reports to the registry of adapters that the recorder is alive.
"""

import fcntl
import os
import signal
import threading
from collections.abc import Collection, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from urllib.parse import urlsplit

import httpx
import uuid_utils
from pydantic import Field, ValidationError

from contracts.base import Contract, Text400, UtcTime, Uuid
from contracts.learning.observation import AdapterHeartbeatRequest, ObservationAdapterKind
from recorders.delivery import IngestTarget
from recorders.spool import RecorderError

RECORDERS_FOLDER = "recorders"
"""Under the data directory."""

_LONGEST = 4096


class Steering(StrEnum):
    """What can be asked of a running recorder."""

    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"

    @property
    def signal(self) -> signal.Signals:
        """The signal that asks it. ``SIGURG``, because a process that does not listen for it ignores it."""
        return _SIGNALS[self]


_SIGNALS = {
    Steering.PAUSE: signal.SIGUSR1,
    Steering.RESUME: signal.SIGUSR2,
    Steering.STOP: signal.SIGURG,
}


class RunningRecorder(Contract):
    """A recorder that runs: what it watches, for which session, and whether it keeps what it sees."""

    pid: int = Field(ge=1)
    process_start: str | None = None
    learn_session_id: Uuid
    kind: ObservationAdapterKind
    watches: Text400 = Field(description="A folder or an address.")
    state: str = Field(max_length=40)
    started_at: UtcTime


class Presence:
    """A running recorder's own file, there until it is closed.

    Raises:
        RecorderError: the folder cannot be used.
    """

    def __init__(
        self, folder: Path, learn_session_id: str, kind: ObservationAdapterKind, watches: str, state: str
    ) -> None:
        self._told = RunningRecorder(
            pid=os.getpid(),
            process_start=_process_start(os.getpid()),
            learn_session_id=learn_session_id,
            kind=kind,
            watches=watches[:400],
            state=state,
            started_at=datetime.now(UTC),
        )
        name = f"{learn_session_id}.{uuid_utils.uuid7()}"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._path = folder / f"{name}.json"
            fresh = folder / f"{name}.new"
            self._descriptor = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._write()
            # It is only there once it is locked, so that nobody takes it for abandoned.
            fresh.rename(self._path)
        except OSError as error:
            raise RecorderError(f"the folder {folder} cannot be used ({error}): choose another") from error

    def tell(self, state: str) -> None:
        """Says what the recorder does now."""
        if state != self._told.state:
            self._told = self._told.changed(state=state)
            with suppress(OSError):
                self._write()

    def close(self) -> None:
        """The recorder is gone."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
        os.close(self._descriptor)

    def __enter__(self) -> "Presence":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write(self) -> None:
        # Always as long as before, so that a reader never finds the end of an older text.
        os.pwrite(self._descriptor, self._told.model_dump_json().encode().ljust(_LONGEST), 0)


def running_recorders(folder: Path, learn_session_id: str | None = None) -> tuple[RunningRecorder, ...]:
    """The recorders that run now (of one session), the oldest first."""
    found = (recorder for recorder in _alive(folder) if learn_session_id in (None, recorder.learn_session_id))
    return tuple(sorted(found, key=lambda one: one.started_at))


def steer(recorder: RunningRecorder, how: Steering) -> bool:
    """Asks a running recorder; false when it has ended meanwhile."""
    if recorder.process_start != _process_start(recorder.pid):
        return False
    try:
        os.kill(recorder.pid, how.signal)
    except OSError:
        return False
    return True


def _alive(folder: Path) -> Iterator[RunningRecorder]:
    for path in folder.glob("*.json"):
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            with suppress(ValidationError, OSError):
                yield RunningRecorder.model_validate_json(os.pread(descriptor, _LONGEST, 0))
        else:
            path.unlink(missing_ok=True)
        finally:
            os.close(descriptor)


def _process_start(pid: int) -> str | None:
    """When the process began, in the kernel's count: tells it from a later one of the same number."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()[19]


EVERY_S = 60.0
"""Seconds between two signs of life."""

SPOOL_FULL = "SPOOL_FULL"
"""The error code of a recorder that has no room for what it sees."""

_TIMEOUT_S = 2.0


class Heartbeat:
    """Reports that adapters are alive until it is closed. A report that does not arrive is left out: the next
    one, or the next event, says the same."""

    def __init__(self, target: IngestTarget, kinds: Collection[ObservationAdapterKind]) -> None:
        self._target = target
        self._kinds = tuple(kinds)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="adapter-heartbeat", daemon=True)

    def start(self) -> None:
        """Sends the first one."""
        self._thread.start()

    def close(self, error_code: str | None = None) -> None:
        """Ends the thread, and with ``error_code`` reports why the adapters cannot record."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(_TIMEOUT_S * (len(self._kinds) + 1))
        if error_code is not None:
            report_health(self._target, self._kinds, error_code)

    def _run(self) -> None:
        while True:
            report_health(self._target, self._kinds)
            if self._closing.wait(EVERY_S):
                return


def report_health(
    target: IngestTarget, kinds: Collection[ObservationAdapterKind], error_code: str | None = None
) -> None:
    """One report for each kind; trouble on the way is nobody's concern."""
    # A loopback address is never reached through a proxy.
    is_local = urlsplit(target.api_url).hostname in ("127.0.0.1", "localhost", "::1")
    body = AdapterHeartbeatRequest(error_code=error_code).model_dump_json(exclude_none=True)
    headers = {"Authorization": f"Bearer {target.token}", "Content-Type": "application/json"}
    base_url = target.api_url.rstrip("/")
    with httpx.Client(base_url=base_url, headers=headers, timeout=_TIMEOUT_S, trust_env=not is_local) as http:
        for kind in kinds:
            try:
                http.post(f"/api/learn/adapters/{kind.value}/heartbeat", content=body)
            except httpx.HTTPError:
                return
