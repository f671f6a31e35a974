"""SQL database, SQLite or PostgreSQL: read and write transactions, upserts, advisory locks, text search, pages."""

import sqlite3
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypedDict
from weakref import WeakSet

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Engine,
    Select,
    Table,
    and_,
    cast,
    create_engine,
    event,
    func,
    literal,
    make_url,
    select,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import Text

from stores.platform.change_notices import ChangeNotices

SQLITE_BUSY_MS = 30_000
"""How long a SQLite writer waits for another one before it gives up."""


class Database:
    """An engine and its transactions. Safe to share between threads; close it once."""

    def __init__(self, url: str, *, busy_ms: int = SQLITE_BUSY_MS) -> None:
        """``url`` is ``sqlite:///path`` or ``postgresql+psycopg://…``; a writer of SQLite waits up to ``busy_ms``."""
        self.is_sqlite = make_url(url).get_backend_name() == "sqlite"
        self.engine: Engine = create_engine(
            url,
            connect_args={"factory": _SqliteConnection} if self.is_sqlite else {},
            pool_pre_ping=not self.is_sqlite,
            pool_size=8,
            max_overflow=16,
            hide_parameters=True,
        )
        if self.is_sqlite:
            event.listen(self.engine, "connect", partial(_prepare_sqlite, busy_ms))
            event.listen(self.engine, "reset", _close_cursors)
            event.listen(self.engine, "begin", _begin_sqlite)
        self._writers: Engine = self.engine.execution_options(writes=True)
        self._notices = None if self.is_sqlite else ChangeNotices(self.engine)

    @contextmanager
    def read(self) -> Generator[Connection]:
        """A consistent view; what is done in it is never kept."""
        with self.engine.connect() as connection:
            if not self.is_sqlite:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    @contextmanager
    def write(self, *, synced: bool = True) -> Generator[Connection]:
        """One transaction, durable when the block is left; an exception undoes all of it.

        SQLite takes its write lock at once, so that a transaction never fails half way for want of it.

        Not ``synced``, its commit waits for no disk: at once everybody reads it, and it outlives the process, but a
        power cut (on PostgreSQL also the end of the server) may undo it, unless a synced one was committed after it.
        """
        with self._writers.connect() as connection, nullcontext() if synced else _unsynced(connection):
            # Of the pooled connection: it may be left of a transaction that was undone.
            connection.info.pop(_FOLLOWED, None)
            with connection.begin():
                if not synced and not self.is_sqlite:
                    connection.execute(_ASYNCHRONOUS)
                yield connection
            followed = connection.info.pop(_FOLLOWED, False)
        if followed and self._notices is not None:
            self._notices.announce()

    def follow(self, call: Callable[[], object]) -> Callable[[], None]:
        """Has ``call`` called soon after any process has committed what is followed (``mark_followed``).

        It must return at once. Gives what ends that. A notice can be lost, and on SQLite there is none: whoever
        follows looks by itself as well.
        """
        return _nothing if self._notices is None else self._notices.follow(call)

    def close(self) -> None:
        """Closes every pooled connection."""
        if self._notices is not None:
            self._notices.close()
        self.engine.dispose()


_ASYNCHRONOUS = text("SET LOCAL synchronous_commit = off")


@contextmanager
def _unsynced(connection: Connection) -> Generator[None]:
    """SQLite's commits on this connection wait for no disk until the block is left, which no transaction may span."""
    driver: Any = connection.connection.dbapi_connection
    if not isinstance(driver, _SqliteConnection):
        yield
        return
    driver.execute("PRAGMA synchronous=NORMAL")
    try:
        yield
    finally:
        driver.execute("PRAGMA synchronous=FULL")


_FOLLOWED = "followed"


def mark_followed(connection: Connection) -> None:
    """Notes that this transaction changes what others follow: the journal, or documents that become files."""
    connection.info[_FOLLOWED] = True


def _nothing() -> None:
    """Ends nothing."""


class _SqliteConnection(sqlite3.Connection):
    """Makes its file for its owner alone, and knows its cursors.

    One that was not read to its end keeps its snapshot beyond the end of the transaction: the connection's next write
    then fails at once with "database is locked", however long it may wait, when another connection has written
    meanwhile.
    """

    def __init__(self, database: str, *args: Any, **settings: Any) -> None:
        if database != ":memory:":
            # SQLite gives its other files the mode of this one; what cannot be made here fails below with its reason.
            with suppress(OSError):
                Path(database).touch(mode=0o600, exist_ok=False)
        super().__init__(database, *args, **settings)
        self._cursors: WeakSet[sqlite3.Cursor] = WeakSet()

    def cursor(self, factory: Any = sqlite3.Cursor) -> Any:
        cursor = super().cursor(factory)
        self._cursors.add(cursor)
        return cursor

    def close_cursors(self) -> None:
        # A cursor may be collected meanwhile.
        for cursor in list(self._cursors):
            cursor.close()
        self._cursors.clear()


def _close_cursors(connection: _SqliteConnection, *_: object) -> None:
    connection.close_cursors()


def _prepare_sqlite(busy_ms: int, connection: Any, _record: object) -> None:
    # The driver's own transaction handling begins too late and only for some statements.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        f"busy_timeout={busy_ms}",
        "foreign_keys=ON",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def insert_or(connection: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """An insert into ``table`` that has ``on_conflict_do_nothing`` and ``on_conflict_do_update``."""
    return insert_for(connection.dialect.name, table)


def insert_for(dialect: str, table: Table) -> postgresql.Insert | sqlite.Insert:
    """The same by the dialect's name, for statements that are built once and kept."""
    if dialect == "sqlite":
        return sqlite.insert(table)
    return postgresql.insert(table)


_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")


def advisory_lock(connection: Connection, name: str) -> None:
    """Transaction-scoped advisory lock: waits until no other transaction holds ``name``, released at the end.

    ``connection`` must be of ``Database.write``. SQLite's writer is alone anyway.
    """
    if connection.dialect.name != "sqlite":
        connection.execute(_LOCK, {"name": name})


_VALUES_A_STATEMENT = 500


def batches(values: Iterable[str]) -> Iterator[list[str]]:
    """The values in lists that one statement can take, each of at most 500."""
    remaining = iter(values)
    while some := list(islice(remaining, _VALUES_A_STATEMENT)):
        yield some


MAX_WORDS = 10
"""Words of a search beyond these are not looked at."""


def containing(
    connection: Connection, column: Column[str], fields: Sequence[str], search: str
) -> ColumnElement[bool]:
    """That every word of ``search`` is in one of the JSON's ``fields``, each named by its path with dots.

    Letters of ASCII match in either case; whether others do is up to the database. A list is searched as it
    is written.
    """
    parts = [func.coalesce(text_at(connection, column, field), "") for field in fields]
    whole: ColumnElement[str] = parts[0]
    for part in parts[1:]:
        whole = whole.concat(" ").concat(part)
    words = search.casefold().split()[:MAX_WORDS]
    return and_(literal(True), *(func.lower(whole).contains(word, autoescape=True) for word in words))


def text_at(connection: Connection, column: Column[str], field: str) -> ColumnElement[str]:
    """The value at a path with dots of the JSON in ``column``, as text; null where there is none."""
    if connection.dialect.name == "sqlite":
        return cast(func.json_extract(column, f"$.{field}"), Text)
    return func.jsonb_extract_path_text(cast(column, JSONB), *field.split("."))


DEFAULT_PAGE_SIZE = 25
MAX_PAGE_SIZE = 100


class PageCounts(TypedDict):
    """What an answer says of its page; ``total`` is how many there are on all pages."""

    total: int
    page: int
    page_size: int


@dataclass(frozen=True)
class PageRequest:
    """Which page is wanted; pages count from 1."""

    page: int = 1
    page_size: int = DEFAULT_PAGE_SIZE

    @property
    def offset(self) -> int:
        """How many come before the page."""
        return (self.page - 1) * self.page_size

    def counts(self, total: int) -> PageCounts:
        """The counts of an answer with this page."""
        return PageCounts(total=total, page=self.page, page_size=self.page_size)


@dataclass(frozen=True)
class PageOfRows:
    """The rows of one page."""

    rows: tuple[Any, ...]
    counts: PageCounts


def fetch_page(connection: Connection, query: Select[*tuple[Any, ...]], wanted: PageRequest) -> PageOfRows:
    """Runs an ordered query for one page."""
    total = connection.scalar(select(func.count()).select_from(query.order_by(None).subquery()))
    rows = connection.execute(query.limit(wanted.page_size).offset(wanted.offset)).all()
    return PageOfRows(rows=tuple(rows), counts=wanted.counts(total or 0))
