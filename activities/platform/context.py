"""Heartbeats of a waiting activity, and the time on the workflow's clock."""

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

from temporalio import activity

from clients.platform.periodic import beating

HEARTBEAT_SECONDS = 2.0
"""Interval of the heartbeats of a waiting activity."""


@asynccontextmanager
async def heartbeats() -> AsyncGenerator[None]:
    """Sends heartbeats for as long as the block runs, the first one after ``HEARTBEAT_SECONDS``.

    Each is a call of the server and a write there: what is over sooner sends none.
    """
    async with beating(activity.heartbeat, HEARTBEAT_SECONDS):
        yield


class WorkflowClock:
    """Time on the clock of the Temporal service, from the time at which the workflow scheduled the activity.

    The clocks of workers may differ from the service's, by which the workflow's timers run.
    """

    def __init__(self, asked_at: datetime | None) -> None:
        """Made when the activity starts; without ``asked_at`` it is the worker's own clock."""
        self._started = time.monotonic()
        if asked_at is None:
            self._at = datetime.now(UTC)
        else:
            info = activity.info()
            queued = info.started_time - info.current_attempt_scheduled_time
            self._at = asked_at + max(queued, timedelta())

    def now(self) -> datetime:
        """Now."""
        return self._at + timedelta(seconds=time.monotonic() - self._started)
