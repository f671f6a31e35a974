"""One listener at the live end of the journal, and what it is handed."""

import asyncio
import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from contracts.learning.session import LearnSessionState


@dataclass(frozen=True, slots=True)
class TailEntry:
    """One lifecycle event of a session; ``document`` is ``LearnSessionEvent`` as JSON."""

    seq: int
    session_id: str
    document: str

    @property
    def state(self) -> LearnSessionState | None:
        """The session's state after the event, when the event says so."""
        state = json.loads(self.document).get("payload", {}).get("state")
        return None if state is None else LearnSessionState(state)


class Source(Protocol):
    """Where a subscription gets its entries from."""

    def add(self, subscription: "Subscription") -> None:
        """Starts delivering."""
        ...

    def remove(self, subscription: "Subscription") -> None:
        """Stops delivering."""
        ...


class Subscription:
    """One listener on one session; used by the event loop that made it and by no other.

    ``lagging`` starts true: the listener reads from the store first, after ``resume``.
    """

    def __init__(self, source: Source, session_id: str, backlog: int) -> None:
        self.session_id = session_id
        self.loop = asyncio.get_running_loop()
        self.lagging = True
        self.closed = False
        self._source = source
        self._backlog = backlog
        self._entries: deque[TailEntry] = deque()
        self._waiter: asyncio.Future[None] | None = None

    async def __aenter__(self) -> Self:
        self._source.add(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._source.remove(self)

    def resume(self) -> None:
        """Collects entries again: nothing the store does not show yet is missed; the rest may repeat."""
        self._entries.clear()
        self.lagging = False

    async def take(self, timeout_seconds: float) -> list[TailEntry]:
        """All waiting entries, after at most ``timeout_seconds`` of waiting for the first one.

        An empty list means that the time is over, that the listener lags, or that the tail was closed.
        """
        if not (self._entries or self.lagging or self.closed):
            await self._wait(timeout_seconds)
        taken = list(self._entries)
        self._entries.clear()
        return taken

    def deliver(self, entries: Sequence[TailEntry]) -> None:
        """Called by the tail on the listener's loop."""
        if self.lagging:
            return
        if len(self._entries) + len(entries) > self._backlog:
            self.lag()
        else:
            self._entries.extend(entries)
            self._wake()

    def lag(self) -> None:
        """Called on the listener's loop: the listener has to read from the store."""
        self._entries.clear()
        self.lagging = True
        self._wake()

    def end(self) -> None:
        """Called by the tail on the listener's loop when it closes."""
        self.closed = True
        self._wake()

    async def _wait(self, timeout_seconds: float) -> None:
        self._waiter = self.loop.create_future()
        timer = self.loop.call_later(timeout_seconds, self._wake)
        try:
            await self._waiter
        finally:
            timer.cancel()
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
