"""Notices of changes between processes on PostgreSQL (LISTEN and NOTIFY): who follows the store need not poll it.

A notice is a hint and carries nothing. It is sent after the commit, by a thread of its own, one for all commits since
the last: in the transaction itself it would make commits wait for each other (PostgreSQL holds a lock of the whole
database until such a commit is on the disk), and a group commit would be none. One that is lost costs time alone, as
followers look by themselves now and then. SQLite has none: its followers see each other's commits in the file.
"""

import threading
from collections.abc import Callable
from typing import Any

import structlog
from sqlalchemy import Engine

CHANNEL = "apprentice_changes"

_LOOK_SECONDS = 0.5
"""How long closing waits for the listener at most."""

_RETRY_SECONDS = 1.0

log = structlog.get_logger(__name__)


class ChangeNotices:
    """Sends notices of this process, and calls its followers for those of all. Safe to share between threads."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._followers: list[Callable[[], object]] = []
        self._threads: dict[str, threading.Thread] = {}
        self._due = threading.Event()
        self._closed = threading.Event()

    def announce(self) -> None:
        """Something was committed; returns at once."""
        self._due.set()
        self._start("change-sender", self._send)

    def follow(self, call: Callable[[], object]) -> Callable[[], None]:
        """Has ``call`` called, soon, after each change that any process announces; gives what ends that.

        It is called from a thread of this object and must return at once. It is also called whenever notices may
        have been missed.
        """
        with self._lock:
            self._followers.append(call)
        self._start("change-listener", self._listen)

        def end() -> None:
            with self._lock:
                self._followers.remove(call)

        return end

    def close(self) -> None:
        """Ends both threads."""
        self._closed.set()
        self._due.set()
        for thread in self._threads.values():
            thread.join()

    def _start(self, name: str, run: Callable[[], None]) -> None:
        if name in self._threads:
            return
        with self._lock:
            if name not in self._threads and not self._closed.is_set():
                thread = threading.Thread(target=self._kept_up, args=(run,), name=name, daemon=True)
                self._threads[name] = thread
                thread.start()

    def _kept_up(self, run: Callable[[], None]) -> None:
        while not self._closed.is_set():
            try:
                run()
            except Exception as error:
                # The server is away: followers look by themselves meanwhile.
                log.warning("change_notices_interrupted", error=type(error).__name__)
                self._closed.wait(_RETRY_SECONDS)

    def _send(self) -> None:
        with self._connected() as connection:
            while self._due.wait() and not self._closed.is_set():
                self._due.clear()
                connection.execute(f"NOTIFY {CHANNEL}")

    def _listen(self) -> None:
        with self._connected() as connection:
            connection.execute(f"LISTEN {CHANNEL}")
            self._call()
            while not self._closed.is_set():
                for _ in connection.notifies(timeout=_LOOK_SECONDS, stop_after=1):
                    self._call()

    def _connected(self) -> Any:
        """A connection of its own, outside the pool, that commits each statement; closed by its context."""
        pooled = self._engine.raw_connection()
        connection: Any = pooled.driver_connection
        pooled.detach()
        connection.autocommit = True
        return connection

    def _call(self) -> None:
        with self._lock:
            followers = tuple(self._followers)
        for call in followers:
            call()
