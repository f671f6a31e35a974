"""Calls that wait for a person: who answers first wins, nobody's silence is a deny, an edit is what is sent."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from temporalio.testing import TimeSkipper

from tests.fixtures.mcp_servers import GoodServer, MisbehavingServer
from tests.fixtures.stack import connect
from tests.fixtures.tool_calls import CALLER_SCOPES, ToolUser, tool_stack, tool_user

pytestmark = pytest.mark.anyio

MILK = {"line": "milk"}
SOON = timedelta(minutes=1)


@pytest.fixture
async def slow_agent(
    tmp_path: Path, skipping_env: TimeSkipper, tool_server: GoodServer
) -> AsyncIterator[ToolUser]:
    """An agent whose workflows' clocks can be moved."""
    async with tool_stack(tmp_path, skipping_env.client) as stack:
        user = tool_user(stack)
        await user.register(tool_server)
        yield user


async def let_pass(env: TimeSkipper, dispatch_id: str, span: timedelta) -> None:
    await env.fast_forward(env.client.get_workflow_handle(f"mcp-dispatch/{dispatch_id}"), span)


async def answer(agent: ToolUser, dispatch_id: str, decision: str) -> tuple[int, dict[str, Any]]:
    route = "deny" if decision == "deny" else "approve"
    path = f"/api/mcp/ask-first/{dispatch_id}/{route}"
    response = await agent.person.call("POST", path, {"decision": decision})
    return response.status_code, response.json()


def decisions(agent: ToolUser, dispatch_id: str, kind: str = "ask_first_decision") -> list[dict[str, Any]]:
    return [one for one in agent.receipts(dispatch_id) if one["receipt_kind"] == kind]


async def test_a_call_that_nobody_answers_expires_and_is_shown_as_expired(
    slow_agent: ToolUser, skipping_env: TimeSkipper, tool_server: GoodServer
) -> None:
    asked = await slow_agent.ask("append_line", MILK)
    await let_pass(skipping_env, asked["dispatch_id"], timedelta(minutes=30) - SOON)
    assert (await slow_agent.view(asked["dispatch_id"]))["status"] == "pending_approval"
    await let_pass(skipping_env, asked["dispatch_id"], 2 * SOON)
    ended = await slow_agent.ended(asked["dispatch_id"])
    assert (ended["status"], ended["ask_first"]["status"]) == ("expired", "expired")
    assert ended["error_code"] == "MCP_ASK_FIRST_EXPIRED"
    pending = (await slow_agent.person.ok("GET", "/api/mcp/ask-first/pending"))["dispatches"]
    assert [(one["dispatch_id"], one["status"]) for one in pending] == [(asked["dispatch_id"], "expired")]
    status, body = await answer(slow_agent, asked["dispatch_id"], "approve_once")
    assert (status, body["error"]["code"]) == (409, "MCP_ASK_FIRST_EXPIRED")
    assert tool_server.effects() == []


@pytest.mark.thorough
async def test_an_approval_and_the_deadline_at_once_have_one_winner(
    slow_agent: ToolUser, skipping_env: TimeSkipper, tool_server: GoodServer
) -> None:
    for _ in range(4):
        tool_server.forget()
        asked = await slow_agent.ask("append_line", MILK)
        dispatch_id = asked["dispatch_id"]
        await let_pass(skipping_env, dispatch_id, timedelta(minutes=30) - timedelta(seconds=1))
        said: list[tuple[int, dict[str, Any]]] = []

        async def approve(dispatch_id: str = dispatch_id, said: list[Any] = said) -> None:
            said.append(await answer(slow_agent, dispatch_id, "approve_once"))

        async with anyio.create_task_group() as group:
            group.start_soon(let_pass, skipping_env, dispatch_id, 2 * SOON)
            group.start_soon(approve)
        ended = await slow_agent.ended(dispatch_id)
        status, body = said[0]
        assert len(decisions(slow_agent, dispatch_id)) == 1
        if status == 200:
            assert (ended["status"], len(tool_server.effects())) == ("completed", 1)
        else:
            assert (ended["status"], tool_server.effects()) == ("expired", [])
            assert body["error"]["code"] == "MCP_ASK_FIRST_EXPIRED"


async def test_of_many_who_answer_at_once_one_wins_and_the_others_learn_who(
    agent: ToolUser, tool_server: GoodServer
) -> None:
    asked = await agent.ask("append_line", MILK)
    said: list[tuple[int, dict[str, Any]]] = []

    async def say(decision: str) -> None:
        said.append(await answer(agent, asked["dispatch_id"], decision))

    async with anyio.create_task_group() as group:
        for decision in ("approve_once", "deny") * 4:
            group.start_soon(say, decision)
    ended = await agent.ended(asked["dispatch_id"])
    won = [body for status, body in said if status == 200]
    lost = [body["error"] for status, body in said if status != 200]
    assert len(won) == 1
    assert {one["code"] for one in lost} == {"MCP_ASK_FIRST_DECIDED"}
    assert {one["decided_by"] for one in lost} == {"alice"}
    assert {one["decision"] for one in lost} == {won[0]["dispatch"]["status"]}
    assert len(decisions(agent, asked["dispatch_id"])) == 1
    late = decisions(agent, asked["dispatch_id"], "ask_first_late")
    assert [one["status"] for one in late] == ["blocked"] * 7
    assert len(tool_server.effects()) == (1 if won[0]["resumed"] else 0)
    assert ended["status"] == ("completed" if won[0]["resumed"] else "denied")


async def test_the_calls_that_wait_are_listed_apart_from_those_that_were_decided(agent: ToolUser) -> None:
    decided = (await agent.ask("append_line", MILK))["dispatch_id"]
    await agent.approve(decided)
    await agent.ended(decided)
    waiting = (await agent.ask("append_line", MILK))["dispatch_id"]
    await agent.ask("count_lines", {})

    async def listed(wanted: str) -> list[str]:
        found = await agent.person.ok("GET", f"/api/mcp/dispatches?{wanted}")
        return [one["dispatch_id"] for one in found["dispatches"]]

    assert await listed("decided=true") == [decided]
    assert await listed("decided=false") == [waiting]
    assert await listed("decided=true&status=completed&status=failed") == [decided]
    assert await listed("decided=true&status=failed") == []


async def test_who_comes_long_after_learns_who_answered_and_when(agent: ToolUser) -> None:
    asked = await agent.ask("append_line", MILK)
    first = await agent.approve(asked["dispatch_id"])
    await agent.ended(asked["dispatch_id"])
    status, body = await answer(agent, asked["dispatch_id"], "deny")
    assert (status, body["error"]["code"]) == (409, "MCP_ASK_FIRST_DECIDED")
    assert body["error"]["decided_by"] == "alice"
    assert body["error"]["decided_at"] == first["dispatch"]["decided_at"]
    assert body["error"]["decision"] == "approved_once"


async def test_the_same_key_gets_the_first_answer_again(agent: ToolUser, tool_server: GoodServer) -> None:
    asked = await agent.ask("append_line", MILK)
    path = f"/api/mcp/ask-first/{asked['dispatch_id']}/approve"
    body = {"decision": "approve_once", "client_request_id": "mine"}
    first = await agent.person.ok("POST", path, body)
    await agent.ended(asked["dispatch_id"])
    assert await agent.person.ok("POST", path, body) == first
    assert len(tool_server.effects()) == 1


async def test_what_was_edited_is_what_is_sent_and_both_are_kept(
    agent: ToolUser, tool_server: GoodServer
) -> None:
    asked = await agent.ask("append_line", MILK)
    answered = await agent.approve(asked["dispatch_id"], arguments={"line": "oat milk"})
    record = answered["dispatch"]
    assert record["edited_from_digest"] == asked["arguments_digest"] != record["arguments_digest"]
    ended = await agent.ended(asked["dispatch_id"])
    assert ended["arguments"] == {"line": "oat milk"}
    assert [one["arguments"] for one in tool_server.effects()] == [{"line": "oat milk"}]


@pytest.mark.acceptance("mcp_ask_first_resume_correlation")
@pytest.mark.parametrize("decision", ["approve_once", "deny"])
async def test_one_correlation_id_runs_through_all_of_a_call(agent: ToolUser, decision: str) -> None:
    asked = await agent.ask("append_line", MILK)
    dispatch_id, correlation_id = asked["dispatch_id"], asked["correlation_id"]
    _, answered = await answer(agent, dispatch_id, decision)
    ended = await agent.ended(dispatch_id)
    handle = agent.stack.client.get_workflow_handle(f"mcp-dispatch/{dispatch_id}")
    memo = await (await handle.describe()).memo()
    receipts = agent.receipts(dispatch_id)
    assert [one["receipt_kind"] for one in receipts] == ["ask_first", "ask_first_decision", "dispatch"]
    told = [
        asked["ask_first"]["correlation_id"],
        answered["dispatch"]["correlation_id"],
        ended["correlation_id"],
        ended["ask_first"]["correlation_id"],
        memo["correlation_id"],
        *(one["correlation_id"] for one in receipts),
    ]
    assert set(told) == {correlation_id}
    assert asked["ask_first"]["paused_dispatch_ref"] == f"mcp-dispatch/{dispatch_id}"


async def test_an_approval_for_the_session_releases_those_that_wait_in_it(
    agent: ToolUser, tool_server: GoodServer
) -> None:
    here = [
        await agent.ask("append_line", {"line": f"{n}"}, session_ref="s1", turn_ref=f"t{n}") for n in range(3)
    ]
    there = await agent.ask("append_line", MILK, session_ref="s2")
    await agent.approve(here[0]["dispatch_id"], "approve_for_session")
    ended = [await agent.ended(one["dispatch_id"]) for one in here]
    assert {one["status"] for one in ended} == {"completed"}
    assert [one["ask_first"]["status"] for one in ended] == ["approved_for_session", "resumed", "resumed"]
    assert (await agent.view(there["dispatch_id"]))["status"] == "pending_approval"
    assert sorted(one["arguments"]["line"] for one in tool_server.effects()) == ["0", "1", "2"]

    grants = (await agent.person.ok("GET", "/api/mcp/grants"))["grants"]
    assert [(one["scope"], one["scope_ref"], one["used"]) for one in grants] == [("session", "s1", 2)]
    later = await agent.ask("append_line", MILK, session_ref="s1")
    assert later["status"] == "completed"
    await agent.person.ok("DELETE", f"/api/mcp/grants/{grants[0]['grant_id']}")
    after = await agent.ask("append_line", MILK, session_ref="s1")
    assert after["status"] == "pending_approval"


async def test_an_approval_beyond_the_call_needs_something_to_last_for(agent: ToolUser) -> None:
    asked = await agent.ask("append_line", MILK)
    for decision in ("approve_until_end_of_turn", "approve_for_session"):
        status, body = await answer(agent, asked["dispatch_id"], decision)
        assert (status, body["error"]["code"]) == (422, "VALIDATION_FAILED")
    assert (await agent.approve(asked["dispatch_id"]))["resumed"] is True


@pytest.mark.parametrize(("mode", "status"), [("enabled", "completed"), ("disabled", "blocked")])
async def test_a_change_of_policy_reaches_the_calls_that_wait(
    agent: ToolUser, tool_server: GoodServer, mode: str, status: str
) -> None:
    asked = await agent.ask("append_line", MILK)
    target = {"target_kind": "tool", "server_id": agent.server_id, "tool_name": "append_line"}
    await agent.person.ok(
        "POST",
        "/api/mcp/policy/update",
        {"target": target, "decision": {"mode": mode}},
    )
    ended = await agent.ended(asked["dispatch_id"])
    assert ended["status"] == status
    assert len(tool_server.effects()) == (1 if mode == "enabled" else 0)


async def test_a_call_whose_tool_has_changed_is_made_only_once_somebody_approves_what_it_is_now(
    tmp_path: Path, temporal_address: str, misbehaving_server: MisbehavingServer
) -> None:
    async with tool_stack(tmp_path, await connect(temporal_address)) as stack:
        agent = tool_user(stack)
        await agent.register(misbehaving_server)
        asked = await agent.ask("append_line", MILK)
        misbehaving_server.change_tool("append_line", description="Sends the line to everybody")
        await agent.discover()
        status, body = await answer(agent, asked["dispatch_id"], "approve_once")
        assert (status, body["error"]["code"]) == (409, "MCP_TOOL_CHANGED")
        assert (await agent.view(asked["dispatch_id"]))["status"] == "pending_approval"
        assert misbehaving_server.effects() == []
        await agent.approve(asked["dispatch_id"], tool_definition_hash=body["error"]["definition_hash"])
        assert (await agent.ended(asked["dispatch_id"]))["status"] == "completed"
        assert len(misbehaving_server.effects()) == 1


@pytest.mark.parametrize("tool", ["append_line", "read_line"])
async def test_a_tool_that_its_server_changed_unseen_is_not_called_and_is_marked(
    tmp_path: Path, temporal_address: str, misbehaving_server: MisbehavingServer, tool: str
) -> None:
    async with tool_stack(tmp_path, await connect(temporal_address)) as stack:
        agent = tool_user(stack)
        await agent.register(misbehaving_server)
        await agent.looked_at()
        misbehaving_server.change_tool(tool, description="Gives the line to everybody")
        asked = await agent.ask(tool, MILK)
        if tool == "append_line":
            await agent.approve(asked["dispatch_id"])
        ended = await agent.ended(asked["dispatch_id"])
        assert (ended["status"], ended["error_code"], ended["attempts"]) == ("blocked", "MCP_TOOL_CHANGED", 0)
        assert ended["receipt_id"]
        assert f"apprentice mcp tools show {agent.server_id} {tool}`" in ended["next_action"]
        assert (misbehaving_server.asked(), misbehaving_server.effects()) == ([], [])
        tools = (await agent.person.ok("GET", f"/api/mcp/servers/{agent.server_id}/tools"))["tools"]
        state, mode = next(
            (one["state"], one["effective_policy"]["decision"]["mode"])
            for one in tools
            if one["definition"]["tool_name"] == tool
        )
        assert (state, mode) == ("changed", "ask_first")
        again = await agent.ask(tool, MILK)
        await agent.approve(again["dispatch_id"])
        assert (await agent.ended(again["dispatch_id"]))["status"] == "completed"


async def test_a_server_switched_off_before_the_approval_is_not_called(
    agent: ToolUser, tool_server: GoodServer
) -> None:
    asked = await agent.ask("append_line", MILK)
    await agent.person.ok("PATCH", f"/api/mcp/servers/{agent.server_id}", {"enabled": False})
    await agent.approve(asked["dispatch_id"])
    ended = await agent.ended(asked["dispatch_id"])
    assert (ended["status"], ended["error_code"]) == ("blocked", "MCP_SERVER_DISABLED")
    assert tool_server.effects() == []


async def test_a_call_that_waits_can_be_given_up(agent: ToolUser, tool_server: GoodServer) -> None:
    asked = await agent.ask("append_line", MILK)
    path = f"/api/mcp/dispatches/{asked['dispatch_id']}/cancel"
    given_up = await agent.person.ok("POST", path, {"reason": "no need"})
    assert (given_up["status"], given_up["ask_first"]["status"]) == ("cancelled", "cancelled")
    status, body = await answer(agent, asked["dispatch_id"], "approve_once")
    assert (status, body["error"]["code"]) == (409, "MCP_ASK_FIRST_DECIDED")
    assert await agent.person.ok("POST", path, {}) == given_up
    assert tool_server.effects() == []


async def test_nobody_answers_for_somebody_else(agent: ToolUser) -> None:
    asked = await agent.ask("append_line", MILK)
    mallory = agent.stack.learner("mallory", CALLER_SCOPES)
    for path, body in (
        (f"/api/mcp/ask-first/{asked['dispatch_id']}/approve", {"decision": "approve_once"}),
        (f"/api/mcp/ask-first/{asked['dispatch_id']}/deny", {"decision": "deny"}),
        (f"/api/mcp/dispatches/{asked['dispatch_id']}/cancel", {}),
    ):
        status, error = await mallory.refused("POST", path, body)
        assert (status, error["code"]) == (404, "MCP_DISPATCH_NOT_FOUND")
    assert (await agent.view(asked["dispatch_id"]))["status"] == "pending_approval"


async def test_the_same_key_finds_the_same_call(agent: ToolUser, tool_server: GoodServer) -> None:
    asked = await agent.ask("append_line", MILK, headers={"idempotency_key": "one"})
    again = await agent.ask("append_line", MILK, headers={"idempotency_key": "one"})
    assert again == asked
    other = {"server_id": agent.server_id, "tool_name": "append_line", "arguments": {"line": "tea"}}
    status, error = await agent.person.refused("POST", "/api/mcp/dispatches", other, idempotency_key="one")
    assert (status, error["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")


async def test_there_are_only_so_many_open_calls_a_user(
    tmp_path: Path, temporal_address: str, tool_server: GoodServer
) -> None:
    async with tool_stack(tmp_path, await connect(temporal_address), open_calls_per_user=2) as stack:
        agent = tool_user(stack)
        await agent.register(tool_server)
        waiting = [await agent.ask("append_line", MILK) for _ in range(2)]
        body = {"server_id": agent.server_id, "tool_name": "append_line", "arguments": MILK}
        status, error = await agent.person.refused("POST", "/api/mcp/dispatches", body)
        assert (status, error["code"], error["limit"]) == (429, "TOO_MANY_REQUESTS", 2)
        await agent.deny(waiting[0]["dispatch_id"])
        assert (await agent.ask("append_line", MILK))["status"] == "pending_approval"
