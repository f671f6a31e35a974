"""A jail below a folder that any user can pass through, and each way to isolate a command."""

import os
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from host.sandbox.launch_order import PRIVILEGED, SHARED, USER
from skills.rehearsal.sandbox import Sandbox, SandboxUnavailable, probe_host


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder that the sandbox must not reach into; the jail lies beside what it holds."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


@pytest.fixture
def jail(outside: Path) -> Path:
    folder = outside / "jail"
    folder.mkdir()
    return folder


@cache
def unavailable(isolation: str) -> str:
    """Why this host does not have this way to isolate, asked once a test process; empty if it has it."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        trial = Path(folder) / "trial"
        trial.mkdir()
        try:
            Sandbox(trial, isolations=[isolation]).run(":")
        except SandboxUnavailable as error:
            return str(error)
    return ""


@pytest.fixture(
    params=[USER, *(pytest.param(other, marks=pytest.mark.thorough) for other in (PRIVILEGED, SHARED))]
)
def isolation(request: pytest.FixtureRequest) -> str:
    """Each way to isolate that this host has."""
    if why := unavailable(request.param):
        pytest.skip(why)
    return request.param


@pytest.fixture(scope="session")
def isolating_host() -> None:
    """Skips where commands cannot be isolated; the host is asked once."""
    if not probe_host().filesystem:
        pytest.skip("this host cannot isolate commands")


class Pulse:
    """A named pipe that a command's processes hold open: it has a writer as long as one of them lives."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self._descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def received(self) -> str:
        """What was written. For after the command: a living writer that is silent raises BlockingIOError."""
        text = b""
        while part := os.read(self._descriptor, 65_536):
            text += part
        return text.decode()

    def wait_for_line(self) -> str:
        os.set_blocking(self._descriptor, True)
        line = b""
        while not line.endswith(b"\n"):
            # Before the first writer comes, a read finds the end of the file.
            line += os.read(self._descriptor, 1)
        return line.decode().strip()

    def wait_for_silence(self) -> None:
        while os.read(self._descriptor, 65_536):
            pass

    def close(self) -> None:
        os.close(self._descriptor)


@pytest.fixture
def pulse(jail: Path) -> Iterator[Pulse]:
    holder = Pulse(jail / "pulse")
    yield holder
    holder.close()
