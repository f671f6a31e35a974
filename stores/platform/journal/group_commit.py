"""Group commit: writers that wait at the same time share one transaction, and one flush to disk.

A commit costs a flush whatever it carries. A writer that arrives while one is under way waits for the next, which
takes all of them; each is answered after the commit that holds its work, never before.
"""

import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from contracts.errors import ErrorCode, Refusal
from stores.platform.database import Database

Work = TypeVar("Work")
Answer = TypeVar("Answer")

CAPACITY = 32
"""How many pieces of work may wait before further ones are refused."""

MAX_GROUP = 32
"""The most pieces of work in one transaction."""

_POSTGRES_DISK_FULL = "53100"


@dataclass(frozen=True)
class _Waiting(Generic[Work, Answer]):
    work: Work
    answer: "Future[Answer]" = field(default_factory=lambda: Future())


class GroupCommitWriter(Generic[Work, Answer]):
    """One thread that applies the work of many callers, as much of it as waits, in one transaction each time.

    ``apply`` does a group of pieces and gives an answer or a ``Refusal`` for each, in order. When it fails, or
    the commit does, the group is undone and each piece is tried again by itself, so that only the guilty one
    fails.
    """

    def __init__(
        self,
        database: Database,
        apply: Callable[[Connection, Sequence[Work]], Sequence[Answer | Refusal]],
        *,
        capacity: int = CAPACITY,
    ) -> None:
        self._database = database
        self._apply = apply
        self._capacity = capacity
        self._queue: deque[_Waiting[Work, Answer]] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    @property
    def waiting(self) -> int:
        """How many pieces of work wait for the transaction under way to end."""
        return len(self._queue)

    def write(self, work: Work) -> Answer:
        """Applies ``work`` and returns its answer once that is durable. Blocks the calling thread.

        Raises:
            Refusal: by ``apply``; ``TOO_MANY_REQUESTS`` when ``capacity`` pieces wait already, or the writer
                is closed; ``STORAGE_FULL`` when the disk is full. Nothing of the work was kept.
        """
        waiting = _Waiting[Work, Answer](work)
        with self._changed:
            if self._closed:
                raise Refusal(
                    ErrorCode.TOO_MANY_REQUESTS, "The service is shutting down; send the batch again."
                )
            if len(self._queue) >= self._capacity:
                raise Refusal(
                    ErrorCode.TOO_MANY_REQUESTS,
                    f"{self._capacity} batches wait to be written; send this one again in a second.",
                )
            self._queue.append(waiting)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="group-commit", daemon=True)
                self._thread.start()
            self._changed.notify()
        return waiting.answer.result()

    def close(self) -> None:
        """Writes what waits, then ends the thread. Later work is refused."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while self._has_work():
            self._commit()

    def _has_work(self) -> bool:
        """Waits for some; false once the writer is closed and all of it is done."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._closed)
            return bool(self._queue)

    def _next_group(self) -> list[_Waiting[Work, Answer]]:
        with self._changed:
            return [self._queue.popleft() for _ in range(min(len(self._queue), MAX_GROUP))]

    def _commit(self, group: list[_Waiting[Work, Answer]] | None = None) -> None:
        """Commits ``group``, or else the writers that wait once the transaction has begun."""
        try:
            with self._database.write() as connection:
                group = group or self._next_group()
                outcomes = self._apply(connection, [waiting.work for waiting in group])
        except Exception as error:
            group = group or self._next_group()
            if len(group) == 1:
                group[0].answer.set_exception(_as_refusal(error))
            else:
                for waiting in group:
                    self._commit([waiting])
            return
        for waiting, outcome in zip(group, outcomes, strict=True):
            if isinstance(outcome, Refusal):
                waiting.answer.set_exception(outcome)
            else:
                waiting.answer.set_result(outcome)


def is_disk_full(error: BaseException) -> bool:
    """Whether the database failed because there is no space left to write to."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(cause, sqlite3.Error):
        return getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    return getattr(cause, "sqlstate", None) == _POSTGRES_DISK_FULL


def _as_refusal(error: Exception) -> Exception:
    if not is_disk_full(error):
        return error
    refusal = Refusal(
        ErrorCode.STORAGE_FULL,
        "The disk is full and nothing was written; free some space, then send it again.",
    )
    refusal.__cause__ = error
    return refusal
