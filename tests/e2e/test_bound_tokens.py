"""A token that is bound to an agent runtime: the lists of policy hold for it whatever it says of itself."""

from dataclasses import replace
from typing import Any

import pytest
from mcp_types import CallToolResult

from tests.e2e.calling import READ, SCOPES, Calling, calling
from tests.fixtures.agents import agent, answer, refusal
from tests.fixtures.served import served

__all__ = ["calling"]

pytestmark = pytest.mark.anyio

NO_SERVERS = {"provider": "openai", "allow_mcp": False}


@pytest.fixture
async def bound(calling: Calling) -> Calling:
    """An agent of Alice's whose token is of the runtime codex; openai's and codex's own may use no tool server."""
    for provider in ("openai", "codex"):
        await calling.person.ok("PUT", "/api/mcp/policy/runtimes", {**NO_SERVERS, "provider": provider})
    wanted = {"name": "agent", "scopes": SCOPES, "runtime": "codex"}
    made = await calling.person.ok("POST", "/api/tokens", wanted)
    return replace(calling, person=replace(calling.person, secret=made["secret"]))


async def test_a_call_is_judged_by_the_lists_of_the_tokens_runtime_where_it_names_none(
    calling: Calling, bound: Calling
) -> None:
    assert (await calling.call(READ))["status"] == "completed"
    blocked = await bound.call(READ)
    assert blocked["verdict"]["reason_code"] == "runtime_not_allowed"
    assert blocked["caller"]["runtime"] == "codex"
    for same in (" Codex ", "codex-cli", ""):
        assert (await bound.call(READ, runtime=same))["caller"]["runtime"] == "codex"


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/api/mcp/dispatches", READ),
        ("/api/mcp/route/explain", {"tool_name": READ["tool_name"]}),
        ("/api/capabilities/explain", {"capability_id": "any"}),
        ("/api/tokens", {"name": "another", "scopes": ["call"]}),
    ],
)
async def test_it_is_no_other_runtime_and_makes_no_token_of_another(
    bound: Calling, path: str, asked: dict[str, Any]
) -> None:
    body = {**asked, "runtime": "openclaw"}
    if path == "/api/mcp/dispatches":
        body["server_id"] = bound.server_id
    status, error = await bound.person.refused("POST", path, body)
    assert (status, error["code"]) == (403, "FORBIDDEN")
    assert "bound to the runtime codex" in error["message"]
    assert bound.server.effects() == []


async def test_a_token_that_it_makes_is_of_its_runtime_too(bound: Calling) -> None:
    made = await bound.person.ok("POST", "/api/tokens", {"name": "another", "scopes": ["read", "call"]})
    assert made["token"]["runtime"] == "codex"
    child = replace(bound.person, secret=made["secret"])
    assert (await child.ok("GET", "/api/me"))["runtime"] == "codex"


async def test_the_way_of_a_call_is_explained_by_the_lists_of_the_tokens_runtime(
    calling: Calling, bound: Calling
) -> None:
    for asked in ({"tool_name": READ["tool_name"]}, {"action_class": "read"}):
        mine = await calling.person.ok("POST", "/api/mcp/route/explain", asked)
        assert mine["server_id"] == calling.server_id
        theirs = await bound.person.ok("POST", "/api/mcp/route/explain", asked)
        assert theirs["server_id"] is None


async def test_a_smoke_test_calls_no_tool_that_the_tokens_runtime_is_asked_about(calling: Calling) -> None:
    lists = {"provider": "codex", "ask_first_servers": [calling.server_id]}
    await calling.person.ok("PUT", "/api/mcp/policy/runtimes", lists)
    path, body = f"/api/mcp/servers/{calling.server_id}/smoke-test", {"server_id": calling.server_id}
    asked = {**body, "tool_name": READ["tool_name"]}
    assert (await calling.person.ok("POST", path, asked))["status"] == "passed"
    wanted = {"name": "agent", "scopes": SCOPES, "runtime": "codex"}
    agents = replace(
        calling.person, secret=(await calling.person.ok("POST", "/api/tokens", wanted))["secret"]
    )
    tested = await agents.ok("POST", path, {**asked, "client_request_id": "again"})
    assert (tested["status"], tested["error_code"]) == ("blocked", "MCP_ASK_FIRST_REQUIRED")
    waiting = await calling.person.ok("GET", "/api/mcp/dispatches?status=pending_approval")
    assert waiting["dispatches"] == []


async def test_an_agent_that_is_bound_is_not_what_its_client_calls_itself(
    calling: Calling, bound: Calling
) -> None:
    async with served(calling.stack) as address:
        async with agent(address, calling.person.secret) as free:
            assert (await answer(free, "find_tool", {}))["tools"]
        async with agent(address, bound.person.secret) as client:
            assert (await answer(client, "find_tool", {}))["tools"] == []
            call = {"server_id": bound.server_id, **READ}
            blocked = await client.call_tool("call_tool", call)
            assert isinstance(blocked, CallToolResult)
            assert blocked.structured_content["status"] == "blocked"
            lied = await refusal(client, "call_tool", {**call, "runtime": "openclaw"})
            assert lied["code"] == "FORBIDDEN"
    assert bound.server.effects() == []
