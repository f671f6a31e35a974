"""Nightly sweeps over a migrated database."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stores.learning.observations import ObservationLog
from stores.maintenance.nightly_sweeps import nightly_sweeps
from stores.maintenance.runs import MaintenanceStore
from stores.platform.database import Database
from tests.fixtures.past import Nights


@pytest.fixture
def database(store: Database) -> Database:
    """Either database, migrated: a test that asks for it runs on both."""
    return store


@pytest.fixture
def nights(database: Database, tmp_path: Path) -> Iterator[Nights]:
    """Nights over the database."""
    log = ObservationLog(database)
    runs = MaintenanceStore(database)
    yield Nights(
        database, runs, nightly_sweeps(database, runs, log, tmp_path / "practice", tmp_path / "tools")
    )
    log.close()
