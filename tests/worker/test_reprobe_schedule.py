"""The schedule that rechecks capabilities: there once, right after settings change, paused while paused."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.client import Client, ScheduleDescription, ScheduleOverlapPolicy
from temporalio.service import RPCError, RPCStatusCode

from contracts.workflow_ids import NIGHTLY_SCHEDULE, REPROBE_SCHEDULE
from tests.fixtures.stack import connect, stack_settings
from worker.schedule import register_schedules

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]


@pytest.fixture
async def client(temporal_address: str) -> AsyncIterator[Client]:
    """A client of the shared server; the schedules are removed before and afterwards."""
    client = await connect(temporal_address)
    await _remove(client)
    yield client
    await _remove(client)


async def _remove(client: Client) -> None:
    for schedule in (NIGHTLY_SCHEDULE, REPROBE_SCHEDULE):
        try:
            await client.get_schedule_handle(schedule).delete()
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise


async def described(client: Client) -> ScheduleDescription:
    return await client.get_schedule_handle(REPROBE_SCHEDULE).describe()


async def test_it_is_registered_once_and_follows_the_setting(client: Client, tmp_path: Path) -> None:
    settings = stack_settings(tmp_path)
    await register_schedules(client, settings)
    await register_schedules(client, settings)
    first = await described(client)
    assert first.info.last_updated_at is None
    assert [one.every for one in first.schedule.spec.intervals] == [timedelta(hours=1)]
    assert first.schedule.policy.overlap is ScheduleOverlapPolicy.SKIP
    await register_schedules(client, settings.model_copy(update={"reprobe_every": timedelta(minutes=10)}))
    changed = await described(client)
    assert [one.every for one in changed.schedule.spec.intervals] == [timedelta(minutes=10)]


async def test_it_stays_paused_when_workers_start(client: Client, tmp_path: Path) -> None:
    settings = stack_settings(tmp_path)
    await register_schedules(client, settings)
    await client.get_schedule_handle(REPROBE_SCHEDULE).pause(note="moving house")
    await register_schedules(client, settings.model_copy(update={"reprobe_every": timedelta(minutes=30)}))
    schedule = (await described(client)).schedule
    assert (schedule.state.paused, schedule.state.note) == (True, "moving house")
    assert [one.every for one in schedule.spec.intervals] == [timedelta(minutes=30)]
