"""The run over everybody: pages with a cursor, one bad item skipped, new runs, lost answers, what the UI shows."""

from dataclasses import replace
from typing import Any
from uuid import uuid4

import anyio
import pytest
from sqlalchemy import update
from sqlalchemy.exc import OperationalError
from temporalio import activity
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHandle

from contracts.mining.runs import MiningPage, MiningRun, MiningRunState
from contracts.workflow_ids import MINING_SCHEDULE, NIGHTLY_SCHEDULE, REPROBE_SCHEDULE
from stores.mining.runs import MiningRunStore
from stores.platform import tables
from tests.e2e.test_skill_mining import allow, candidates, show
from tests.fixtures.stack import Stack, connect, running_stack, stack_settings
from worker.composition import WorkerParts, compose
from worker.schedule import build_mining_schedule, register_schedules
from workflows.mining.skill_mining_messages import MiningEnd, MiningStart
from workflows.mining.skill_mining_workflow import SkillMiningWorkflow

pytestmark = pytest.mark.anyio

Handle = WorkflowHandle[SkillMiningWorkflow, MiningEnd]


async def start(stack: Stack, **fields: Any) -> Handle:
    """A run over everybody."""
    begin = MiningStart(run_id=str(uuid4()), **fields)
    return await stack.client.start_workflow(
        SkillMiningWorkflow.run,
        begin,
        id=f"skill-mining-{begin.run_id}",
        task_queue=stack.settings.task_queue,
    )


def record_of(stack: Stack, handle: Handle) -> MiningRun:
    return MiningRunStore(stack.database).get(handle.id.removeprefix("skill-mining-"))


async def details_of(handle: WorkflowHandle[Any, Any]) -> str:
    answer: Any = await handle.query("__temporal_workflow_metadata")
    return str(answer.current_details)


@pytest.mark.thorough
async def test_everybody_is_looked_at_page_by_page_and_one_bad_capture_spoils_nothing(stack: Stack) -> None:
    people = [stack.learner(name) for name in ("ann", "bob", "cleo")]
    for learner in people:
        await allow(learner, mode="ask_before_build")
        for _ in range(3):
            await show(learner)
    bad = await show(people[1])
    with stack.database.write() as connection:
        table = tables.learn_sessions
        connection.execute(update(table).where(table.c.session_id == bad).values(aggregate="{}"))
    handle = await start(stack, page_size=1, pages_a_run=2)
    first_run = handle.first_execution_run_id
    end = await handle.result()
    assert (await handle.describe()).run_id != first_run, "it went on as a new run"
    assert end.progress == record_of(stack, handle).progress
    assert (end.progress.people, end.progress.traces, end.progress.candidates) == (3, 9, 3)
    assert (end.progress.failed, end.progress.cursor) == (1, "cleo")
    assert end.progress.failures[0].item == f"session {bad}"
    for learner in people:
        (found,) = await candidates(learner)
        assert found["candidate"]["owner_user_id"] == learner.user
    details = await details_of(handle)
    assert "| 3 | 0 | 9 | 0 | 3 | 3 | 0 | 0 | 1 |" in details
    assert "completed" in details


@pytest.mark.thorough
async def test_a_page_whose_answer_is_lost_is_looked_at_again_without_double_count(
    temporal_address: str, tmp_path: Any
) -> None:
    lost: list[str] = []

    def losing(settings: Any) -> WorkerParts:
        parts = compose(settings)
        real = next(one for one in parts.activities if one.__name__ == "mine_page")

        @activity.defn(name="mine_page")
        def mine_page(page: MiningPage) -> Any:
            done = real(page)
            if not lost:
                lost.append(page.run_id)
                raise OperationalError("", {}, Exception("the answer is lost"))
            return done

        others = [one for one in parts.activities if one.__name__ != "mine_page"]
        return replace(parts, activities=(*others, mine_page))

    client = await connect(temporal_address)
    async with running_stack(stack_settings(tmp_path), client, losing) as stack:
        learner = stack.learner()
        await allow(learner, mode="ask_before_build")
        for _ in range(3):
            await show(learner)
        end = await (await start(stack)).result()
        assert len(lost) == 1
        assert (end.progress.people, end.progress.traces) == (1, 3)
        assert len(await candidates(learner)) == 1


async def test_a_cancelled_run_says_so(temporal_address: str, tmp_path: Any) -> None:
    reached = anyio.Event()

    def waiting(settings: Any) -> WorkerParts:
        parts = compose(settings)

        @activity.defn(name="mine_page")
        async def mine_page(page: MiningPage) -> Any:
            reached.set()
            while True:
                activity.heartbeat()
                await anyio.sleep(0.05)

        others = [one for one in parts.activities if one.__name__ != "mine_page"]
        return replace(parts, activities=(*others, mine_page))

    client = await connect(temporal_address)
    async with running_stack(stack_settings(tmp_path), client, waiting) as stack:
        handle = await start(stack)
        with anyio.fail_after(30):
            await reached.wait()
        await handle.cancel()
        with anyio.fail_after(30):
            while (await handle.describe()).status is WorkflowExecutionStatus.RUNNING:
                await anyio.sleep(0.05)
        assert (await handle.describe()).status is WorkflowExecutionStatus.CANCELED
        assert record_of(stack, handle).state is MiningRunState.CANCELLED


async def test_the_build_is_a_workflow_of_its_own_that_tells_of_itself(stack: Stack) -> None:
    learner = stack.learner()
    await allow(learner)
    for _ in range(3):
        await show(learner)
    end = await (await start(stack)).result()
    assert (end.progress.built, end.progress.builds_failed) == (1, 0)
    (found,) = await candidates(learner)
    build = stack.client.get_workflow_handle(f"mined-skill/{found['candidate']['candidate_id']}")
    described = await build.describe()
    assert described.status is WorkflowExecutionStatus.COMPLETED
    assert described.search_attributes["ApprenticeOwner"] == [learner.user]
    assert "at: built" in await details_of(build)


async def test_the_schedule_is_registered_once_with_the_others(temporal_address: str, tmp_path: Any) -> None:
    client: Client = await connect(temporal_address)
    settings = stack_settings(tmp_path, nightly_at="02:45", timezone="Europe/Berlin")
    try:
        await register_schedules(client, settings)
        await register_schedules(client, settings)
        found = await client.get_schedule_handle(MINING_SCHEDULE).describe()
        assert found.info.last_updated_at is None or found.schedule.spec.time_zone_name == "Europe/Berlin"
        (at,) = build_mining_schedule(settings).spec.calendars
        assert [(r.start) for r in (*at.hour, *at.minute)] == [2, 45]
        assert found.schedule.action.task_queue == settings.task_queue  # type: ignore[union-attr]
    finally:
        for schedule in (MINING_SCHEDULE, NIGHTLY_SCHEDULE, REPROBE_SCHEDULE):
            await client.get_schedule_handle(schedule).delete()
