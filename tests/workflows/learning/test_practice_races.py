"""Crowds that start a practice, and stop its session: one practice, and none that is left running."""

from pathlib import Path
from typing import Any

import anyio
import httpx
from temporalio.client import WorkflowExecutionStatus

from contracts.workflow_ids import practice_id
from tests.fixtures.crowds import CROWDED, ROUNDS, all_answered, each_crowd
from tests.fixtures.learner import Learner
from tests.fixtures.practising import TASK, begin, ended
from tests.fixtures.stack import Stack

pytestmark = [*CROWDED]

OTHER: dict[str, Any] = {**TASK, "goal": "Sort something else"}


@each_crowd
async def test_of_a_crowd_that_starts_one_practice_runs_and_a_cancel_ends_it(
    stack: Stack, crowd: int, tmp_path: Path
) -> None:
    for seed in range(ROUNDS):
        alice = stack.learner(f"alice-{seed}")
        await begin(alice)
        asked: list[tuple[int, dict[str, Any]]] = [
            (number, OTHER if number % 4 == 3 else TASK) for number in range(crowd)
        ]

        async def start(one: tuple[int, dict[str, Any]], alice: Learner = alice) -> httpx.Response:
            path = f"/api/learn/sessions/{alice.session_id}/practice"
            return await alice.call("POST", path, one[1], idempotency_key=f"start-{one[0]}")

        answers = await all_answered(asked, start)
        assert {one.json()["workflow_id"] for one in answers if one.is_success} == {
            practice_id(alice.session_id)
        }

        async def cancel(number: int, alice: Learner = alice) -> httpx.Response:
            path = f"/api/learn/sessions/{alice.session_id}/cancel"
            return await alice.call("POST", path, idempotency_key=f"cancel-{number}")

        cancelled = await all_answered(range(crowd), cancel)
        assert any(one.is_success for one in cancelled)
        assert (await ended(alice))["state"] != "running"
        handle = stack.client.get_workflow_handle(practice_id(alice.session_id))
        with anyio.fail_after(30):
            while (await handle.describe()).status is WorkflowExecutionStatus.RUNNING:
                await anyio.sleep(0.05)
