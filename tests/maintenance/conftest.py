"""Migrated databases, and the sweeps over them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stores.database import Database
from stores.maintenance_store import MaintenanceStore
from stores.nightly_sweeps import nightly_sweeps
from stores.observations import ObservationLog
from tests.fixtures.databases import migrated
from tests.maintenance.past import Nights


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """Either database, migrated: a test that asks for it runs on both."""
    is_sqlite = request.param == "sqlite"
    url = (
        f"sqlite:///{tmp_path / 'store.db'}"
        if is_sqlite
        else request.getfixturevalue("migrated_postgres_url")
    )
    migrated(url)
    database = Database(url)
    yield database
    database.close()


@pytest.fixture
def nights(database: Database, tmp_path: Path) -> Iterator[Nights]:
    """Nights over the database."""
    log = ObservationLog(database)
    runs = MaintenanceStore(database)
    yield Nights(database, runs, nightly_sweeps(database, runs, log, tmp_path / "practice"))
    log.close()
