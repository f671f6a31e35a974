"""A supervisor that is watched while it runs."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cli.processes.fork_client import ForkClient
from cli.processes.supervisor import RESTART_BACKOFF, Part, Supervisor
from contracts.backoff import Backoff


@dataclass
class Watched:
    """A supervisor that is running, and everything it said."""

    parts: list[Part]
    log_dir: Path
    backoff: Backoff = RESTART_BACKOFF
    forks: ForkClient | None = None
    said: list[str] = field(default_factory=list[str])
    echoed: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    pids_seen: list[dict[str, int]] = field(default_factory=list[dict[str, int]])
    refused: OSError | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.supervisor = Supervisor(
            self.parts,
            self.log_dir,
            self._announced,
            pids_changed=self._pids,
            echo=lambda name, line: self.echoed.append((name, line)),
            backoff=self.backoff,
            forks=self.forks,
        )

    async def __aenter__(self) -> "Watched":
        ready = asyncio.Event()
        self._running = asyncio.create_task(self.supervisor.run(ready.set))
        waiting = asyncio.create_task(ready.wait())
        await asyncio.wait({self._running, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if self._running.done():
            self._running.result()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.supervisor.request_stop()
        await self._running

    async def until(self, holds: Callable[[], bool]) -> None:
        """Waits until something that the supervisor says makes it so."""
        while not holds():
            self.changed.clear()
            await self.changed.wait()

    async def until_written(self, file: Path, lines: int) -> None:
        """Waits until a part has written so much to a file."""
        while not file.exists() or len(file.read_text().splitlines()) < lines:
            await asyncio.sleep(0.005)

    def _announced(self, line: str) -> None:
        self.said.append(line)
        self.changed.set()

    def _pids(self, pids: Mapping[str, int]) -> None:
        if self.refused:
            raise self.refused
        self.pids_seen.append(dict(pids))
        self.changed.set()
