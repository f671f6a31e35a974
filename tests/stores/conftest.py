"""Databases for the store's tests: migrated, empty, and gone afterwards."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stores.platform.database import Database
from tests.fixtures.databases import migrated


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """The URL of a SQLite file that does not exist yet."""
    return f"sqlite:///{tmp_path / 'store.db'}"


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """Either database, empty: a test that asks for it runs on both."""
    return request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url")


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest) -> Database:
    """Either database, migrated: a test that asks for it runs on both."""
    return request.getfixturevalue("sqlite_store" if request.param == "sqlite" else "postgres_store")


@pytest.fixture
def sqlite_store(sqlite_url: str) -> Iterator[Database]:
    """A migrated SQLite database."""
    migrated(sqlite_url)
    yield from _opened(sqlite_url)


@pytest.fixture
def postgres_store(migrated_postgres_url: str) -> Iterator[Database]:
    """A migrated PostgreSQL database."""
    yield from _opened(migrated_postgres_url)


def _opened(url: str) -> Iterator[Database]:
    database = Database(url)
    yield database
    database.close()
