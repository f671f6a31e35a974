"""Databases for the store's tests: migrated, empty, and gone afterwards."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stores.database import Database
from stores.migrate import upgrade
from tests.fixtures.postgres import postgres_cluster, postgres_url

__all__ = ["postgres_cluster", "postgres_url"]


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """The URL of a SQLite file that does not exist yet."""
    return f"sqlite:///{tmp_path / 'store.db'}"


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """Either database, empty: a test that asks for it runs on both."""
    return request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url")


@pytest.fixture
def store(database_url: str) -> Iterator[Database]:
    """Either database, migrated: a test that asks for it runs on both."""
    yield from _migrated(database_url)


@pytest.fixture
def sqlite_store(sqlite_url: str) -> Iterator[Database]:
    """A migrated SQLite database."""
    yield from _migrated(sqlite_url)


@pytest.fixture
def postgres_store(postgres_url: str) -> Iterator[Database]:
    """A migrated PostgreSQL database."""
    yield from _migrated(postgres_url)


def _migrated(url: str) -> Iterator[Database]:
    upgrade(url)
    database = Database(url)
    yield database
    database.close()
