"""Records of maintenance runs: written with the work they tell of, readable while it goes on."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, delete, insert, select, update

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.maintenance.runs import (
    JournalCheck,
    MaintenanceRun,
    MaintenanceRunsResponse,
    MaintenanceState,
    SweepName,
    SweepProgress,
)
from contracts.maintenance.work import RunClosing, RunOpening
from stores.canonical import canonical_json
from stores.database import Database
from stores.paging import PageRequest, fetch_page
from stores.tables import maintenance_runs as table

SILENT_AFTER = timedelta(hours=24)
"""A run whose record has not changed for this long ended without saying so."""


class MaintenanceStore:
    """The records of all runs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open(self, opening: RunOpening) -> MaintenanceRun:
        """Opens a run's record, or returns the one it has; runs that fell silent are closed on the way."""
        with self._database.write() as connection:
            found = _read(connection, opening.run_id)
            if found is not None:
                return found
            _close_silent(connection, opening.started_at)
            run = MaintenanceRun(**opening.model_dump(), updated_at=opening.started_at)
            connection.execute(
                insert(table).values(
                    run_id=run.run_id, started_at=rfc3339(run.started_at), body=canonical_json(run)
                )
            )
            return run

    def find(self, run_id: str) -> MaintenanceRun | None:
        """One run, or ``None``."""
        with self._database.read() as connection:
            return _read(connection, run_id)

    def get(self, run_id: str) -> MaintenanceRun:
        """One run.

        Raises:
            Refusal: ``NOT_FOUND``.
        """
        run = self.find(run_id)
        if run is None:
            raise Refusal(ErrorCode.NOT_FOUND, f"There is no maintenance run {run_id}.")
        return run

    def page(self, wanted: PageRequest) -> MaintenanceRunsResponse:
        """A page of runs, newest first."""
        query = select(table.c.body).order_by(table.c.started_at.desc(), table.c.run_id.desc())
        with self._database.read() as connection:
            found = fetch_page(connection, query, wanted)
        return MaintenanceRunsResponse(
            runs=tuple(MaintenanceRun.model_validate_json(row.body) for row in found.rows),
            total=found.total,
            page=wanted.page,
            page_size=wanted.page_size,
        )

    def running(self) -> tuple[MaintenanceRun, ...]:
        """The runs whose record says that they go on, newest first."""
        with self._database.read() as connection:
            return _running(connection)

    def forget(self, run_id: str) -> None:
        """Removes the record of a run that was never started."""
        with self._database.write() as connection:
            connection.execute(delete(table).where(table.c.run_id == run_id))

    def close(self, closing: RunClosing) -> MaintenanceRun:
        """Records how a run ended; the first end stands."""
        return self._change(closing.run_id, lambda run: _closed(run, closing))

    def give_up(self, run_id: str, sweep: SweepName, error: str) -> MaintenanceRun:
        """Records that a sweep was left before its end."""

        def given_up(run: MaintenanceRun) -> MaintenanceRun:
            progress = run.progress(sweep).model_copy(update={"error": error})
            return _with_progress(run, progress)

        return self._change(run_id, given_up)

    def note_refreshed(self, run_id: str) -> None:
        """Records that bridge and availability were written anew."""
        self._change(run_id, lambda run: run.model_copy(update={"availability_refreshed": True}))

    def note_journal(self, run_id: str, check: JournalCheck) -> None:
        """Records what the look at the journal found."""
        self._change(run_id, lambda run: run.model_copy(update={"journal": check}))

    def _change(self, run_id: str, change: Callable[[MaintenanceRun], MaintenanceRun]) -> MaintenanceRun:
        with self._database.write() as connection:
            run = _read(connection, run_id, lock=True)
            if run is None:
                raise Refusal(ErrorCode.NOT_FOUND, f"There is no maintenance run {run_id}.")
            return _write(connection, change(run))


def record_progress(connection: Connection, run_id: str, progress: SweepProgress) -> None:
    """Writes a sweep's progress, in the transaction of the work that it counts."""
    run = _read(connection, run_id, lock=True)
    if run is None:
        raise Refusal(ErrorCode.NOT_FOUND, f"There is no maintenance run {run_id}.")
    _write(connection, _with_progress(run, progress))


def is_preview(connection: Connection, run_id: str) -> bool:
    """Whether the run only looks: for work that no rollback undoes."""
    run = _read(connection, run_id)
    return run is None or run.dry_run


def _read(connection: Connection, run_id: str, *, lock: bool = False) -> MaintenanceRun | None:
    query = select(table.c.body).where(table.c.run_id == run_id)
    body = connection.scalar(query.with_for_update() if lock else query)
    return MaintenanceRun.model_validate_json(body) if body is not None else None


def _write(connection: Connection, run: MaintenanceRun) -> MaintenanceRun:
    run = run.model_copy(update={"updated_at": datetime.now(UTC)})
    connection.execute(update(table).where(table.c.run_id == run.run_id).values(body=canonical_json(run)))
    return run


def _with_progress(run: MaintenanceRun, progress: SweepProgress) -> MaintenanceRun:
    order = list(SweepName)
    others = [one for one in run.sweeps if one.sweep is not progress.sweep]
    sweeps = sorted([*others, progress], key=lambda one: order.index(one.sweep))
    return run.model_copy(update={"sweeps": tuple(sweeps)})


def _closed(run: MaintenanceRun, closing: RunClosing) -> MaintenanceRun:
    if run.state is not MaintenanceState.RUNNING:
        return run
    return run.model_copy(
        update={"state": closing.state, "error": closing.error, "finished_at": closing.finished_at}
    )


def _running(connection: Connection) -> tuple[MaintenanceRun, ...]:
    rows = connection.execute(
        select(table.c.body)
        .where(table.c.body.contains(f'"state":"{MaintenanceState.RUNNING.value}"'))
        .order_by(table.c.started_at.desc())
    )
    return tuple(MaintenanceRun.model_validate_json(row.body) for row in rows)


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
