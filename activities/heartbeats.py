"""Heartbeats of an activity that waits for somebody else."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from temporalio import activity

from clients.beating import beating

HEARTBEAT_SECONDS = 2.0
"""How often an activity says that it is alive, whatever it waits for."""


@asynccontextmanager
async def heartbeats() -> AsyncGenerator[None]:
    """Says that the activity is alive, at once and again and again, for as long as the block takes."""
    activity.heartbeat()
    async with beating(activity.heartbeat, HEARTBEAT_SECONDS):
        yield
