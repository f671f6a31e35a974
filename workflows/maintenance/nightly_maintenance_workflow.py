"""Nightly maintenance: what is past its term is put away, page by page, then what is derived is made anew."""

import asyncio
from datetime import datetime, timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.maintenance.maintenance_activities import MaintenanceActivities
    from contracts.base import clipped
    from contracts.maintenance.runs import (
        DerivedRefresh,
        JournalCheck,
        MaintenanceState,
        RunClosing,
        RunOpening,
        SweepGivenUp,
        SweepName,
        SweepPage,
        SweepProgress,
    )
    from workflows.maintenance.nightly_maintenance_messages import (
        MaintenanceEnd,
        MaintenancePosition,
        MaintenanceStart,
    )
    from workflows.platform.presets import STORE_CALL, SWEEP_PAGE


JOURNAL_WITHIN = timedelta(minutes=30)
"""The journal is read in one pass, which may take minutes and reports nothing meanwhile."""

_ADDED_LATER = frozenset(
    {
        SweepName.REMOVE_EXPIRED_SECRETS,
        SweepName.REMOVE_MINING_RUNS,
        SweepName.REMOVE_MINING_CANDIDATES,
        SweepName.REMOVE_PRACTICE_FILES,
        SweepName.REMOVE_TOOL_CALLS,
        SweepName.REMOVE_GRANTS,
        SweepName.REMOVE_SIGN_IN_FLOWS,
        SweepName.REMOVE_INVOCATIONS,
        SweepName.REMOVE_TOOL_SERVER_FOLDERS,
    }
)
"""Sweeps that runs recorded before them go without; each is named by its own patch."""

FAILED = "MaintenanceFailed"
"""The type of the failure of a run of which some part was given up."""


@workflow.defn(name="NightlyMaintenanceWorkflow")
class NightlyMaintenanceWorkflow:
    """Phase 1 sweeps what is past its term, phase 2 refreshes bridge and availability and checks the journal.

    A page that keeps failing ends its sweep, not the run. The run's record in the store has the progress, so
    that a killed worker, or a new run of the workflow, goes on where the last transaction ended.
    """

    @workflow.init
    def __init__(self, start: MaintenanceStart) -> None:
        self._start = start
        position = start.position or MaintenancePosition(
            run_id=start.run_id or str(workflow.uuid7()), started_at=workflow.now()
        )
        self._run_id: str = position.run_id
        self._now: datetime = position.started_at
        self._sweeps: dict[SweepName, SweepProgress] = {one.sweep: one for one in position.sweeps}
        self._pages = 0
        self._doing: str = "opening"
        self._troubles: list[str] = []
        self._journal: JournalCheck | None = None
        self._show()

    @workflow.run
    async def run(self, start: MaintenanceStart) -> MaintenanceEnd:
        """Runs both phases and closes the record, also when it is cancelled."""
        await self._open()
        try:
            for sweep in SweepName:
                if sweep not in _ADDED_LATER or workflow.patched(sweep.value):
                    await self._sweep(sweep)
            if not start.dry_run:
                await self._refresh()
        except (ActivityError, asyncio.CancelledError) as error:
            if not is_cancelled_exception(error):
                raise
            await asyncio.shield(self._close(MaintenanceState.CANCELLED))
            raise
        return await self._finish()

    async def _open(self) -> None:
        await workflow.execute_local_activity_method(
            MaintenanceActivities.open_maintenance,
            RunOpening(
                run_id=self._run_id,
                trigger=self._start.trigger,
                dry_run=self._start.dry_run,
                requested_by=self._start.requested_by,
                workflow_id=workflow.info().workflow_id,
                started_at=self._now,
            ),
            summary="open the record",
            **STORE_CALL,
        )

    async def _sweep(self, sweep: SweepName) -> None:
        self._doing = sweep.value
        progress = self._sweeps.get(sweep, SweepProgress(sweep=sweep))
        while not progress.finished and progress.error is None:
            if self._pages >= self._start.pages_a_run or workflow.info().is_continue_as_new_suggested():
                self._go_on_as_new()
            self._show()
            progress = await self._page(sweep)
            self._sweeps[sweep] = progress
            self._pages += 1

    async def _page(self, sweep: SweepName) -> SweepProgress:
        before = self._sweeps.get(sweep, SweepProgress(sweep=sweep))
        page = SweepPage(
            run_id=self._run_id,
            sweep=sweep,
            now=self._now,
            dry_run=self._start.dry_run,
            limit=self._start.page_size,
        )
        try:
            progress = await workflow.execute_activity_method(
                MaintenanceActivities.sweep_page,
                page,
                summary=f"{sweep.value} after {before.examined}",
                **SWEEP_PAGE,
            )
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            return await self._give_up(sweep, _reason(error))
        if not progress.finished and progress.cursor == before.cursor:
            return await self._give_up(sweep, f"it does not advance beyond {before.cursor}")
        return progress

    async def _give_up(self, sweep: SweepName, reason: str) -> SweepProgress:
        workflow.logger.error("a sweep was given up", extra={"sweep": sweep.value, "error": reason})
        return await workflow.execute_local_activity_method(
            MaintenanceActivities.give_up_sweep,
            SweepGivenUp(run_id=self._run_id, sweep=sweep, error=clipped(reason, 240)),
            summary=f"give up {sweep.value}",
            **STORE_CALL,
        )

    async def _refresh(self) -> None:
        work = DerivedRefresh(run_id=self._run_id, now=self._now)
        self._doing = "refresh bridge and availability"
        self._show()
        try:
            await workflow.execute_activity_method(
                MaintenanceActivities.refresh_derived, work, summary="refresh what is derived", **SWEEP_PAGE
            )
        except ActivityError as error:
            self._note(error)
        self._doing = "check the journal"
        self._show()
        try:
            self._journal = await workflow.execute_activity_method(
                MaintenanceActivities.check_journal,
                work,
                summary="check the journal",
                start_to_close_timeout=JOURNAL_WITHIN,
                retry_policy=RetryPolicy(maximum_attempts=3),
            )
        except ActivityError as error:
            self._note(error)

    async def _finish(self) -> MaintenanceEnd:
        given_up = [f"{one.sweep.value}: {one.error}" for one in self._sweeps.values() if one.error]
        broken = self._journal.fault if self._journal is not None else None
        troubles = [*given_up, *self._troubles, *([broken] if broken else [])]
        state = MaintenanceState.FAILED if troubles else MaintenanceState.COMPLETED
        await self._close(state, clipped("; ".join(troubles), 240) if troubles else None)
        if troubles:
            raise ApplicationError("; ".join(troubles), type=FAILED, non_retryable=True)
        return MaintenanceEnd(run_id=self._run_id, state=state, sweeps=tuple(self._sweeps.values()))

    async def _close(self, state: MaintenanceState, error: str | None = None) -> None:
        await workflow.execute_local_activity_method(
            MaintenanceActivities.close_maintenance,
            RunClosing(run_id=self._run_id, state=state, error=error, finished_at=workflow.now()),
            summary=state.value,
            **STORE_CALL,
        )
        self._doing = state.value
        self._show()

    def _note(self, error: ActivityError) -> None:
        if is_cancelled_exception(error):
            raise error
        self._troubles.append(f"{self._doing}: {_reason(error)}")

    def _go_on_as_new(self) -> None:
        position = MaintenancePosition(
            run_id=self._run_id, started_at=self._now, sweeps=tuple(self._sweeps.values())
        )
        workflow.continue_as_new(self._start.changed(position=position))

    def _show(self) -> None:
        kind = "Preview" if self._start.dry_run else "Run"
        lines = [
            f"**{kind}** `{self._run_id}` ({self._start.trigger.value}), at `{self._doing}`",
            "",
            "| sweep | examined | done | skipped | failed | rows removed |",
            "|---|---|---|---|---|---|",
        ]
        for sweep in SweepName:
            one = self._sweeps.get(sweep, SweepProgress(sweep=sweep))
            mark = " ✗" if one.error else " ✓" if one.finished else ""
            lines.append(
                f"| {sweep.value}{mark} | {one.examined} | {one.done} | {one.skipped} | {one.failed} |"
                f" {one.removed} |"
            )
        lines += [f"- {trouble}" for trouble in self._troubles]
        workflow.set_current_details("\n".join(lines))


def _reason(error: ActivityError) -> str:
    cause = error.cause
    if isinstance(cause, ApplicationError):
        return f"{cause.type or 'error'}: {cause.message}"
    return str(cause or error)
