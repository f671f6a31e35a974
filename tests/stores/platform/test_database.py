"""Transactions of the store: what one leaves behind for the next on the same connection."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from stores.platform.database import Database

NO_WAIT_MS = 0

SYNCHRONOUS, NORMAL, FULL = text("PRAGMA synchronous"), 1, 2

WRITES_AND_DIES = """
import os, signal, sys
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from stores.platform.database import Database
with Database(sys.argv[1]).write(synced=False) as connection:
    connection.execute(text("INSERT INTO numbers VALUES (4)"))
os.kill(os.getpid(), signal.SIGKILL)
"""


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


def test_its_files_are_for_their_owner_alone(url: str, databases: tuple[Database, Database]) -> None:
    with databases[0].write() as connection:
        connection.execute(text("INSERT INTO numbers VALUES (4)"))
        files = [*Path(url.removeprefix("sqlite:///")).parent.glob("store.sqlite3*")]
        assert len(files) == 3
        assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


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


def test_a_write_that_is_not_synced_is_read_at_once_and_leaves_the_connection_as_it_was(
    databases: tuple[Database, Database],
) -> None:
    ours, theirs = databases
    with ours.write(synced=False) as connection:
        assert connection.scalar(SYNCHRONOUS) == NORMAL
        connection.execute(text("INSERT INTO numbers VALUES (4)"))
    with theirs.read() as connection:
        assert connection.scalar(text("SELECT max(number) FROM numbers")) == 4
    with pytest.raises(OperationalError), ours.write(synced=False) as connection:
        connection.execute(text("INSERT INTO unknown VALUES (5)"))
    with ours.write() as connection:
        assert connection.scalar(SYNCHRONOUS) == FULL
        assert connection.scalar(text("SELECT max(number) FROM numbers")) == 4


def test_a_write_that_is_not_synced_outlives_a_killed_process(url: str) -> None:
    killed = subprocess.run([sys.executable, "-c", WRITES_AND_DIES, url], check=False, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    with closing(Database(url)) as database, database.read() as connection:
        assert connection.scalar(text("SELECT max(number) FROM numbers")) == 4


def test_postgres_waits_for_no_disk_at_the_end_of_a_write_that_is_not_synced(postgres_url: str) -> None:
    with closing(Database(postgres_url)) as database:
        with database.write(synced=False) as connection:
            assert connection.scalar(text("SHOW synchronous_commit")) == "off"
        with database.write() as connection:
            assert connection.scalar(text("SHOW synchronous_commit")) == "on"
