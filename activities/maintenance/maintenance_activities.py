"""Activities of nightly maintenance: open and close a run, a page of a sweep, refresh, look at the journal."""

from collections.abc import Callable

from temporalio import activity

from activities.platform.refusals import refusing
from contracts.base import clipped
from contracts.maintenance.runs import (
    DerivedRefresh,
    JournalCheck,
    MaintenanceRun,
    RunClosing,
    RunOpening,
    SweepGivenUp,
    SweepPage,
    SweepProgress,
)
from stores.abilities.derived_files import rebuild_bridge, refresh_snapshot
from stores.maintenance.runs import MaintenanceStore
from stores.maintenance.sweeps import RetentionSweeps
from stores.platform.database import Database
from stores.platform.journal.chains import anchor, verify_chains


class MaintenanceActivities:
    """Each may be repeated: what was done once is found done."""

    def __init__(
        self,
        database: Database,
        runs: MaintenanceStore,
        sweeps: RetentionSweeps,
        written: Callable[[], None],
    ) -> None:
        """``written`` is called after each change, to have the files projected."""
        self._database = database
        self._runs = runs
        self._sweeps = sweeps
        self._written = written

    @activity.defn
    @refusing
    def open_maintenance(self, opening: RunOpening) -> MaintenanceRun:
        """Opens the run's record, or finds it open."""
        return self._runs.open(opening)

    @activity.defn
    @refusing
    def sweep_page(self, page: SweepPage) -> SweepProgress:
        """Settles one page; ends early, and without loss, when the worker is asked to stop."""

        def alive() -> bool:
            activity.heartbeat()
            return not activity.is_worker_shutdown()

        def failing(item: str, error: Exception) -> None:
            activity.logger.warning(
                "an item was left as it is",
                extra={"sweep": page.sweep.value, "item": item, "error": f"{type(error).__name__}: {error}"},
            )

        progress = self._sweeps.run_page(page, alive, failing)
        self._written()
        return progress

    @activity.defn
    @refusing
    def give_up_sweep(self, given_up: SweepGivenUp) -> SweepProgress:
        """Records that a sweep was left before its end."""
        run = self._runs.give_up(given_up.run_id, given_up.sweep, given_up.error)
        return run.progress(given_up.sweep)

    @activity.defn
    @refusing
    def refresh_derived(self, refresh: DerivedRefresh) -> None:
        """Writes bridge, availability snapshot and what lies beside them anew from the rows."""
        with self._database.write() as connection:
            rebuild_bridge(connection, refresh.now)
            refresh_snapshot(connection, refresh.now)
        self._runs.note_refreshed(refresh.run_id)
        self._written()

    @activity.defn
    @refusing
    def check_journal(self, check: DerivedRefresh) -> JournalCheck:
        """Anchors the journal and reads all of it once; a fault is recorded and logged."""
        anchor(self._database, check.now)
        report = verify_chains(self._database)
        fault = clipped(report.fault.message, 240) if report.fault is not None else None
        found = JournalCheck(entries=report.entries, intact=report.intact, fault=fault)
        self._runs.note_journal(check.run_id, found)
        if fault is not None:
            activity.logger.error("the journal is not as it was written", extra={"fault": fault})
        return found

    @activity.defn
    @refusing
    def close_maintenance(self, closing: RunClosing) -> MaintenanceRun:
        """Records how the run ended."""
        return self._runs.close(closing)
