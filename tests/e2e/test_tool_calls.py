"""Tool calls through the funnel, against a real server: policy, ask-first, call, receipt."""

import pytest

from tests.fixtures.mcp_servers import GoodServer
from tests.fixtures.tool_calls import ToolUser

pytestmark = pytest.mark.anyio


async def test_a_read_is_allowed_and_answers(agent: ToolUser, tool_server: GoodServer):
    view = await agent.ask("read_note", {"name": "shopping"})
    assert view["status"] == "completed", view
    assert view["result"]["structured_content"] == {"name": "shopping", "text": "the note shopping"}
    assert view["attempts"] == 1
    assert view["arguments"] == {"name": "shopping"}
    assert [one["receipt_kind"] for one in agent.receipts(view["dispatch_id"])] == ["dispatch"]
    assert tool_server.effects() == []


async def test_a_write_waits_for_a_person_and_is_made_once_when_approved(
    agent: ToolUser, tool_server: GoodServer
):
    paused = await agent.ask("append_line", {"line": "milk"})
    assert paused["status"] == "pending_approval"
    assert tool_server.effects() == []
    pending = await agent.person.ok("GET", "/api/mcp/ask-first/pending")
    assert [one["dispatch_id"] for one in pending["dispatches"]] == [paused["dispatch_id"]]
    (item,) = (await agent.person.ok("GET", "/api/inbox"))["items"]
    assert (item["kind"], item["item_id"]) == ("approval", paused["dispatch_id"])
    assert item["next_action"].startswith(f"apprentice mcp show {paused['dispatch_id']}")
    said, asker = item["text"].split("\n")
    assert said == pending["dispatches"][0]["request_summary"]
    assert asker.startswith("Asked by token ")

    answer = await agent.approve(paused["dispatch_id"])
    assert answer["resumed"] is True
    done = await agent.ended(paused["dispatch_id"])
    assert done["status"] == "completed", done
    assert [one["arguments"] for one in tool_server.effects()] == [{"line": "milk"}]
    assert tool_server.effects()[0]["key"] == paused["dispatch_id"]


@pytest.mark.acceptance("9.13-2")
async def test_a_denied_write_leaves_nothing(agent: ToolUser, tool_server: GoodServer):
    paused = await agent.ask("append_line", {"line": "milk"})
    assert (paused["provider"], paused["action_class"]) == ("custom_remote", "update")
    answer = await agent.deny(paused["dispatch_id"], reason="not now")
    assert answer["resumed"] is False
    assert answer["dispatch"]["status"] == "denied"
    done = await agent.view(paused["dispatch_id"])
    assert (done["status"], done["error_code"]) == ("denied", "MCP_POLICY_BLOCKED")
    assert tool_server.effects() == []
