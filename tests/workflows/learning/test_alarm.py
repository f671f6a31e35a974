"""The alarm clock of a session: never late, and one timer however often the deadline moves."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from uuid import uuid4

import pytest
from temporalio import workflow
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowHandle
from temporalio.testing import TimeSkipper
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from workflows.learning.session_core import Alarm

pytestmark = [pytest.mark.anyio, pytest.mark.everyday]

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)


@workflow.defn
class Sleeper:
    """Sets its alarm on request and records when it rang."""

    def __init__(self) -> None:
        self._alarm = Alarm()
        self._rang_at: list[datetime] = []

    @workflow.run
    async def run(self) -> None:
        while True:
            await workflow.wait_condition(lambda: self._alarm.rang)
            self._alarm.answer()
            self._rang_at.append(workflow.now())

    @workflow.update
    async def set_in(self, minutes: int | None) -> datetime:
        now = workflow.now()
        deadline = None if minutes is None else now + minutes * MINUTE
        self._alarm.set(deadline)
        assert self._alarm.is_set_for(deadline)
        return now

    @workflow.update
    async def first_ring(self) -> datetime:
        await workflow.wait_condition(lambda: bool(self._rang_at))
        return self._rang_at[0]

    @workflow.query
    def rang_at(self) -> list[datetime]:
        return self._rang_at


Handle = WorkflowHandle[Sleeper, None]


@pytest.fixture
async def sleeper(skipping_env: TimeSkipper) -> AsyncIterator[Handle]:
    queue = f"alarm-{uuid4()}"
    async with Worker(
        skipping_env.client,
        task_queue=queue,
        workflows=[Sleeper],
        workflow_runner=UnsandboxedWorkflowRunner(),
    ):
        handle = await skipping_env.client.start_workflow(Sleeper.run, id=queue, task_queue=queue)
        yield handle
        await handle.terminate()


async def timers_of(handle: Handle) -> int:
    history = await handle.fetch_history()
    return sum(event.event_type == EventType.EVENT_TYPE_TIMER_STARTED for event in history.events)


async def test_it_rings_when_it_was_set_to(skipping_env: TimeSkipper, sleeper: Handle) -> None:
    now = await sleeper.execute_update(Sleeper.set_in, 60)
    await skipping_env.fast_forward(sleeper, HOUR - MINUTE)
    assert await sleeper.query(Sleeper.rang_at) == []
    await skipping_env.fast_forward(sleeper, 2 * MINUTE)
    (rang_at,) = await sleeper.query(Sleeper.rang_at)
    assert now + HOUR <= rang_at < now + HOUR + MINUTE


async def test_a_deadline_that_moves_later_or_away_costs_no_timer_and_rings_early(
    skipping_env: TimeSkipper, sleeper: Handle
) -> None:
    now = await sleeper.execute_update(Sleeper.set_in, 60)
    for minutes in (90, None, 120, 240):
        await sleeper.execute_update(Sleeper.set_in, minutes)
    assert await timers_of(sleeper) == 1
    await skipping_env.fast_forward(sleeper, HOUR + MINUTE)
    (rang_at,) = await sleeper.query(Sleeper.rang_at)
    assert now + HOUR <= rang_at < now + HOUR + MINUTE


async def test_a_deadline_that_moves_earlier_is_kept(skipping_env: TimeSkipper, sleeper: Handle) -> None:
    await sleeper.execute_update(Sleeper.set_in, 600)
    now = await sleeper.execute_update(Sleeper.set_in, 60)
    await skipping_env.fast_forward(sleeper, HOUR + MINUTE)
    (rang_at,) = await sleeper.query(Sleeper.rang_at)
    assert now + HOUR <= rang_at < now + HOUR + MINUTE
    await skipping_env.fast_forward(sleeper, 10 * HOUR)
    assert await sleeper.query(Sleeper.rang_at) == [rang_at]


async def test_once_it_has_rung_it_can_be_set_again(skipping_env: TimeSkipper, sleeper: Handle) -> None:
    await sleeper.execute_update(Sleeper.set_in, 60)
    await skipping_env.fast_forward(sleeper, HOUR + MINUTE)
    await sleeper.execute_update(Sleeper.set_in, 60)
    await skipping_env.fast_forward(sleeper, HOUR + MINUTE)
    assert len(await sleeper.query(Sleeper.rang_at)) == 2


async def test_without_a_deadline_it_stays_silent(skipping_env: TimeSkipper, sleeper: Handle) -> None:
    await sleeper.execute_update(Sleeper.set_in, None)
    await skipping_env.fast_forward(sleeper, 100 * HOUR)
    assert await sleeper.query(Sleeper.rang_at) == []
    assert await timers_of(sleeper) == 0


async def test_a_deadline_that_has_passed_already_rings_at_once(
    skipping_env: TimeSkipper, sleeper: Handle
) -> None:
    now = await sleeper.execute_update(Sleeper.set_in, -60)
    await skipping_env.fast_forward(sleeper, MINUTE)
    assert now <= await sleeper.execute_update(Sleeper.first_ring) < now + 2 * MINUTE


async def test_the_same_deadline_set_again_costs_no_second_timer(
    skipping_env: TimeSkipper, sleeper: Handle
) -> None:
    await sleeper.execute_update(Sleeper.set_in, 60)
    await sleeper.execute_update(Sleeper.set_in, 60)
    assert await timers_of(sleeper) == 1
