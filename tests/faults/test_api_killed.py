"""The API is killed after something was done and before anybody was told: asking again answers the first time."""

import anyio
import httpx
import pytest

from tests.faults.deployment import Deployment
from tests.faults.verdict import assert_installed_once, receipts_of, shown_by, teach

pytestmark = pytest.mark.anyio


async def test_a_command_repeated_with_its_key_answers_what_was_done_the_first_time(
    deployment: Deployment, http: httpx.AsyncClient
) -> None:
    alice = deployment.learner(http)
    deployment.traps.set("answer.sessions")
    body = {"entry_mode": "demonstrating_skill", "observation_mode": "outside_agent"}
    with pytest.raises(httpx.TransportError):
        await alice.call("POST", "/api/learn/sessions", body, idempotency_key="the-same")
    await deployment.api_has_died()
    await deployment.start_api()
    created = await alice.ok("POST", "/api/learn/sessions", body, idempotency_key="the-same")
    alice.session_id = created["session"]["learn_session_id"]
    assert (await alice.ok("GET", "/api/learn/sessions"))["total"] == 1
    assert await receipts_of(alice) == ("session_started", "observation_armed")
    await alice.act("cancel")

    await teach(alice)
    path = f"/api/learn/proposals/{alice.proposal_id}/approve"
    deployment.traps.set("answer.approve")
    with pytest.raises(httpx.TransportError):
        await alice.call("POST", path, idempotency_key="approve-once")
    await deployment.api_has_died()
    await deployment.start_api()
    answers = [await alice.ok("POST", path, idempotency_key="approve-once") for _ in range(2)]
    assert answers[0] == answers[1]
    assert answers[0]["proposal"]["proposal_state"] == "approved"
    await assert_installed_once(deployment, alice)


async def test_what_was_observed_is_kept_once_when_the_answer_was_lost(
    deployment: Deployment, http: httpx.AsyncClient
) -> None:
    alice = deployment.learner(http)
    await alice.create()
    await alice.act("start")
    path = f"/api/learn/sessions/{alice.session_id}/observations"
    batches = [{"events": alice.events(shown_by(alice) * 5)} for _ in range(8)]
    acknowledged: list[int] = []

    async def report(number: int) -> None:
        try:
            await alice.ok("POST", path, batches[number])
        except httpx.TransportError:
            return
        acknowledged.append(number)

    assert (await alice.ok("POST", path, batches[0]))["accepted"] == 5
    deployment.traps.set("answer.observations")
    async with anyio.create_task_group() as group:
        for number in range(1, len(batches)):
            group.start_soon(report, number)
    await deployment.api_has_died()
    await deployment.start_api()

    assert len(acknowledged) < len(batches) - 1
    for number in acknowledged:
        assert (await alice.ok("POST", path, batches[number]))["duplicate"] == 5
    for batch in batches:
        answer = await alice.ok("POST", path, batch)
        assert answer["accepted"] + answer["duplicate"] == 5
    assert (await alice.ok("GET", path))["total"] == 5 * len(batches)
    stopped = await alice.act("stop")
    assert stopped["captured_event_count"] == 5 * len(batches)
