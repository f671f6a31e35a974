"""Stores of mining runs (progress, end) and of each user's mining settings, with their projected file (FC-02)."""

from collections.abc import Callable
from datetime import UTC, datetime

from sqlalchemy import Connection

from contracts.base import rfc3339
from contracts.mining.candidates import MiningSettings
from contracts.mining.runs import (
    MiningProgress,
    MiningRun,
    MiningRunClosing,
    MiningRunOpening,
    MiningRunState,
)
from stores.platform.canonical import document_bytes
from stores.platform.database import Database
from stores.platform.document_table import DocumentTable
from stores.platform.projection.documents import put_document
from stores.platform.tables import mining_runs as table
from stores.platform.tables import mining_settings as settings_table

RUNS = DocumentTable(table, MiningRun, message="There is no mining run {key} of yours.")
SETTINGS = DocumentTable(settings_table, MiningSettings)
"""Callers give ``owner`` and ``updated_at``."""


class MiningRunStore:
    """The records of all runs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open(self, opening: MiningRunOpening) -> MiningRun:
        """Opens a run's record, or returns the one it has."""
        with self._database.write() as connection:
            found = RUNS.find(connection, opening.run_id)
            if found is not None:
                return found
            run = MiningRun(**opening.model_dump(), updated_at=opening.started_at)
            RUNS.add(connection, run)
            return run

    def get(self, run_id: str, owner: str | None = None) -> MiningRun:
        """One run; with ``owner``, only one of that person's own.

        Raises:
            Refusal: ``NOT_FOUND``.
        """
        with self._database.read() as connection:
            return RUNS.get(connection, run_id) if owner is None else RUNS.owned(connection, run_id, owner)

    def forget(self, run_id: str) -> None:
        """Removes the record of a run that was never started."""
        with self._database.write() as connection:
            RUNS.delete(connection, run_id)

    def note(self, run_id: str, progress: MiningProgress) -> MiningRun:
        """Records how far the run has come."""
        return self._change(run_id, lambda run: run.changed(progress=progress))

    def close(self, closing: MiningRunClosing) -> MiningRun:
        """Records how the run ended; the first end stands."""

        def closed(run: MiningRun) -> MiningRun:
            if run.state is not MiningRunState.RUNNING:
                return run
            return run.changed(
                state=closing.state,
                error=closing.error,
                finished_at=closing.finished_at,
                progress=closing.progress,
            )

        return self._change(closing.run_id, closed)

    def _change(self, run_id: str, change: Callable[[MiningRun], MiningRun]) -> MiningRun:
        with self._database.write() as connection:
            run = change(RUNS.get(connection, run_id, lock=True)).changed(updated_at=datetime.now(UTC))
            RUNS.replace(connection, run)
            return run


CURRENT = "system/capabilities/mining_settings_current.json"


class MiningSettingsStore:
    """Mining settings by user; a user without a row has the defaults."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, owner: str) -> MiningSettings:
        """The settings that hold for ``owner``."""
        with self._database.read() as connection:
            return settings_of(connection, owner)

    def save(self, owner: str, settings: MiningSettings, now: datetime) -> MiningSettings:
        """Replaces the settings of ``owner``; the file follows in the same transaction."""
        with self._database.write() as connection:
            SETTINGS.put(connection, settings, owner=owner, updated_at=rfc3339(now))
            put_document(connection, "memory", CURRENT, document_bytes(_current(connection)))
        return settings


def settings_of(connection: Connection, owner: str) -> MiningSettings:
    """As ``MiningSettingsStore.of``, inside a transaction."""
    return SETTINGS.find(connection, owner) or MiningSettings()


def _current(connection: Connection) -> dict[str, object]:
    owner = settings_table.c.owner
    rows = connection.execute(SETTINGS.select(also=(owner,)).order_by(owner))
    people = {row.owner: SETTINGS.parse(row.body).model_dump(mode="json") for row in rows}
    return {"schema_version": 1, "people": people}
