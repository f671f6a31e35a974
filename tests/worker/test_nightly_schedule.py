"""The nightly schedule: there once a worker has started, right after settings change, paused while paused."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionExecutionStartWorkflow,
    ScheduleActionStartWorkflow,
    ScheduleDescription,
    ScheduleHandle,
    ScheduleOverlapPolicy,
)
from temporalio.service import RPCError, RPCStatusCode

from config.settings import prepare_data_dir
from contracts.maintenance.runs import MaintenanceState, MaintenanceTrigger
from contracts.workflow_ids import NIGHTLY_SCHEDULE
from gateways.platform.payload_signing import is_signed, signing_data_converter
from stores.maintenance.runs import MaintenanceStore
from stores.platform.database import Database, PageRequest
from tests.fixtures.databases import migrated
from tests.fixtures.stack import connect, stack_settings
from worker.main import _work
from worker.schedule import build_schedule, register_schedule

pytestmark = pytest.mark.anyio


@pytest.fixture
async def client(temporal_address: str) -> AsyncIterator[Client]:
    """A client of the shared server; the schedule is removed afterwards."""
    client = await connect(temporal_address)
    yield client
    try:
        await client.get_schedule_handle(NIGHTLY_SCHEDULE).delete()
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise


async def described(client: Client) -> ScheduleDescription:
    return await client.get_schedule_handle(NIGHTLY_SCHEDULE).describe()


def action_of(schedule: Schedule) -> ScheduleActionStartWorkflow:
    assert isinstance(schedule.action, ScheduleActionStartWorkflow)
    return schedule.action


def test_the_schedule_follows_the_settings(tmp_path: Path) -> None:
    settings = stack_settings(tmp_path, timezone="Europe/Berlin", nightly_at="02:45")
    schedule = build_schedule(settings)
    (at,) = schedule.spec.calendars
    assert [(at.hour[0].start, at.minute[0].start)] == [(2, 45)]
    assert schedule.spec.time_zone_name == "Europe/Berlin"
    assert schedule.spec.jitter is None
    assert schedule.policy.overlap is ScheduleOverlapPolicy.SKIP
    assert schedule.policy.catchup_window == timedelta(hours=24)
    assert action_of(schedule).task_queue == settings.task_queue


async def test_it_runs_once_a_day_at_the_local_time(client: Client, tmp_path: Path) -> None:
    await register_schedule(client, stack_settings(tmp_path, timezone="Asia/Kolkata", nightly_at="02:45"))
    nights = (await described(client)).info.next_action_times[:3]
    assert [(at.hour, at.minute) for at in nights] == [(21, 15)] * 3
    assert nights[1] - nights[0] == timedelta(days=1)


async def test_registering_again_changes_nothing_and_a_new_setting_changes_the_time(
    client: Client, tmp_path: Path
) -> None:
    settings = stack_settings(tmp_path)
    await register_schedule(client, settings)
    await register_schedule(client, settings)
    assert (await described(client)).info.last_updated_at is None
    await register_schedule(client, settings.model_copy(update={"nightly_at": "04:30"}))
    changed = await described(client)
    assert changed.info.last_updated_at is not None
    assert (changed.info.next_action_times[0].hour, changed.info.next_action_times[0].minute) == (4, 30)


async def test_a_paused_schedule_stays_paused_when_workers_start_and_settings_change(
    client: Client, tmp_path: Path
) -> None:
    settings = stack_settings(tmp_path)
    await register_schedule(client, settings)
    await client.get_schedule_handle(NIGHTLY_SCHEDULE).pause(note="moving house")
    await register_schedule(client, settings)
    await register_schedule(client, settings.model_copy(update={"nightly_at": "05:00"}))
    schedule = (await described(client)).schedule
    assert (schedule.state.paused, schedule.state.note) == (True, "moving house")
    assert schedule.spec.calendars[0].hour[0].start == 5


async def test_a_schedule_of_a_version_that_did_not_sign_is_registered_anew(
    client: Client, tmp_path: Path
) -> None:
    settings = stack_settings(tmp_path)
    await register_schedule(client, settings)
    config = client.config()
    config["data_converter"] = signing_data_converter(settings.data_dir)
    signing = Client(**config)
    await register_schedule(signing, settings)
    assert all(map(is_signed, action_of((await described(client)).schedule).args))
    brought_up = (await described(client)).info.last_updated_at
    await register_schedule(signing, settings)
    assert (await described(client)).info.last_updated_at == brought_up


async def test_a_started_worker_has_the_schedule_and_its_trigger_runs_a_night(
    client: Client, temporal_address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", temporal_address)
    settings = stack_settings(tmp_path)
    prepare_data_dir(settings)
    migrated(settings.database_url)
    worker = asyncio.create_task(_work(settings))
    try:
        async with asyncio.timeout(30):
            handle = await _schedule(client, settings.task_queue)
            await handle.trigger()
            while not (recent := (await handle.describe()).info.recent_actions):
                await asyncio.sleep(0.05)
            started = recent[0].action
            assert isinstance(started, ScheduleActionExecutionStartWorkflow)
            await client.get_workflow_handle(started.workflow_id).result()
    finally:
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)
    assert started.workflow_id.startswith(f"{NIGHTLY_SCHEDULE}-")
    database = Database(settings.database_url)
    (run,) = MaintenanceStore(database).page(PageRequest()).runs
    database.close()
    assert (run.trigger, run.state) == (MaintenanceTrigger.SCHEDULE, MaintenanceState.COMPLETED)
    assert run.workflow_id == started.workflow_id


async def _schedule(client: Client, task_queue: str) -> ScheduleHandle:
    """The schedule, once this test's worker has made it."""
    handle = client.get_schedule_handle(NIGHTLY_SCHEDULE)
    while True:
        try:
            found = await handle.describe()
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
        else:
            if action_of(found.schedule).task_queue == task_queue:
                return handle
        await asyncio.sleep(0.05)
