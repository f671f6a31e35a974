"""Store of maintenance runs: their progress is written in the transaction of the work that it counts."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection

from contracts.maintenance.runs import (
    JournalCheck,
    MaintenanceRun,
    MaintenanceRunsResponse,
    MaintenanceState,
    RunClosing,
    RunOpening,
    SweepName,
    SweepProgress,
)
from stores.platform.database import Database, PageRequest
from stores.platform.document_table import DocumentTable
from stores.platform.tables import maintenance_runs as table

SILENT_AFTER = timedelta(hours=24)
"""A running run whose record has not changed for this long is taken for failed."""

RUNS = DocumentTable(table, MaintenanceRun, message="There is no maintenance run {key}.")


class MaintenanceStore:
    """The records of all runs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open(self, opening: RunOpening) -> MaintenanceRun:
        """Opens a run's record, or returns the one it has; runs that fell silent are closed on the way."""
        with self._database.write() as connection:
            found = RUNS.find(connection, opening.run_id)
            if found is not None:
                return found
            _close_silent(connection, opening.started_at)
            run = MaintenanceRun(**opening.model_dump(), updated_at=opening.started_at)
            RUNS.add(connection, run)
            return run

    def find(self, run_id: str) -> MaintenanceRun | None:
        """One run, or ``None``."""
        with self._database.read() as connection:
            return RUNS.find(connection, run_id)

    def get(self, run_id: str) -> MaintenanceRun:
        """One run.

        Raises:
            Refusal: ``NOT_FOUND``.
        """
        with self._database.read() as connection:
            return RUNS.get(connection, run_id)

    def page(self, wanted: PageRequest) -> MaintenanceRunsResponse:
        """A page of runs, newest first."""
        newest_first = (table.c.started_at.desc(), table.c.run_id.desc())
        with self._database.read() as connection:
            found = RUNS.page(connection, wanted, order_by=newest_first)
        return MaintenanceRunsResponse(runs=found.documents, **found.counts)

    def running(self) -> tuple[MaintenanceRun, ...]:
        """The runs recorded as running, newest first."""
        with self._database.read() as connection:
            return _running(connection)

    def forget(self, run_id: str) -> None:
        """Removes the record of a run that was never started."""
        with self._database.write() as connection:
            RUNS.delete(connection, run_id)

    def close(self, closing: RunClosing) -> MaintenanceRun:
        """Records how a run ended; the first end stands."""
        return self._change(closing.run_id, lambda run: _closed(run, closing))

    def give_up(self, run_id: str, sweep: SweepName, error: str) -> MaintenanceRun:
        """Records that a sweep was left before its end."""

        def given_up(run: MaintenanceRun) -> MaintenanceRun:
            progress = run.progress(sweep).changed(error=error)
            return _with_progress(run, progress)

        return self._change(run_id, given_up)

    def note_refreshed(self, run_id: str) -> None:
        """Records that bridge and availability were written anew."""
        self._change(run_id, lambda run: run.changed(availability_refreshed=True))

    def note_journal(self, run_id: str, check: JournalCheck) -> None:
        """Records what the look at the journal found."""
        self._change(run_id, lambda run: run.changed(journal=check))

    def _change(self, run_id: str, change: Callable[[MaintenanceRun], MaintenanceRun]) -> MaintenanceRun:
        with self._database.write() as connection:
            return _write(connection, change(RUNS.get(connection, run_id, lock=True)))


def record_progress(connection: Connection, run_id: str, progress: SweepProgress) -> None:
    """Writes a sweep's progress, in the transaction of the work that it counts."""
    _write(connection, _with_progress(RUNS.get(connection, run_id, lock=True), progress))


def is_preview(connection: Connection, run_id: str) -> bool:
    """Whether the run only looks: for work that no rollback undoes."""
    run = RUNS.find(connection, run_id)
    return run is None or run.dry_run


def _write(connection: Connection, run: MaintenanceRun) -> MaintenanceRun:
    run = run.changed(updated_at=datetime.now(UTC))
    RUNS.replace(connection, run)
    return run


def _with_progress(run: MaintenanceRun, progress: SweepProgress) -> MaintenanceRun:
    order = list(SweepName)
    others = [one for one in run.sweeps if one.sweep is not progress.sweep]
    sweeps = sorted([*others, progress], key=lambda one: order.index(one.sweep))
    return run.changed(sweeps=tuple(sweeps))


def _closed(run: MaintenanceRun, closing: RunClosing) -> MaintenanceRun:
    if run.state is not MaintenanceState.RUNNING:
        return run
    return run.changed(state=closing.state, error=closing.error, finished_at=closing.finished_at)


def _running(connection: Connection) -> tuple[MaintenanceRun, ...]:
    running = table.c.body.contains(f'"state":"{MaintenanceState.RUNNING.value}"')
    return RUNS.all(connection, running, order_by=(table.c.started_at.desc(),))


def _close_silent(connection: Connection, now: datetime) -> None:
    for run in _running(connection):
        if now - run.updated_at >= SILENT_AFTER:
            closing = RunClosing(
                run_id=run.run_id,
                state=MaintenanceState.FAILED,
                error="It ended without saying how; look at its workflow in the Temporal UI.",
                finished_at=now,
            )
            _write(connection, _closed(run, closing))
