"""Keeps the files in step with the store: woken by every commit, and by itself now and then."""

import threading
from collections.abc import Callable

import structlog

from stores.platform.projection.projector import Projector

log = structlog.get_logger(__name__)

SETTLE_SECONDS = 0.05
"""How long a wake waits for what follows it at once, which is projected together with it; it also lets the commit's
own work go first."""

LOOK_SECONDS = 1.0
"""How often the loop looks without being woken, for what other processes have written (one query). It and the next
must be below the time for which an install waits for the files (``api.learning.deployment_gate``)."""

RETRY_SECONDS = 2.0
"""How long it waits after a failure: what comes then looks through all files."""

IDLE_SECONDS = 5.0
"""How long nothing must have woken the loop before the journal is anchored."""


class ProjectionLoop:
    """One thread that projects whenever there is something to project."""

    def __init__(self, projector: Projector, anchor: Callable[[], object]) -> None:
        """``anchor`` seals the journal's heads; it is called when nothing has happened for a while."""
        self._projector = projector
        self._anchor = anchor
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="projection", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """There is something new; returns at once."""
        self._wake.set()

    def close(self) -> None:
        """Projects what is left and stops."""
        self._stop.set()
        self._wake.set()
        self._thread.join(timeout=30)

    def _run(self) -> None:
        idle = 0.0
        while True:
            stopping = self._stop.is_set()
            self._wake.clear()
            pause = LOOK_SECONDS if self._try(self._projector.catch_up) else RETRY_SECONDS
            if stopping:
                return
            if self._wake.wait(pause):
                idle = 0.0
                self._stop.wait(SETTLE_SECONDS)
            elif (idle := idle + pause) >= IDLE_SECONDS:
                idle = 0.0
                self._try(self._anchor)

    def _try(self, part: Callable[[], object]) -> bool:
        """Whether it went well."""
        try:
            part()
            return True
        except Exception as error:
            # The store is the truth; files that lag are written as soon as they can be.
            log.error("projection failed", error=f"{type(error).__name__}: {error}")
            return False
