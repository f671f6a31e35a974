"""The schedule that looks at tool servers: there once, by the setting, never two sweeps at once."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.client import Client, ScheduleActionStartWorkflow, ScheduleOverlapPolicy
from temporalio.service import RPCError, RPCStatusCode

from contracts.workflow_ids import MCP_HEALTH_SCHEDULE, MINING_SCHEDULE, NIGHTLY_SCHEDULE, REPROBE_SCHEDULE
from tests.fixtures.stack import connect, stack_settings
from worker.schedule import register_schedules

pytestmark = pytest.mark.anyio


@pytest.fixture
async def client(temporal_address: str) -> AsyncIterator[Client]:
    """A client of the shared server; the schedules are removed before and afterwards."""
    client = await connect(temporal_address)
    await _remove(client)
    yield client
    await _remove(client)


async def _remove(client: Client) -> None:
    for schedule in (MCP_HEALTH_SCHEDULE, MINING_SCHEDULE, NIGHTLY_SCHEDULE, REPROBE_SCHEDULE):
        try:
            await client.get_schedule_handle(schedule).delete()
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise


async def test_it_is_registered_once_and_follows_the_setting(client: Client, tmp_path: Path) -> None:
    settings = stack_settings(tmp_path)
    for every in (timedelta(minutes=5), timedelta(minutes=5), timedelta(minutes=1)):
        await register_schedules(client, settings.model_copy(update={"mcp_probe_every": every}))
        found = await client.get_schedule_handle(MCP_HEALTH_SCHEDULE).describe()
        assert [one.every for one in found.schedule.spec.intervals] == [every]
        assert found.schedule.policy.overlap is ScheduleOverlapPolicy.SKIP
    action = found.schedule.action
    assert isinstance(action, ScheduleActionStartWorkflow)
    assert action.workflow == "McpHealthSweepWorkflow"
