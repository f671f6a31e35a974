"""Transactions of the store: what one leaves behind for the next on the same connection."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from stores.platform.database import Database

NO_WAIT_MS = 0


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A database with a table of a few rows."""
    url = f"sqlite:///{tmp_path / 'store.sqlite3'}"
    database = Database(url)
    with database.write() as connection:
        connection.execute(text("CREATE TABLE numbers (number INTEGER)"))
        connection.execute(text("INSERT INTO numbers VALUES (1), (2), (3)"))
    database.close()
    return url


@pytest.fixture
def databases(url: str) -> Iterator[tuple[Database, Database]]:
    """Two processes' views of it; neither waits for the other."""
    ours, theirs = Database(url, busy_ms=NO_WAIT_MS), Database(url, busy_ms=NO_WAIT_MS)
    yield ours, theirs
    ours.close()
    theirs.close()


@pytest.mark.parametrize("how", ["read", "write"])
def test_a_result_that_was_not_read_to_its_end_is_not_in_the_way_of_the_next_write(
    databases: tuple[Database, Database], how: str
) -> None:
    ours, theirs = databases
    with ours.read() if how == "read" else ours.write() as connection:
        unread = connection.execute(text("SELECT number FROM numbers ORDER BY number"))
        assert next(unread) == (1,)
    with theirs.write() as connection:
        connection.execute(text("INSERT INTO numbers VALUES (4)"))
    with ours.write() as connection:
        connection.execute(text("INSERT INTO numbers VALUES (5)"))
    with theirs.read() as connection:
        assert connection.scalars(text("SELECT number FROM numbers")).all() == [1, 2, 3, 4, 5]
    del unread
