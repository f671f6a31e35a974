"""One SQL database, SQLite or PostgreSQL, behind two kinds of transaction: reading and writing."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url

SQLITE_BUSY_MS = 10_000
"""How long a SQLite writer waits for another one before it gives up."""


class Database:
    """An engine and its transactions. Safe to share between threads; close it once."""

    def __init__(self, url: str) -> None:
        """``url`` is ``sqlite:///path`` or ``postgresql+psycopg://…``."""
        self.is_sqlite = make_url(url).get_backend_name() == "sqlite"
        self.engine: Engine = create_engine(
            url, pool_pre_ping=not self.is_sqlite, pool_size=8, max_overflow=16, hide_parameters=True
        )
        if self.is_sqlite:
            event.listen(self.engine, "connect", _prepare_sqlite)
            event.listen(self.engine, "begin", _begin_sqlite)
        self._writers: Engine = self.engine.execution_options(writes=True)

    @contextmanager
    def read(self) -> Generator[Connection]:
        """A consistent view; what is done in it is never kept."""
        with self.engine.connect() as connection:
            if not self.is_sqlite:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    @contextmanager
    def write(self) -> Generator[Connection]:
        """One transaction, durable when the block is left; an exception undoes all of it.

        SQLite takes its write lock at once, so that a transaction never fails half way for want of it.
        """
        with self._writers.begin() as connection:
            yield connection

    def close(self) -> None:
        """Closes every pooled connection."""
        self.engine.dispose()


def _prepare_sqlite(connection: Any, _record: object) -> None:
    # The driver's own transaction handling begins too late and only for some statements.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        f"busy_timeout={SQLITE_BUSY_MS}",
        "foreign_keys=ON",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
