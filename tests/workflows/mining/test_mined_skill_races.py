"""Seeded crowds that accept and dismiss one mined candidate: one of the two holds, and at most one session is built."""

from random import Random
from typing import Any

import anyio
import httpx
import pytest
from temporalio.client import WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from contracts.workflow_ids import mined_skill_id
from stores.platform.journal.chains import verify_chains
from tests.e2e.test_skill_mining import allow, candidates, mine, show
from tests.fixtures.crowds import CROWDED, ROUNDS, all_answered, each_crowd
from tests.fixtures.learner import WAIT_AT_MOST_SECONDS, Learner
from tests.fixtures.stack import Stack

pytestmark = [*CROWDED, pytest.mark.thorough]


@each_crowd
async def test_of_a_crowd_that_accepts_and_dismisses_a_candidate_one_holds(stack: Stack, crowd: int) -> None:
    for seed in range(ROUNDS):
        alice = stack.learner(f"alice-{seed}")
        await allow(alice, mode="ask_before_build")
        shown = {await show(alice) for _ in range(3)}
        await mine(alice)
        (found,) = await candidates(alice)
        candidate_id = found["candidate"]["candidate_id"]
        verbs = Random(seed).choices(("accept", "dismiss"), weights=(3, 1), k=crowd)

        async def send(
            one: tuple[int, str], alice: Learner = alice, candidate_id: str = candidate_id
        ) -> httpx.Response:
            path = f"/api/learn/mining/candidates/{candidate_id}/{one[1]}"
            return await alice.call("POST", path, idempotency_key=f"{one[1]}-{one[0]}")

        asked = list(enumerate(verbs))
        answers = await all_answered(asked, send)
        taken = {verb for verb, one in zip(verbs, answers, strict=True) if one.is_success}
        refused = {one.json()["error"]["code"] for one in answers if not one.is_success}
        (candidate,) = [one["candidate"] for one in await candidates(alice)]
        sessions = await alice.ok("GET", "/api/learn/sessions?page_size=100")
        built = {one["learn_session_id"] for one in sessions["sessions"]} - shown
        assert refused <= {"CONFLICT"}
        assert len(taken) == 1
        # Who wants what holds is told so, and sent away by nothing that happened on the way.
        assert all(one.is_success for verb, one in zip(verbs, answers, strict=True) if verb in taken)
        if taken == {"accept"}:
            assert candidate["state"] == "built"
            assert built == {candidate["learn_session_id"]}
            assert {session_of(one) for one in answers if one.is_success} == built
        else:
            assert (candidate["state"], built) == ("dismissed", set())
        repeated = await all_answered(asked, send)
        assert [one.is_success for one in repeated] == [one.is_success for one in answers]
        await ended(stack, candidate_id)
    assert verify_chains(stack.database).intact


def session_of(answer: httpx.Response) -> Any:
    return answer.json()["candidate"]["learn_session_id"]


async def ended(stack: Stack, candidate_id: str) -> None:
    """Waits until no build of the candidate runs, if one ever did."""
    handle = stack.client.get_workflow_handle(mined_skill_id(candidate_id))
    with anyio.fail_after(WAIT_AT_MOST_SECONDS):
        try:
            while (await handle.describe()).status is WorkflowExecutionStatus.RUNNING:
                await anyio.sleep(0.05)
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
