"""Traps: files that say where a process shall die, fail or be held. The first to come by springs one."""

import os
import signal
from pathlib import Path

import anyio
from temporalio.exceptions import ApplicationError

from tests.faults.patience import eventually

DIE = "die"
FAIL = "fail"
HOLD = "hold"


class Traps:
    """A folder of traps, shared by the tests that set them and the processes that walk into them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def folder(self) -> Path:
        """Where they lie."""
        return self._folder

    def set(self, point: str, deed: str = DIE) -> None:
        """Whoever comes to ``point`` first dies there.

        With ``FAIL`` everybody fails there, and with ``HOLD`` everybody is held until the trap is taken away.
        """
        self._sprung(point).unlink(missing_ok=True)
        draft = self._folder / f".{point}"
        draft.write_text(deed)
        draft.rename(self._folder / point)

    def clear(self) -> None:
        """Takes every trap away."""
        for trap in self._folder.iterdir():
            trap.unlink(missing_ok=True)

    async def wait_at(self, point: str) -> None:
        """Called in the process under test before ``come_by``, where it can be held."""
        trap = self._folder / point
        while _deed_of(trap) == HOLD:
            self._sign(point)
            await anyio.sleep(0.02)

    def come_by(self, point: str) -> None:
        """Called in the process under test, at each point it passes."""
        trap = self._folder / point
        try:
            deed = trap.read_text()
            if deed == FAIL:
                raise ApplicationError("an injected failure", type="INJECTED", non_retryable=True)
            trap.rename(self._sprung(point))
        except FileNotFoundError:
            return
        self._sign(point)
        os.kill(os.getpid(), signal.SIGKILL)

    def has_sprung(self, point: str) -> bool:
        """Whether a process walked into the trap."""
        return self._sprung(point).exists()

    async def victim(self, point: str) -> int:
        """The process id of whoever walked into the trap, once somebody has."""
        await eventually(
            lambda: self.has_sprung(point) and self._sprung(point).read_text().isdigit(),
            f"nobody came by {point}",
        )
        return int(self._sprung(point).read_text())

    def _sign(self, point: str) -> None:
        """Says who came by, in one step: a process held there signs again and again while the test reads."""
        draft = self._folder / f".{point}.{os.getpid()}"
        draft.write_text(str(os.getpid()))
        draft.rename(self._sprung(point))

    def _sprung(self, point: str) -> Path:
        return self._folder / f"{point}.sprung"


def _deed_of(trap: Path) -> str | None:
    try:
        return trap.read_text()
    except FileNotFoundError:
        return None
