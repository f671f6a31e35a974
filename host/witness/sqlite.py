"""Witness of SQLite databases: tables, their columns, rows and definitions, read from a private copy.

The copy is opened read-only and immutable (with its write-ahead log where there is one), schema objects are not
trusted, and only plain tables are read: no view, trigger, virtual table or extension of the file ever runs.
"""

import hashlib
import sqlite3
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

from contracts.learning.witness import StateFact
from host.witness.bounded_folder import BoundedFolder, Budget, Entry
from host.witness.fact import FactMaker

fact = FactMaker("databases")

MAX_TABLES = 200
"""Tables of a database that are looked at."""

_MAGIC = b"SQLite format 3\x00"
_STEPS_BETWEEN_CHECKS = 10_000
_SETTINGS = (
    "PRAGMA trusted_schema = OFF",
    "PRAGMA query_only = ON",
    "PRAGMA cell_size_check = ON",
    "PRAGMA mmap_size = 0",
)
_LIMITS = (
    (sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000),
    (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 100_000),
    (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
    (sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 1),
)
_ALLOWED = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_PRAGMA}
)


class SqliteWitness:
    """Facts of every SQLite database in a folder, by the path of its file."""

    name = fact.witness

    def observe(self, folder: BoundedFolder) -> Iterator[StateFact]:
        """The facts of the databases of ``folder``, up to ``Limits.file_bytes`` each.

        Raises:
            LimitReached: the budget is spent; what was given until then stands.
        """
        for entry in folder.files():
            folder.budget.spend()
            if len(_MAGIC) < entry.status.st_size <= folder.limits.file_bytes:
                yield from _of_file(folder, entry)


def _of_file(folder: BoundedFolder, entry: Entry) -> Iterator[StateFact]:
    try:
        with folder.open(entry.path) as source:
            if source.read(len(_MAGIC)) != _MAGIC:
                return
            with tempfile.TemporaryDirectory(prefix="witness-") as private:
                copy = Path(private, "copy.db")
                with copy.open("wb") as target:
                    for piece in source.chunks():
                        target.write(piece)
                has_log = _copied_log(folder, entry, copy)
                yield from _of_copy(entry.shown, copy, folder.budget, has_log=has_log)
    except OSError:
        return
    except (sqlite3.Error, UnicodeDecodeError) as error:
        folder.budget.spend()
        yield fact(entry.shown, "database", f"not readable ({type(error).__name__})")


def _copied_log(folder: BoundedFolder, entry: Entry, copy: Path) -> bool:
    log = folder.read(f"{entry.path}-wal", folder.limits.file_bytes)
    if log:
        copy.with_name(f"{copy.name}-wal").write_bytes(log)
    return bool(log)


def _of_copy(path: str, copy: Path, budget: Budget, *, has_log: bool) -> Iterator[StateFact]:
    # An immutable database is read without its log; the copy is ours alone, so that the log can be read with it.
    options = "mode=ro" if has_log else "mode=ro&immutable=1"
    with closing(sqlite3.connect(f"{copy.as_uri()}?{options}", uri=True, timeout=0)) as database:
        database.text_factory = _text
        _confine(database, budget)
        tables = database.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
            " ORDER BY name LIMIT ?",
            (MAX_TABLES,),
        ).fetchall()
        yield fact(path, "tables", len(tables))
        definitions = database.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name")
        yield fact(path, "definitions", _digest(definitions, budget))
        for name, sql in tables:
            yield from _of_table(path, database, str(name), str(sql), budget)


def _of_table(
    path: str, database: sqlite3.Connection, name: str, sql: str, budget: Budget
) -> Iterator[StateFact]:
    if sql.lstrip().upper().startswith("CREATE VIRTUAL"):
        yield fact(path, f"table {name}: kind", "virtual, not looked into")
        return
    quoted = '"' + name.replace('"', '""') + '"'
    columns = [str(row[1]) for row in database.execute(f"PRAGMA table_info({quoted})")]
    yield fact(path, f"table {name}: columns", ", ".join(columns))
    # The name is quoted as SQL quotes identifiers.
    (rows,) = database.execute(f"SELECT count(*) FROM {quoted}").fetchone()  # noqa: S608
    yield fact(path, f"table {name}: rows", int(rows))
    content = database.execute(f"SELECT * FROM {quoted}")  # noqa: S608
    yield fact(path, f"table {name}: content", _digest(content, budget))


def _digest(rows: Iterable[object], budget: Budget) -> str:
    digest = hashlib.sha256()
    for row in rows:
        budget.spend()
        digest.update(repr(row).encode("utf-8", errors="surrogateescape"))
    return digest.hexdigest()


def _text(value: bytes) -> str:
    return value.decode("utf-8", errors="replace")


def _confine(database: sqlite3.Connection, budget: Budget) -> None:
    for limit, value in _LIMITS:
        database.setlimit(limit, value)
    for setting in _SETTINGS:
        database.execute(setting)

    def allow(action: int, *_: str | None) -> int:
        return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY

    def is_late() -> int:
        return int(time.monotonic() > budget.deadline)

    database.set_authorizer(allow)
    database.set_progress_handler(is_late, _STEPS_BETWEEN_CHECKS)
