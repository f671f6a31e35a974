"""Temporal is killed while lessons are under way, and once it loses its database with it."""

import anyio
import httpx
import pytest

from tests.faults.deployment import Deployment
from tests.faults.patience import eventually
from tests.faults.patient_learner import PatientLearner
from tests.faults.traps import HOLD
from tests.faults.verdict import (
    assert_installed_once,
    assert_sound,
    demonstrate,
    receipts_of,
    shown_by,
    teach,
)

pytestmark = pytest.mark.anyio


class Lessons:
    """Five users, each somewhere else in a lesson."""

    def __init__(self, deployment: Deployment, http: httpx.AsyncClient) -> None:
        self.armed, self.capturing, self.asked, self.testing, self.installing = (
            deployment.learner(http) for _ in range(5)
        )
        self._deployment = deployment

    async def begin(self) -> None:
        """Takes each user there. Workers stand still in the check and in the step they have come to."""
        await self.armed.create()
        await self.capturing.create()
        await self.capturing.act("start")
        await self.capturing.observe(shown_by(self.capturing))
        await demonstrate(self.asked, ask_before_build=True)
        await self.asked.propose()
        await demonstrate(self.testing)
        await self.testing.propose()
        await teach(self.installing)

    async def interrupt(self) -> None:
        """A check and a step have begun when Temporal and every worker die."""
        traps = self._deployment.traps
        check, step = "run_check.dry_run.before", "install_step.project_workspace.after"
        traps.set(check, HOLD)
        traps.set(step, HOLD)
        async with anyio.create_task_group() as group:
            group.start_soon(self.testing.propose_act, "validate")
            group.start_soon(self.installing.propose_act, "approve")
            await traps.victim(check)
            await traps.victim(step)
            self._deployment.temporal.kill()
            self._deployment.kill_workers()
            # The client of the approval goes away as well: nobody was told how it ended.
            group.cancel_scope.cancel()
        traps.clear()

    async def finish(self) -> None:
        """Each lesson goes on from where it was, as if nothing had happened."""
        await self.armed.act("start")
        await self.armed.act("cancel")
        await self.capturing.act("mark-goal", {"goal_description": f"Prepare {self.capturing.user}"})
        await self.capturing.act("stop")
        await self.capturing.propose()
        detail = await self.asked.ok("GET", f"/api/learn/proposals/{self.asked.proposal_id}/detail")
        answers = [
            {"question_id": question["question_id"], "answer_text": "Whenever it is asked"}
            for question in detail["questions"]
        ]
        await self.asked.act("answer-questions", {"answers": answers})
        assert await self.asked.state() == "drafting_proposal"
        assert await self.testing.settled("testing_proposal") == "ready_for_review"
        assert await self.installing.settled("ready_for_review") == "approved"


@pytest.fixture
async def lessons(deployment: Deployment, http: httpx.AsyncClient) -> Lessons:
    found = Lessons(deployment, http)
    await found.begin()
    return found


async def assert_unavailable_for_now(learner: PatientLearner) -> None:
    response = await learner.call_once("POST", f"/api/learn/sessions/{learner.session_id}/cancel")
    assert (response.status_code, response.json()["error"]["code"]) == (503, "TEMPORAL_UNAVAILABLE")
    assert int(response.headers["retry-after"]) > 0


@pytest.mark.parametrize(
    "loses_its_data",
    [False, True],
    ids=["database-kept", "database-lost"],
)
async def test_every_lesson_goes_on_after_temporal_was_killed(
    deployment: Deployment, lessons: Lessons, loses_its_data: bool
) -> None:
    await lessons.interrupt()
    if not loses_its_data:
        await assert_unavailable_for_now(lessons.armed)
    assert await lessons.armed.state() == "armed"
    observed = await lessons.capturing.observe(shown_by(lessons.capturing))
    assert (observed["accepted"], observed["session_state"]) == (1, "capturing")

    if loses_its_data:
        deployment.temporal.lose_everything()
    await deployment.temporal.start()
    deployment.start_workers()
    await lessons.finish()

    captured = await lessons.capturing.ok(
        "GET", f"/api/learn/sessions/{lessons.capturing.session_id}/observations"
    )
    assert captured["total"] == 2
    assert await receipts_of(lessons.armed) == (
        "session_started",
        "observation_armed",
        "capture_started",
        "cancelled",
    )
    await lessons.testing.propose_act("approve")
    await assert_installed_once(deployment, lessons.testing)
    await assert_installed_once(deployment, lessons.installing)
    await assert_sound(deployment)


async def test_deadlines_run_again_after_temporal_lost_its_data_under_running_workers(
    deployment: Deployment, http: httpx.AsyncClient
) -> None:
    alice = deployment.learner(http)
    await alice.create()
    deployment.temporal.kill()
    deployment.temporal.lose_everything()
    await deployment.temporal.start()
    async with deployment.replacing_workers():
        await eventually(lambda: deployment.has_timer_of(alice.session_id), "its deadline does not run")
