"""The time as the workflow that asked sees it, within an activity."""

import time
from datetime import UTC, datetime, timedelta

from temporalio import activity


class WorkflowClock:
    """Goes on from when the workflow asked: what it is told to wait for, it waits for by the same clock.

    The clocks of workers may differ from the service's, by which the workflow's timers go.
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
