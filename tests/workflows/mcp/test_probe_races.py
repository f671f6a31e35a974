"""Crowds that have one tool server looked at: each look under its key once, and no workflow that goes on for ever."""

import anyio
import httpx
import pytest
from temporalio.client import WorkflowExecutionStatus

from contracts.workflow_ids import mcp_probe_id
from stores.platform.journal.chains import verify_chains
from tests.fixtures.crowds import CROWDED, ROUNDS, all_answered, each_crowd
from tests.fixtures.learner import WAIT_AT_MOST_SECONDS
from tests.fixtures.tool_calls import ToolUser

pytestmark = [*CROWDED, pytest.mark.thorough]


@each_crowd
async def test_of_a_crowd_that_tests_a_server_each_key_is_one_look(agent: ToolUser, crowd: int) -> None:
    path = f"/api/mcp/servers/{agent.server_id}/smoke-test"
    known: set[str] = set()
    for seed in range(ROUNDS):
        # Every third one asks under the key of its neighbour, as a client that lost its answer does.
        keys = [f"{seed}-{number - (number % 3 == 2)}" for number in range(crowd)]

        async def look(key: str) -> httpx.Response:
            return await agent.person.call("POST", path, {"server_id": agent.server_id}, idempotency_key=key)

        answers = await all_answered(keys, look)
        assert {(one.status_code, one.json()["status"]) for one in answers} == {(200, "passed")}
        said = dict(zip(keys, (one.text for one in answers), strict=True))
        assert [one.text for one in answers] == [said[key] for key in keys]
        known |= set(keys)
        assert await looks(agent) == len(known)
        assert [one.text for one in await all_answered(keys, look)] == [said[key] for key in keys]
        assert await looks(agent) == len(known)
    await closed(agent)
    assert verify_chains(agent.stack.database).intact


@each_crowd
async def test_a_crowd_that_looks_at_a_server_while_it_is_deleted_hears_that_it_is_gone(
    agent: ToolUser, crowd: int
) -> None:
    path = f"/api/mcp/servers/{agent.server_id}"

    async def send(number: int) -> httpx.Response:
        if number % 4 == 1:
            return await agent.person.call("DELETE", path, idempotency_key=f"delete-{number}")
        body = {"server_id": agent.server_id}
        return await agent.person.call("POST", f"{path}/smoke-test", body, idempotency_key=f"look-{number}")

    answers = await all_answered(range(crowd), send)
    refused = {one.json()["error"]["code"] for one in answers if not one.is_success}
    assert refused <= {"MCP_SERVER_NOT_FOUND"}
    assert any(one.is_success for one in answers[1::4])
    listed = await agent.person.ok("GET", "/api/mcp/servers")
    assert agent.server_id not in {one["registry"]["server_id"] for one in listed["servers"]}
    await closed(agent)


async def looks(agent: ToolUser) -> int:
    """How many looks of a person at the server are on record."""
    found: list[str] = []
    cursor = ""
    while True:
        page = await agent.person.ok("GET", f"/api/mcp/receipts?limit=100{cursor}")
        found += [one["receipt_id"] for one in page["receipts"] if one["receipt_kind"] == "smoke_test"]
        if page.get("next_cursor") is None:
            return len(found)
        cursor = f"&cursor={page['next_cursor']}"


async def closed(agent: ToolUser) -> None:
    """Waits until the server's workflow has ended."""
    handle = agent.stack.client.get_workflow_handle(mcp_probe_id(agent.server_id))
    with anyio.fail_after(WAIT_AT_MOST_SECONDS):
        while (await handle.describe()).status is WorkflowExecutionStatus.RUNNING:
            await anyio.sleep(0.05)
