"""A skill that was shown with a tool server is bound to it: to the tool as it was, and to the server's health."""

from datetime import UTC, datetime

import pytest

from contracts.mcp.health import MCPConnectionOutcome
from contracts.mcp.tools import ToolFailure, ToolFailureKind
from stores.abilities.ability_rows import manifest_of
from stores.mcp.servers.health import HealthStore
from tests.fixtures.installed import pass_smoke_test
from tests.fixtures.tool_calls import ToolUser

pytestmark = pytest.mark.anyio


async def drafted_with_the_server(agent: ToolUser) -> None:
    """A proposal that was drafted by watching one call of ``append_line``."""
    person = agent.person
    await person.create(observation_mode="inside_agent")
    await person.act("start")
    await person.act("mark-goal", {"goal_description": "Put milk on the list"})
    asked = await agent.ask("append_line", {"line": "milk"}, learn_session_id=person.session_id)
    await agent.approve(asked["dispatch_id"])
    assert (await agent.ended(asked["dispatch_id"]))["status"] == "completed"
    await person.act("stop")
    await person.propose()


async def taught_with_the_server(agent: ToolUser) -> str:
    """An ability that was learned so; its id."""
    person = agent.person
    await drafted_with_the_server(agent)
    assert await person.prove() == "ready_for_review"
    done = await person.propose_act("approve", {"accept_unproved": True})
    return str(done["proposal"]["ability_id"])


async def test_a_skill_is_bound_to_the_tool_as_it_was_shown_and_degrades_when_its_server_keeps_failing(
    agent: ToolUser,
) -> None:
    person = agent.person
    ability_id = await taught_with_the_server(agent)
    with agent.stack.database.read() as connection:
        manifest = manifest_of(connection, ability_id)
    assert manifest is not None
    listed = await person.ok("GET", f"/api/mcp/servers/{agent.server_id}/tools")
    tool = next(one for one in listed["tools"] if one["definition"]["tool_name"] == "append_line")
    (bound,) = manifest.tool_bindings
    assert (bound.server_id, bound.tool_name, bound.ask_first) == (agent.server_id, "append_line", True)
    assert bound.definition_hash == tool["definition_hash"]
    assert f"mcp_server:{agent.server_id}" in manifest.required_runtime_caps

    servers = (await person.ok("GET", "/api/mcp/servers"))["servers"]
    (linked,) = next(one for one in servers if one["registry"]["server_id"] == agent.server_id)[
        "linked_abilities"
    ]
    assert (linked["ability_id"], linked["relation"]) == (ability_id, "primary")

    pass_smoke_test(agent.stack.database, manifest.capability_id)
    (entry,) = (await person.ok("GET", "/api/capabilities/bridge"))["entries"]
    assert entry["health_status"] == "healthy"
    lost = ToolFailure(kind=ToolFailureKind.CONNECTION_LOST, message="it hung up")
    health = HealthStore(agent.stack.database)
    for _ in range(3):
        for failure in (lost, lost, lost, None):
            health.record(
                agent.server_id,
                person.user,
                MCPConnectionOutcome(happened_at=datetime.now(UTC), failure=failure),
            )
    (capability,) = (await person.ok("GET", "/api/capabilities/health"))["capabilities"]
    assert (capability["health_status"], "matching_failures" in capability["reason_codes"]) == (
        "degraded",
        True,
    )
    (entry,) = (await person.ok("GET", "/api/capabilities/bridge"))["entries"]
    assert (entry["health_status"], entry["health_reason_code"]) == ("degraded", "matching_failures")
