"""Periodic callbacks while a block runs, e.g. heartbeats."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress


@asynccontextmanager
async def beating(beat: Callable[[], None], every_seconds: float) -> AsyncGenerator[None]:
    """Calls ``beat`` every ``every_seconds`` until the block ends."""

    async def repeat() -> None:
        while True:
            await asyncio.sleep(every_seconds)
            beat()

    repeating = asyncio.create_task(repeat())
    try:
        yield
    finally:
        repeating.cancel()
        with suppress(asyncio.CancelledError):
            await repeating
