"""The embedded Temporal server over a database file, as a benchmark uses it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from worker.embedded_temporal import (
    EmbeddedTemporal,
    find_binary,
    free_port,
    server_environment,
    wait_until_ready,
)


@asynccontextmanager
async def temporal_at(folder: Path) -> AsyncIterator[str]:
    """The address of an embedded server over a database file."""
    server = EmbeddedTemporal(find_binary(), folder / "temporal.db", free_port(), None)
    process = await asyncio.create_subprocess_exec(
        *server.command(),
        env=server_environment({"PATH": "/usr/bin:/bin"}),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        await wait_until_ready(server.address, 30)
        yield server.address
    finally:
        process.terminate()
        await process.wait()
