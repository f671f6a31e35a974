"""Live tail of the journal's lifecycle stream: one reader thread per process, any number of subscriptions.

A subscription that keeps up gets new entries from memory. One that lags gets none until it has read what it missed
from the store and resumes, so a slow subscriber costs no memory and misses nothing.
"""

import asyncio
import json
import logging
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from sqlalchemy import RowMapping, func, select

from contracts.learning.session import LearnSessionState
from stores.platform.database import Database
from stores.platform.journal.journal import LIFECYCLE, safe_upper_bound
from stores.platform.tables import journal


@dataclass(frozen=True, slots=True)
class TailEntry:
    """One lifecycle event of a session; ``document`` is ``LearnSessionEvent`` as JSON."""

    seq: int
    session_id: str
    document: str

    @property
    def state(self) -> LearnSessionState | None:
        """The session's state after the event, if the event holds it."""
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


BACKLOG = 256
"""How many entries wait in memory for one listener before it has to read from the store."""

PAGE = 200
"""How many entries one read of the store returns."""

_SQLITE_LOOK_SECONDS = 0.02
"""How often the file is looked at: other connections' commits change a number in it."""

_POSTGRES_LOOK_SECONDS = 2.0
"""How often PostgreSQL is asked without a notice, as one can be lost."""

_UNSETTLED_SECONDS = 0.05
"""How often it is asked while older transactions hold back entries: their end is announced only if they wrote any."""

_RETRY_SECONDS = 1.0
_STATES_LOOKED_AT = 50

_ENTRIES = select(journal.c.seq, journal.c.session_id, journal.c.document).where(
    journal.c.stream == LIFECYCLE
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Kept:
    """What the journal holds of the stream: ids from ``oldest`` (if any) up to ``newest`` can be replayed."""

    oldest: int | None
    newest: int


class JournalTail:
    """Follows the lifecycle stream while there are subscriptions. Safe to share between threads; close it once.

    On PostgreSQL it reads when a change is announced. A lower number may be committed after a higher one there:
    nothing above ``safe_upper_bound`` is handed out, so that no entry is passed over (design, "How truth flows" 3).
    """

    def __init__(self, database: Database, *, backlog: int = BACKLOG) -> None:
        self._database = database
        self._backlog = backlog
        self._look_seconds = _SQLITE_LOOK_SECONDS if database.is_sqlite else _POSTGRES_LOOK_SECONDS
        self._unsettled = False
        self._woken = threading.Event()
        self._changed = threading.Condition()
        self._subscriptions: set[Subscription] = set()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self._position: int | None = None

    def subscribe(self, session_id: str) -> Subscription:
        """A listener on one session, to be entered with ``async with``."""
        return Subscription(self, session_id, self._backlog)

    def add(self, subscription: Subscription) -> None:
        """Starts delivering to ``subscription``."""
        with self._changed:
            if self._closed.is_set():
                subscription.closed = True
                return
            self._subscriptions.add(subscription)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="journal-tail", daemon=True)
                self._thread.start()
            self._changed.notify()

    def remove(self, subscription: Subscription) -> None:
        """Stops delivering to ``subscription``."""
        with self._changed:
            self._subscriptions.discard(subscription)

    def close(self) -> None:
        """Ends every listener and the reading thread. Call it before the server waits for open requests."""
        self._closed.set()
        self._woken.set()
        with self._changed:
            self._changed.notify()
        self._post(self._subscriptions, Subscription.end)
        if self._thread is not None:
            self._thread.join()

    def replay(self, session_id: str, after: int, limit: int = PAGE) -> list[TailEntry]:
        """The session's entries numbered above ``after``, oldest first, as the store has them."""
        statement = (
            _ENTRIES.where(journal.c.session_id == session_id, journal.c.seq > after)
            .order_by(journal.c.seq)
            .limit(limit)
        )
        with self._database.read() as connection:
            bound = safe_upper_bound(connection)
            return [
                _entry(row) for row in connection.execute(statement.where(journal.c.seq <= bound)).mappings()
            ]

    def kept(self) -> Kept:
        """Which part of the stream can still be replayed."""
        with self._database.read() as connection:
            oldest = connection.execute(
                select(func.min(journal.c.seq)).where(journal.c.stream == LIFECYCLE)
            ).scalar()
            return Kept(oldest, safe_upper_bound(connection))

    def state_of(self, session_id: str) -> LearnSessionState | None:
        """The session's state by its newest events."""
        with self._database.read() as connection:
            rows = connection.execute(
                _ENTRIES.where(
                    journal.c.session_id == session_id, journal.c.seq <= safe_upper_bound(connection)
                )
                .order_by(journal.c.seq.desc())
                .limit(_STATES_LOOKED_AT)
            ).mappings()
            states = (_entry(row).state for row in rows)
            return next((state for state in states if state is not None), None)

    def _run(self) -> None:
        while not self._closed.is_set():
            with self._changed:
                self._changed.wait_for(lambda: self._subscriptions or self._closed.is_set())
            try:
                self._follow()
            except Exception:
                # The position is kept, so that listeners miss nothing of what came meanwhile.
                _log.exception("reading the journal failed, trying again")
                self._closed.wait(_RETRY_SECONDS)

    def _follow(self) -> None:
        """Delivers new entries until there is no subscription."""
        stop_following = self._database.follow(self._woken.set)
        try:
            with closing(_changes(self._database)) as changes:
                while self._subscriptions and not self._closed.is_set():
                    self._woken.clear()
                    if next(changes):
                        self._hand_out_new()
                    self._woken.wait(_UNSETTLED_SECONDS if self._unsettled else self._look_seconds)
        finally:
            stop_following()
        if not self._subscriptions:
            self._position = None

    def _hand_out_new(self) -> None:
        if self._position is None:
            with self._database.read() as connection:
                self._position = safe_upper_bound(connection)
            # Who listened before there was a position may have read the store before it, too.
            self._post(self._subscriptions, Subscription.lag)
        while entries := self._read_new(self._position):
            self._hand_out(entries)

    def _read_new(self, position: int) -> list[TailEntry]:
        with self._database.read() as connection:
            bound = safe_upper_bound(connection)
            if not self._database.is_sqlite:
                self._unsettled = (connection.scalar(select(func.max(journal.c.seq))) or 0) > bound
            rows = connection.execute(
                _ENTRIES.where(journal.c.seq > position, journal.c.seq <= bound)
                .order_by(journal.c.seq)
                .limit(PAGE)
            ).mappings()
            entries = [_entry(row) for row in rows]
        self._position = entries[-1].seq if len(entries) == PAGE else max(bound, position)
        return entries

    def _hand_out(self, entries: Iterable[TailEntry]) -> None:
        by_session: dict[str, list[TailEntry]] = defaultdict(list)
        for entry in entries:
            by_session[entry.session_id].append(entry)
        with self._changed:
            listening = [each for each in self._subscriptions if each.session_id in by_session]
        self._post(listening, lambda each: each.deliver(by_session[each.session_id]))

    def _post(self, subscriptions: Iterable[Subscription], call: Callable[[Subscription], None]) -> None:
        """Has ``call`` run for each subscription on its own loop, one wake-up a loop."""
        loops: dict[asyncio.AbstractEventLoop, list[Subscription]] = defaultdict(list)
        with self._changed:
            for subscription in subscriptions:
                loops[subscription.loop].append(subscription)
        for loop, theirs in loops.items():
            try:
                loop.call_soon_threadsafe(_call_each, call, theirs)
            except RuntimeError:
                # The loop was closed with its listeners on it.
                for subscription in theirs:
                    self.remove(subscription)


def _call_each(call: Callable[[Subscription], None], subscriptions: list[Subscription]) -> None:
    for subscription in subscriptions:
        call(subscription)


def _entry(row: RowMapping) -> TailEntry:
    return TailEntry(row["seq"], row["session_id"], row["document"])


def _changes(database: Database) -> Generator[bool]:
    """Yields at each step whether the database may hold something new; at first always."""
    if not database.is_sqlite:
        while True:
            yield True
    # A connection of its own: the number it reads changes with every commit of any other.
    connection = database.engine.raw_connection()
    try:
        cursor = connection.cursor()
        seen = None
        while True:
            version = cursor.execute("PRAGMA data_version").fetchone()[0]
            yield version != seen
            seen = version
    finally:
        connection.close()
