"""One writer of the projected trees at a time, whatever the number of processes."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from sqlalchemy import Connection, text

from stores.database import Database

LOCK_KEY = 0x41505052_54524545
"""The advisory lock on PostgreSQL."""

WAIT_SECONDS = 30.0
_POLL_SECONDS = 0.02


class ProjectionBusyError(RuntimeError):
    """Another process has been writing the memory tree for longer than this one waits."""

    def __init__(self, memory_root: Path, waited: float) -> None:
        super().__init__(
            f"{memory_root} has been written by another process for {waited:g} s;"
            " find the worker or command that holds it, and try again"
        )


@contextmanager
def single_writer(
    database: Database, memory_root: Path, wait_seconds: float = WAIT_SECONDS
) -> Generator[Callable[[], None]]:
    """Holds the writer's place, and yields a check that fails once it was lost.

    The lock file beside the memory root keeps out the processes of this machine, and is let go by the kernel
    when its holder dies; on PostgreSQL an advisory lock keeps out those of others.

    Raises:
        ProjectionBusyError: the place was taken for ``wait_seconds``.
    """
    memory_root.parent.mkdir(parents=True, exist_ok=True)
    # A soft lock would outlive its holder, so a file system without locks is an error.
    lock = FileLock(
        memory_root.parent / f".{memory_root.name}.lock",
        timeout=wait_seconds,
        mode=0o600,
        poll_interval=_POLL_SECONDS,
        fallback_to_soft=False,
    )
    try:
        lock.acquire()
    except Timeout as error:
        raise ProjectionBusyError(memory_root, wait_seconds) from error
    try:
        if database.is_sqlite:
            yield _held
        else:
            with (
                database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection,
                _advisory_lock(connection, memory_root, wait_seconds),
            ):
                yield lambda: _confirm(connection)
    finally:
        lock.release()


def _held() -> None:
    """A lock of this machine's kernel is not lost while its holder lives."""


def _confirm(connection: Connection) -> None:
    # The lock lives as long as its session: a session that answers still holds it.
    connection.execute(text("SELECT 1"))


@contextmanager
def _advisory_lock(connection: Connection, memory_root: Path, wait_seconds: float) -> Generator[None]:
    give_up_at = time.monotonic() + wait_seconds
    while not connection.scalar(text("SELECT pg_try_advisory_lock(:key)"), {"key": LOCK_KEY}):
        if time.monotonic() >= give_up_at:
            raise ProjectionBusyError(memory_root, wait_seconds)
        time.sleep(_POLL_SECONDS)
    try:
        yield
    finally:
        connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": LOCK_KEY})
