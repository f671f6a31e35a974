"""Starts maintenance runs at Temporal, one at a time."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid5

import anyio.to_thread
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from contracts.errors import ErrorCode, Refusal
from contracts.maintenance.runs import (
    MaintenanceRun,
    MaintenanceState,
    MaintenanceTrigger,
    RunClosing,
    RunOpening,
)
from contracts.workflow_ids import NIGHTLY_SCHEDULE
from gateways.platform.updates import ANSWER_WITHIN, start_options, start_or_join, unavailable
from stores.maintenance.runs import MaintenanceStore
from workflows.maintenance.nightly_maintenance_messages import MaintenanceStart
from workflows.maintenance.nightly_maintenance_workflow import NightlyMaintenanceWorkflow

MANUAL_RUN = f"{NIGHTLY_SCHEDULE}-manual"
"""The workflow id of runs that a person starts: the same each time, so that Temporal lets one run."""

STARTING = timedelta(seconds=60)
"""A record this young may belong to a run that Temporal is only about to hear of."""

_RUN_ID = "run_id"
"""The memo with the run that an execution carries out."""

_KEYS = UUID("0a4b8f56-6a1f-5c0e-9d0b-5f6f2f1f7c11")


def run_id_of(owner: str, key: str) -> str:
    """The run that this idempotency key of this caller starts."""
    return str(uuid5(_KEYS, f"{owner}/{key}"))


class MaintenanceGateway:
    """Starts runs. The record comes first, so that a run can be named as soon as it exists."""

    def __init__(self, client: Client, task_queue: str, runs: MaintenanceStore) -> None:
        self._client = client
        self._task_queue = task_queue
        self._runs = runs

    async def start(self, run_id: str, requested_by: str, *, dry_run: bool) -> MaintenanceRun:
        """Starts a run, or answers with the one that was started under this id.

        Raises:
            Refusal: ``CONFLICT`` while another run goes on (``running_run_id`` names it),
                ``IDEMPOTENCY_KEY_REUSED`` when the id's run was asked for differently,
                ``TEMPORAL_UNAVAILABLE``; nothing was started.
        """
        known = await anyio.to_thread.run_sync(self._runs.find, run_id)
        if known is not None:
            return _same(known, dry_run=dry_run)
        await self._refuse_while_running(run_id)
        opening = RunOpening(
            run_id=run_id,
            trigger=MaintenanceTrigger.MANUAL,
            dry_run=dry_run,
            requested_by=requested_by,
            workflow_id=MANUAL_RUN,
            started_at=datetime.now(UTC),
        )
        run = await anyio.to_thread.run_sync(self._runs.open, opening)
        try:
            await self._start_workflow(run)
        except (Refusal, WorkflowAlreadyStartedError) as error:
            await anyio.to_thread.run_sync(self._runs.forget, run_id)
            if isinstance(error, Refusal):
                raise
            raise await self._conflict() from None
        return run

    async def _start_workflow(self, run: MaintenanceRun) -> None:
        start = MaintenanceStart(
            trigger=run.trigger, dry_run=run.dry_run, run_id=run.run_id, requested_by=run.requested_by
        )
        options = start_options(
            MANUAL_RUN,
            self._task_queue,
            kind=NIGHTLY_SCHEDULE,
            owner=run.requested_by,
            summary=f"maintenance {'preview ' if run.dry_run else ''}by {run.requested_by}",
            memo={_RUN_ID: run.run_id},
            policy=WorkflowIDConflictPolicy.FAIL,
        )
        for last in (False, True):
            try:
                await start_or_join(self._client, NightlyMaintenanceWorkflow.run, start, options)
            except WorkflowAlreadyStartedError:
                if await self._is_started(run):
                    return
                running = await anyio.to_thread.run_sync(self._runs.running)
                others = [one for one in running if one.run_id != run.run_id]
                if last or others:
                    raise
                # The last run has closed its record and is about to end.
                await self._wait_for_end()
            else:
                return

    async def _is_started(self, run: MaintenanceRun) -> bool:
        with suppress(RPCError, RuntimeError):
            found = await self._client.get_workflow_handle(MANUAL_RUN).describe(rpc_timeout=ANSWER_WITHIN)
            return run.run_id == await found.memo_value(_RUN_ID, None)
        return False

    async def _wait_for_end(self) -> None:
        with suppress(TimeoutError, WorkflowFailureError, RPCError):
            async with asyncio.timeout(ANSWER_WITHIN.total_seconds()):
                await self._client.get_workflow_handle(MANUAL_RUN).result()

    async def _refuse_while_running(self, run_id: str) -> None:
        for run in await anyio.to_thread.run_sync(self._runs.running):
            if run.run_id == run_id:
                # The same request came in twice at once: both start it, and one of them will have done so.
                continue
            if await self._is_alive(run) or datetime.now(UTC) - run.updated_at < STARTING:
                raise _runs_already(run)
            closing = RunClosing(
                run_id=run.run_id,
                state=MaintenanceState.FAILED,
                error="Its workflow ended without closing it; look at it in the Temporal UI.",
                finished_at=datetime.now(UTC),
            )
            await anyio.to_thread.run_sync(self._runs.close, closing)

    async def _is_alive(self, run: MaintenanceRun) -> bool:
        try:
            found = await self._client.get_workflow_handle(run.workflow_id).describe(
                rpc_timeout=ANSWER_WITHIN
            )
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return False
            raise unavailable(error) from error
        except RuntimeError as error:
            # The SDK's first connection attempt fails with a plain RuntimeError.
            raise unavailable(error) from error
        return found.status is WorkflowExecutionStatus.RUNNING

    async def _conflict(self) -> Refusal:
        running = await anyio.to_thread.run_sync(self._runs.running)
        if running:
            # The oldest: a newer record may be that of another request that has just lost.
            return _runs_already(running[-1])
        return Refusal(ErrorCode.CONFLICT, "A maintenance run goes on; try again when it has ended.")


def _same(known: MaintenanceRun, *, dry_run: bool) -> MaintenanceRun:
    if known.dry_run is not dry_run:
        raise Refusal(
            ErrorCode.IDEMPOTENCY_KEY_REUSED,
            "This idempotency key was used for a different request; use a new key.",
        )
    return known


def _runs_already(run: MaintenanceRun) -> Refusal:
    return Refusal(
        ErrorCode.CONFLICT,
        f"Maintenance run {run.run_id} goes on; start another when it has ended.",
        running_run_id=run.run_id,
    )
