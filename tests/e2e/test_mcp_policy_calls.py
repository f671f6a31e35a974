"""Policy where it counts: what is called at a real tool server, and what is not, on the whole application."""

from typing import Any

import pytest

from tests.e2e.calling import DESTROY, GLOBAL, READ, WRITE, Calling, calling
from tests.fixtures.tool_calls import use_receipts

__all__ = ["calling"]

pytestmark = pytest.mark.anyio


@pytest.mark.acceptance("9.18-1")
async def test_a_read_of_a_healthy_server_is_allowed_and_says_why(calling: Calling) -> None:
    view = await calling.call(READ)
    assert (view["status"], view["verdict"]["mode"]) == ("completed", "enabled")
    (decisive,) = [step for step in view["verdict"]["trace"] if step.get("decisive")]
    assert (decisive["rule"], decisive["mode"]) == ("default", "enabled")
    assert await calling.receipts("dispatch")


@pytest.mark.acceptance("9.18-2")
@pytest.mark.acceptance("9.13-2")
@pytest.mark.parametrize("call", [WRITE, DESTROY])
async def test_a_write_asks_first_and_a_denial_leaves_nothing(calling: Calling, call: dict[str, Any]) -> None:
    view = await calling.call(call)
    assert (view["status"], view["verdict"]["mode"]) == ("pending_approval", "ask_first")
    await calling.decide(view, "deny")
    assert (await calling.ended(view))["status"] == "denied"
    assert calling.server.effects() == []

    once = await calling.call(call)
    await calling.decide(once, "approve_once")
    assert (await calling.ended(once))["status"] == "completed"
    assert len(calling.server.effects()) == 1
    assert (await calling.call(call))["status"] == "pending_approval"


@pytest.mark.everyday
@pytest.mark.acceptance("9.13-1")
@pytest.mark.acceptance("9.18-5")
async def test_a_runtime_that_is_denied_is_stopped_before_the_call_and_the_others_are_not(
    calling: Calling,
) -> None:
    await calling.policy(calling.tool(WRITE), "enabled")
    lists = {"provider": "openai", "denied_servers": [calling.server_id]}
    await calling.person.ok("PUT", "/api/mcp/policy/runtimes", lists)

    blocked = await calling.call(WRITE, runtime="openai_responses")
    assert (blocked["status"], blocked["error_code"]) == ("blocked", "MCP_POLICY_BLOCKED")
    assert blocked["verdict"]["reason_code"] == "runtime_server_denied"
    assert calling.server.effects() == []
    newest = (await calling.receipts("dispatch"))[0]
    assert (newest["dispatch_id"], newest["status"]) == (blocked["dispatch_id"], "blocked")
    (use,) = (one for one in use_receipts(calling.stack) if one["dispatch_id"] == blocked["dispatch_id"])
    assert (use["approval_state"], use["runtime"]) == ("denied", "openai_responses")

    for runtime in ("claude", "openclaw", "codex"):
        assert (await calling.call(WRITE, runtime=runtime))["status"] == "completed"
    off = {"provider": "anthropic", "allow_mcp": False}
    await calling.person.ok("PUT", "/api/mcp/policy/runtimes", off)
    assert (await calling.call(WRITE, runtime="claude-code"))["status"] == "blocked"
    assert (await calling.call(WRITE, runtime="codex"))["status"] == "completed"


@pytest.mark.acceptance("9.18-5")
async def test_disabling_one_provider_leaves_the_others(calling: Calling) -> None:
    other = await calling.with_another("provider_native")
    await calling.policy({"target_kind": "provider", "provider": "custom_remote"}, "disabled")
    assert (await calling.call(READ))["status"] == "blocked"
    assert (await other.call(READ))["status"] == "completed"


@pytest.mark.acceptance("9.13-3")
async def test_allowing_no_tool_server_blocks_every_call_and_every_card_says_so(calling: Calling) -> None:
    await calling.policy(calling.tool(READ), "enabled")
    await calling.policy(GLOBAL, "disabled")
    for call in (READ, WRITE):
        view = await calling.call(call)
        assert (view["status"], view["verdict"]["reason_code"]) == ("blocked", "global_disabled")
    assert calling.server.effects() == []
    cards = (await calling.person.ok("GET", "/api/mcp/servers"))["servers"]
    mine = next(one for one in cards if one["registry"]["server_id"] == calling.server_id)
    policy = mine["effective_policy"]
    assert (policy["decision"]["mode"], policy["inherited_from"]) == ("disabled", "global")
    tools = await calling.person.ok("GET", f"/api/mcp/servers/{calling.server_id}/tools")
    assert {one["effective_policy"]["decision"]["mode"] for one in tools["tools"]} == {"disabled"}


async def test_a_runtime_from_outside_asks_before_it_reads_what_is_confidential(calling: Calling) -> None:
    asked = await calling.call(READ, runtime="codex", data_class="confidential")
    assert (asked["status"], asked["verdict"]["reason_code"]) == ("pending_approval", "runtime_confidential")
    own = await calling.call(READ, runtime="openclaw", data_class="confidential")
    assert own["status"] == "completed"
    lists = {"provider": "codex", "allowed_servers": [calling.server_id]}
    await calling.person.ok("PUT", "/api/mcp/policy/runtimes", lists)
    assert (await calling.ended(asked))["status"] == "completed"


async def test_a_data_class_of_the_server_counts_whatever_the_caller_says(calling: Calling) -> None:
    path = f"/api/mcp/servers/{calling.server_id}"
    await calling.person.ok("PATCH", path, {"data_classes": ["Confidential"]})
    asked = await calling.call(READ, runtime="claude", data_class="public")
    assert asked["status"] == "pending_approval"
