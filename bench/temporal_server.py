"""The embedded Temporal server over a database file, as a benchmark uses it."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from worker.embedded_temporal import (
    EmbeddedTemporal,
    find_binary,
    free_port,
    server_environment,
    wait_until_ready,
)


@dataclass(frozen=True)
class RunningTemporal:
    """An embedded server that answers."""

    address: str
    pid: int

    def processor_seconds(self) -> float:
        """The processor time that it has used so far, in user and kernel mode."""
        used = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(used[11]) + int(used[12])) / os.sysconf("SC_CLK_TCK")


@asynccontextmanager
async def temporal_at(folder: Path) -> AsyncIterator[str]:
    """The address of an embedded server over a database file."""
    async with temporal_process(folder) as running:
        yield running.address


@asynccontextmanager
async def temporal_process(folder: Path) -> AsyncIterator[RunningTemporal]:
    """An embedded server over a database file."""
    server = EmbeddedTemporal(find_binary(), folder / "temporal.db", free_port(), None)
    process = await asyncio.create_subprocess_exec(
        *server.command(),
        env=server_environment({"PATH": "/usr/bin:/bin"}),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        await wait_until_ready(server.address, 30)
        yield RunningTemporal(server.address, process.pid)
    finally:
        process.terminate()
        await process.wait()
