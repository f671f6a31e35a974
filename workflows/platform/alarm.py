"""An alarm clock for a workflow whose deadline moves."""

import asyncio
from datetime import datetime, timedelta

from temporalio import workflow


class Alarm:
    """Rings at the latest when it was set to.

    A deadline that moves later, or goes away, leaves the running timer alone: it rings early, the workflow
    looks again and sets it anew. That costs one timer where cancelling and starting would cost three events
    at each move, and deadlines here move far more often than they pass.
    """

    def __init__(self) -> None:
        self._timer: asyncio.Task[None] | None = None
        self._rings_at: datetime | None = None
        self._rang = False

    def set(self, at: datetime | None) -> None:
        """Sees to it that the alarm rings no later than ``at``; with ``None`` nothing needs it now."""
        if at is None or self.is_set_for(at):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._rings_at = at
        self._timer = asyncio.create_task(self._ring(at))

    def is_set_for(self, at: datetime | None) -> bool:
        """Whether nothing has to be set for a deadline at ``at``."""
        return at is None or (self._rings_at is not None and self._rings_at <= at)

    @property
    def rang(self) -> bool:
        """Whether it has rung since it was last answered."""
        return self._rang

    def answer(self) -> None:
        """Stops the ringing."""
        self._rang = False

    async def _ring(self, at: datetime) -> None:
        left = max(at - workflow.now(), timedelta())
        await workflow.sleep(left, summary="look at the session's deadline")
        self._timer = None
        self._rings_at = None
        self._rang = True
