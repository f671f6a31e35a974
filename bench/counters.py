"""Counts what an operation asks of the store and of the disk: statements, transactions, fsyncs, processor time.

The counts are of all threads of this process: API, worker and projection, where they share it, as in ``bench``. They
are the same on every machine but for what runs beside the operation by itself (the projection's passes).
"""

import os
import threading
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from sqlalchemy import Connection, event
from sqlalchemy.engine import Engine

from stores.platform.projection.projector import ProjectionReport, Projector

PROJECTION_THREAD = "projection"
CATCH_UP = Projector.catch_up

_FULL = 2
"""The value of SQLite's ``synchronous`` with which each commit is synced."""


@dataclass
class Counts:
    """What was counted between the beginning and the end of a block."""

    statements: Counter[str] = field(default_factory=Counter[str])
    """How often each statement ran, by its text."""

    reads: int = 0
    writes: int = 0
    """Transactions: those that only read, and those that were committed, which SQLite syncs but for those below."""

    unsynced_writes: int = 0
    """Of the ``writes`` those whose commit SQLite does not sync."""

    file_syncs: int = 0
    """``fsync`` of files and folders by this process; SQLite's own are one for each synced write."""

    projection_statements: int = 0
    projection_writes: int = 0
    """As above, by what keeps the files in step: whose thread makes a pass does not follow from the operation."""

    processor_seconds: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def total(self) -> int:
        """Statements of all but the projection."""
        return self.statements.total()

    def figures(self, operations: int = 1) -> dict[str, float]:
        """The counts for one of so many operations."""
        counted = {
            "statements": self.total,
            "read_transactions": self.reads,
            "write_transactions": self.writes,
            "unsynced_writes": self.unsynced_writes,
            "projection_statements": self.projection_statements,
            "projection_writes": self.projection_writes,
            "file_syncs": self.file_syncs,
            "processor_ms": self.processor_seconds * 1000,
        }
        return {name: round(value / operations, 1) for name, value in counted.items()}

    def ran(self, statement: str) -> None:
        """One statement was run by the calling thread."""
        with self._lock:
            if _is_projection():
                self.projection_statements += 1
            else:
                self.statements[statement] += 1

    def ended(self, *, wrote: bool, synced: bool = True) -> None:
        """One transaction ended."""
        with self._lock:
            if _is_projection():
                self.projection_writes += wrote
            elif wrote:
                self.writes += 1
                self.unsynced_writes += not synced
            else:
                self.reads += 1

    def synced(self) -> None:
        """One file was synced."""
        with self._lock:
            self.file_syncs += 1


_projecting: ContextVar[bool] = ContextVar("projecting", default=False)


def _is_projection() -> bool:
    return _projecting.get() or threading.current_thread().name == PROJECTION_THREAD


def _caught_up(projector: Projector, **how: Any) -> ProjectionReport:
    """A pass of the projection, in whichever thread: one that waits for files makes the pass that is due."""
    token = _projecting.set(True)
    try:
        return CATCH_UP(projector, **how)
    finally:
        _projecting.reset(token)


def is_synced(connection: Connection) -> bool:
    """Whether the commit of this SQLite connection's transaction will wait for the disk."""
    driver: Any = connection.connection.dbapi_connection
    return driver.execute("PRAGMA synchronous").fetchone() == (_FULL,)


@contextmanager
def counting() -> Generator[Counts]:
    """Counts until the block is left."""
    counts, fsync = Counts(), os.fsync

    def ran(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if not statement.startswith(("BEGIN", "PRAGMA")):
            counts.ran(statement)

    def committed(connection: Connection) -> None:
        counts.ended(wrote=True, synced=is_synced(connection))

    def rolled_back(_connection: Connection) -> None:
        counts.ended(wrote=False)

    def synced(descriptor: int) -> None:
        counts.synced()
        fsync(descriptor)

    listened = {"before_cursor_execute": ran, "commit": committed, "rollback": rolled_back}
    for name, listener in listened.items():
        event.listen(Engine, name, listener)
    begun = time.process_time()
    try:
        with mock.patch.object(os, "fsync", synced), mock.patch.object(Projector, "catch_up", _caught_up):
            yield counts
    finally:
        counts.processor_seconds = time.process_time() - begun
        for name, listener in listened.items():
            event.remove(Engine, name, listener)
