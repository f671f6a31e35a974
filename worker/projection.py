"""Keeps the files in step with the store: woken by every commit, and by itself now and then."""

import threading
from collections.abc import Callable

import structlog

from stores.projector import Projector

log = structlog.get_logger(__name__)

SETTLE_SECONDS = 0.05
"""How long a wake waits for what follows it at once, which is projected together with it; it also lets the commit's
own work go first."""

IDLE_SECONDS = 5.0
"""How often the loop looks without being woken: for what other processes have written."""


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
        while True:
            stopping = self._stop.is_set()
            self._wake.clear()
            self._try(self._projector.catch_up)
            if stopping:
                return
            if self._wake.wait(IDLE_SECONDS):
                self._stop.wait(SETTLE_SECONDS)
            else:
                self._try(self._anchor)

    def _try(self, part: Callable[[], object]) -> None:
        try:
            part()
        except Exception as error:
            # The store is the truth; files that lag are written as soon as they can be.
            log.error("projection failed", error=f"{type(error).__name__}: {error}")
