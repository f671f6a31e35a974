"""A whole night on a real server: by schedule, by hand, over a worker's death, with a broken part."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import update
from sqlalchemy.exc import OperationalError
from temporalio import activity
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError

from config.settings import Settings
from contracts.learning.proposal import ProposalState
from contracts.maintenance.runs import (
    ArchivedProposal,
    MaintenanceRun,
    MaintenanceState,
    MaintenanceTrigger,
    SweepName,
    SweepPage,
)
from stores.maintenance.runs import MaintenanceStore
from stores.platform import tables
from stores.platform.database import Database
from stores.platform.projection.projector import Projector
from tests.fixtures.databases import migrated
from tests.fixtures.past import add_observations, add_session, days, held, is_archived
from tests.fixtures.stack import Stack, connect, stack_settings
from worker.composition import WorkerParts, build_worker, compose
from workflows.maintenance.nightly_maintenance_messages import (
    MaintenanceEnd,
    MaintenancePosition,
    MaintenanceStart,
)
from workflows.maintenance.nightly_maintenance_workflow import FAILED, NightlyMaintenanceWorkflow

pytestmark = pytest.mark.anyio

Handle = WorkflowHandle[NightlyMaintenanceWorkflow, MaintenanceEnd]
OLD = days(90)


async def start(client: Client, settings: Settings, **fields: Any) -> Handle:
    """A run under an id of its own."""
    begin = MaintenanceStart(trigger=MaintenanceTrigger.MANUAL, run_id=str(uuid4()), **fields)
    return await client.start_workflow(
        NightlyMaintenanceWorkflow.run,
        begin,
        id=f"nightly-maintenance-{begin.run_id}",
        task_queue=settings.task_queue,
    )


def record_of(parts: WorkerParts, handle: Handle) -> MaintenanceRun:
    """The run's record in the store."""
    return MaintenanceStore(parts.database).get(handle.id.removeprefix("nightly-maintenance-"))


@asynccontextmanager
async def worker_over(
    client: Client, settings: Settings, change: Callable[[WorkerParts], WorkerParts] = lambda parts: parts
) -> AsyncIterator[WorkerParts]:
    """A worker over its own parts; ``change`` may put other activities in place."""
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    migrated(settings.database_url)
    parts = change(compose(settings))
    try:
        async with build_worker(client, settings, parts):
            yield parts
    finally:
        await parts.close()


def instead_of_page(parts: WorkerParts, page: Callable[..., Any]) -> WorkerParts:
    """The parts with another ``sweep_page``."""
    others = [one for one in parts.activities if one.__name__ != "sweep_page"]
    return replace(parts, activities=(*others, page))


def real_page(parts: WorkerParts) -> Callable[[SweepPage], Any]:
    """The parts' own ``sweep_page``."""
    return next(one for one in parts.activities if one.__name__ == "sweep_page")


@pytest.fixture
async def client(temporal_address: str) -> Client:
    return await connect(temporal_address)


async def test_a_night_puts_away_refreshes_and_checks(client: Client, tmp_path: Path) -> None:
    settings = stack_settings(tmp_path)
    async with worker_over(client, settings) as parts:
        old = [add_session(parts.database, OLD) for _ in range(5)]
        add_observations(parts.database, old[0], [False, True])
        handle = await start(client, settings, page_size=2)
        end = await handle.result()
        run = record_of(parts, handle)
        details = await current_details(handle)
    assert (end.state, run.state) == (MaintenanceState.COMPLETED, MaintenanceState.COMPLETED)
    assert run.sweeps == end.sweeps
    assert [sweep.sweep for sweep in run.sweeps] == list(SweepName)
    assert run.progress(SweepName.ARCHIVE_SESSIONS).done == 5
    assert run.progress(SweepName.PURGE_OBSERVATIONS).removed == 1
    assert run.availability_refreshed
    assert run.journal is not None
    assert (run.journal.entries, run.journal.intact) == (10, True)
    assert "| archive_sessions ✓ | 5 | 5 | 0 | 0 | 0 |" in details
    tree = settings.memory_root / "system"
    assert (tree / "learning/archived/sessions" / f"{old[0]}.json").is_file()
    assert (tree / "abilities/availability_current.json").is_file()


async def current_details(handle: Handle) -> str:
    """What the Temporal UI shows of a workflow."""
    answer: Any = await handle.query("__temporal_workflow_metadata")
    return str(answer.current_details)


async def test_a_worker_that_dies_half_way_is_replaced_without_loss_or_double_count(
    client: Client, tmp_path: Path
) -> None:
    settings = stack_settings(tmp_path)
    reached = asyncio.Event()
    loop = asyncio.get_running_loop()

    def dying(parts: WorkerParts) -> WorkerParts:
        page = real_page(parts)
        seen: list[str] = []

        @activity.defn(name="sweep_page")
        def sweep_page(request: SweepPage) -> Any:
            seen.append(request.sweep)
            done = page(request)
            if len(seen) >= 2:
                # The transaction is written and its answer is lost, as when a process is killed right here.
                loop.call_soon_threadsafe(reached.set)
                raise OperationalError("", {}, Exception("the worker is gone"))
            return done

        return instead_of_page(parts, sweep_page)

    async with worker_over(client, settings, dying) as parts:
        old = [add_session(parts.database, OLD) for _ in range(6)]
        handle = await start(client, settings, page_size=2)
        async with asyncio.timeout(20):
            await reached.wait()
        half = record_of(parts, handle)
    assert half.state is MaintenanceState.RUNNING
    assert half.progress(SweepName.ARCHIVE_SESSIONS).done >= 4
    async with worker_over(client, settings) as parts:
        await handle.result()
        run = record_of(parts, handle)
        assert all(is_archived(parts.database, "learn_sessions", one) for one in old)
    progress = run.progress(SweepName.ARCHIVE_SESSIONS)
    assert (progress.examined, progress.done, run.state) == (6, 6, MaintenanceState.COMPLETED)


@pytest.mark.thorough
async def test_a_long_night_continues_as_new_and_keeps_its_counts(client: Client, tmp_path: Path) -> None:
    settings = stack_settings(tmp_path)
    async with worker_over(client, settings) as parts:
        for _ in range(5):
            add_session(parts.database, OLD)
        handle = await start(client, settings, page_size=1, pages_a_run=4)
        first_run = handle.first_execution_run_id
        end = await handle.result()
        last = await client.get_workflow_handle(handle.id).describe()
    assert last.run_id != first_run
    counts = {sweep.sweep: sweep.done for sweep in end.sweeps}
    assert counts[SweepName.ARCHIVE_SESSIONS] == counts[SweepName.PURGE_OBSERVATIONS] == 5


async def test_a_sweep_that_keeps_failing_is_given_up_and_the_others_run(
    client: Client, tmp_path: Path
) -> None:
    settings = stack_settings(tmp_path)

    def broken(parts: WorkerParts) -> WorkerParts:
        page = real_page(parts)

        @activity.defn(name="sweep_page")
        def sweep_page(request: SweepPage) -> Any:
            if request.sweep is SweepName.ARCHIVE_SESSIONS:
                raise ApplicationError("no such column", type="Broken", non_retryable=True)
            return page(request)

        return instead_of_page(parts, sweep_page)

    async with worker_over(client, settings, broken) as parts:
        old = add_session(parts.database, OLD)
        add_observations(parts.database, old, [False])
        handle = await start(client, settings)
        with pytest.raises(WorkflowFailureError) as caught:
            await handle.result()
        run = record_of(parts, handle)
        assert held(parts.database, old) == []
    assert isinstance(caught.value.cause, ApplicationError)
    assert caught.value.cause.type == FAILED
    assert run.state is MaintenanceState.FAILED
    assert run.progress(SweepName.ARCHIVE_SESSIONS).error == "Broken: no such column"
    assert run.error == "archive_sessions: Broken: no such column"
    assert run.availability_refreshed


async def test_a_damaged_journal_fails_the_night_and_says_where(client: Client, tmp_path: Path) -> None:
    settings = stack_settings(tmp_path)
    async with worker_over(client, settings) as parts:
        add_session(parts.database, OLD)
        await (await start(client, settings)).result()
        _damage(parts.database)
        handle = await start(client, settings)
        with pytest.raises(WorkflowFailureError):
            await handle.result()
        run = record_of(parts, handle)
    assert run.journal is not None
    assert not run.journal.intact
    assert "entry 1" in (run.journal.fault or "")


def _damage(database: Database) -> None:
    with database.write() as connection:
        connection.execute(update(tables.journal).where(tables.journal.c.seq == 1).values(owner="mallory"))


async def test_a_cancelled_night_says_so_and_the_next_one_finishes_it(client: Client, tmp_path: Path) -> None:
    settings = stack_settings(tmp_path)
    reached = asyncio.Event()
    loop = asyncio.get_running_loop()

    def waiting(parts: WorkerParts) -> WorkerParts:
        @activity.defn(name="sweep_page")
        async def sweep_page(_: SweepPage) -> None:
            loop.call_soon_threadsafe(reached.set)
            await activity.wait_for_worker_shutdown()

        return instead_of_page(parts, sweep_page)

    async with worker_over(client, settings, waiting) as parts:
        old = add_session(parts.database, OLD)
        handle = await start(client, settings)
        async with asyncio.timeout(20):
            await reached.wait()
        await handle.cancel()
        with pytest.raises(WorkflowFailureError):
            await handle.result()
        assert record_of(parts, handle).state is MaintenanceState.CANCELLED
    async with worker_over(client, settings) as parts:
        await (await start(client, settings)).result()
        assert is_archived(parts.database, "learn_sessions", old)


@pytest.mark.thorough
async def test_a_month_later_what_was_taught_still_works_and_only_the_rest_is_put_away(stack: Stack) -> None:
    alice, bob = stack.learner("alice"), stack.learner("bob")
    await bob.teach()
    await bob.propose_act("reject", {"reason": "not what I meant"})
    await alice.teach()
    await alice.propose_act("approve")
    await alice.create()
    await alice.observe()
    open_session = alice.session_id

    run_id = str(uuid4())
    later = MaintenancePosition(run_id=run_id, started_at=datetime.now(UTC) + days(31))
    handle = await start(stack.client, stack.settings, position=later)
    end = await handle.result()
    projector = Projector(stack.database, stack.settings.memory_root, stack.settings.workspace)
    projector.catch_up()

    done = {sweep.sweep: sweep.done for sweep in end.sweeps}
    assert done[SweepName.ARCHIVE_SESSIONS] == done[SweepName.PURGE_OBSERVATIONS] == 2
    assert done[SweepName.ARCHIVE_PROPOSALS] == 1
    assert not any(sweep.failed or sweep.error for sweep in end.sweeps)
    assert projector.verify().intact
    archived = stack.settings.memory_root / f"system/learning/archived/proposals/{bob.proposal_id}.json"
    kept = ArchivedProposal.model_validate_json(archived.read_text())
    assert kept.proposal.proposal_state is ProposalState.REJECTED
    assert len(kept.validation_runs) == 1
    assert kept.validation_steps

    assert (await bob.ok("GET", "/api/learn/sessions"))["total"] == 0
    assert (await bob.ok("GET", "/api/learn/history"))["items"][0]["outcome"] == "rejected"
    listed = (await alice.ok("GET", "/api/learn/sessions"))["sessions"]
    assert [one["learn_session_id"] for one in listed] == [open_session]
    assert len(held(stack.database, open_session)) == 4
    found = await alice.ok("POST", "/api/abilities/lookup", {"user_query": "summarise the sales figures"})
    assert found["matches"][0]["usable_now"] is True
    await alice.act("stop")
    await alice.propose()
    assert await alice.state() == "drafting_proposal"
