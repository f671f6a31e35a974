"""A proposal's portability grade, and the adapter that a person asks for where something is missing."""

import json

import pytest

from stores.platform.projection.projector import Projector
from tests.e2e.test_tool_bindings import drafted_with_the_server
from tests.fixtures.tool_calls import ToolUser

pytestmark = pytest.mark.anyio


async def test_a_proposal_whose_server_is_gone_needs_an_adapter_which_can_be_asked_for(
    agent: ToolUser,
) -> None:
    person = agent.person
    await drafted_with_the_server(agent)
    path = f"/api/learn/proposals/{person.proposal_id}"
    before = (await person.ok("GET", f"{path}/detail"))["portability"]
    assert before == {"portability_grade": "direct", "findings": [], "adapter_requests": []}

    await person.ok("DELETE", f"/api/mcp/servers/{agent.server_id}")
    graded = (await person.ok("GET", f"{path}/detail"))["portability"]
    assert graded["portability_grade"] == "adapter_required"
    assert [one["code"] for one in graded["findings"]] == ["CONNECTOR_MISSING"]
    assert agent.server_id in graded["findings"][0]["message"]

    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    wish = {"wanted": f"The list server, with {secret}"}
    asked = await person.ok("POST", f"{path}/request-adapter", wish, idempotency_key="once")
    assert asked == await person.ok("POST", f"{path}/request-adapter", wish, idempotency_key="once")
    shown = (await person.ok("GET", f"{path}/detail"))["portability"]
    assert shown == asked
    (request,) = shown["adapter_requests"]
    assert request["portability_grade"] == "adapter_required"
    assert request["missing"] == [graded["findings"][0]["message"]]
    assert secret not in request["wanted"]

    stack = agent.stack
    Projector(stack.database, stack.settings.memory_root, stack.settings.workspace).catch_up()
    handed_over = stack.settings.memory_root / "system/capabilities/adapter_requests.jsonl"
    assert [json.loads(line) for line in handed_over.read_text().splitlines()] == [request]
    mallory = stack.learner("mallory")
    status, error = await mallory.refused("POST", f"{path}/request-adapter", wish)
    assert (status, error["code"]) == (404, "PROPOSAL_NOT_FOUND")
