"""Saying again and again that something goes on, for as long as a block takes."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress


@asynccontextmanager
async def beating(beat: Callable[[], None], every_seconds: float) -> AsyncGenerator[None]:
    """Calls ``beat`` each time so many seconds have gone by."""

    async def go_on() -> None:
        while True:
            await asyncio.sleep(every_seconds)
            beat()

    going_on = asyncio.create_task(go_on())
    try:
        yield
    finally:
        going_on.cancel()
        with suppress(asyncio.CancelledError):
            await going_on
