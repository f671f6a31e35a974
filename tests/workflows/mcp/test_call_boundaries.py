"""Two agents of one user: neither rides on the other's approvals, nor reads what the other sent; and who approves
approves what they looked at.
"""

from typing import Any

import pytest

from tests.fixtures.learner import Learner
from tests.fixtures.mcp_servers import GoodServer
from tests.fixtures.tool_calls import ToolUser

pytestmark = pytest.mark.anyio

MILK = {"line": "milk"}


def another_agent(agent: ToolUser, *scopes: str) -> ToolUser:
    """The same user with a token of their own."""
    return ToolUser(agent.stack, agent.stack.learner(agent.person.user, scopes), agent.server_id)


async def answer(person: Learner, dispatch_id: str, **seen: Any) -> tuple[int, dict[str, Any]]:
    path = f"/api/mcp/ask-first/{dispatch_id}/approve"
    response = await person.call("POST", path, {"decision": "approve_once", **seen})
    return response.status_code, response.json()


@pytest.mark.parametrize("beyond", ["turn", "session"])
async def test_an_agent_that_names_another_ones_turn_or_session_is_asked_about(
    agent: ToolUser, tool_server: GoodServer, beyond: str
) -> None:
    other = another_agent(agent, "call")
    ref = {f"{beyond}_ref": "known-to-all", "runtime": "claude"}
    asked = await agent.ask("append_line", MILK, **ref)
    waits = await other.ask("append_line", MILK, **ref)
    decision = "approve_for_session" if beyond == "session" else "approve_until_end_of_turn"
    await agent.approve(asked["dispatch_id"], decision)
    await agent.ended(asked["dispatch_id"])
    assert (await agent.ask("append_line", MILK, **ref))["status"] == "completed"
    assert (await other.ask("append_line", MILK, **ref))["status"] == "pending_approval"
    assert (await agent.ask("append_line", MILK, **{**ref, "runtime": "codex"}))["status"] == (
        "pending_approval"
    )
    assert (await agent.view(waits["dispatch_id"]))["status"] == "pending_approval"
    assert len(tool_server.effects()) == 2


async def test_what_one_agent_sent_and_got_is_not_shown_to_another(agent: ToolUser) -> None:
    made = await agent.ask("append_line", MILK)
    await agent.approve(made["dispatch_id"])
    await agent.ended(made["dispatch_id"])
    path = f"/api/mcp/dispatches/{made['dispatch_id']}"
    decider, reader = another_agent(agent, "read", "approve"), another_agent(agent, "read", "call")
    seen = await decider.view(made["dispatch_id"])
    assert (seen["arguments"], seen["result"] is None) == (MILK, False)
    hidden = await reader.view(made["dispatch_id"])
    assert hidden["status"] == "completed"
    assert (hidden["arguments"], hidden["result"], hidden["m365"]) == (None, None, None)
    status, error = await reader.person.refused("POST", f"{path}/cancel", {})
    assert (status, error["code"]) == (403, "FORBIDDEN")
    assert error["required_scope"] == "approve"
    own = await reader.ask("append_line", MILK)
    assert (await reader.view(own["dispatch_id"]))["arguments"] == MILK


async def test_only_what_was_looked_at_is_approved(agent: ToolUser, tool_server: GoodServer) -> None:
    asked = await agent.ask("append_line", MILK)
    dispatch_id, waiting = asked["dispatch_id"], asked["ask_first"]
    for field in ("arguments_digest", "tool_definition_hash"):
        status, body = await answer(agent.person, dispatch_id, **{field: "0" * 64})
        assert (status, body["error"]["code"]) == (409, "CONFLICT")
        assert body["error"]["fields"][0]["path"] == field
    assert (await agent.view(dispatch_id))["status"] == "pending_approval"
    status, _ = await answer(
        agent.person,
        dispatch_id,
        arguments_digest=waiting["arguments_digest"],
        tool_definition_hash=waiting["tool_definition_hash"],
    )
    assert status == 200
    assert (await agent.ended(dispatch_id))["status"] == "completed"
    assert len(tool_server.effects()) == 1


@pytest.mark.parametrize("levels", [64, 400, 900])
async def test_arguments_that_are_nested_too_deep_are_refused_by_name(agent: ToolUser, levels: int) -> None:
    deep: Any = "milk"
    for _ in range(levels):
        deep = [deep]
    body = {"server_id": agent.server_id, "tool_name": "append_line", "arguments": {"line": deep}}
    status, error = await agent.person.refused("POST", "/api/mcp/dispatches", body)
    assert (status, error["fields"][0]["path"]) == (422, "body.arguments")
    asked = await agent.ask("append_line", MILK)
    edited = {"decision": "approve_once", "arguments": {"line": deep}}
    path = f"/api/mcp/ask-first/{asked['dispatch_id']}/approve"
    status, error = await agent.person.refused("POST", path, edited)
    assert (status, error["fields"][0]["path"]) == (422, "body.arguments")
    body["arguments"] = {"line": deep[0] if levels == 64 else "milk"}
    assert (await agent.person.ok("POST", "/api/mcp/dispatches", body))["status"] == "pending_approval"


async def test_a_call_says_which_answers_it_takes_and_takes_those(agent: ToolUser) -> None:
    every = {"approve_once", "approve_until_end_of_turn", "approve_for_session", "deny"}
    refs = {"turn_ref": "turn-1", "session_ref": "session-1"}
    for call, given, taken in (
        (("append_line", MILK), refs, every),
        (("append_line", MILK), {}, {"approve_once", "deny"}),
        (("append_line", MILK), {"turn_ref": "turn-1"}, every - {"approve_for_session"}),
        (("delete_lines", {}), refs, every - {"approve_for_session"}),
    ):
        asked = await agent.ask(*call, **given)
        assert set(asked["answers"]) == taken
        path = f"/api/mcp/ask-first/{asked['dispatch_id']}/approve"
        for decision in every - taken:
            status, error = await agent.person.refused("POST", path, {"decision": decision})
            assert (status, error["code"]) == (422, "VALIDATION_FAILED")
            assert [field["path"] for field in error["fields"]] == ["decision"]
        await agent.person.ok("POST", f"/api/mcp/dispatches/{asked['dispatch_id']}/cancel", {})
        assert (await agent.view(asked["dispatch_id"]))["answers"] == []
