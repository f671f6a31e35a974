"""Heartbeats of an activity that waits for somebody else."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from temporalio import activity

HEARTBEAT_SECONDS = 2.0
"""How often an activity says that it is alive, whatever it waits for."""


@asynccontextmanager
async def heartbeats() -> AsyncGenerator[None]:
    """Says that the activity is alive, at once and again and again, for as long as the block takes."""

    async def beat() -> None:
        while True:
            activity.heartbeat()
            await asyncio.sleep(HEARTBEAT_SECONDS)

    beating = asyncio.create_task(beat())
    try:
        yield
    finally:
        beating.cancel()
        with suppress(asyncio.CancelledError):
            await beating
