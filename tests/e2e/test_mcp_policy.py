"""Policy over HTTP: decided once, told in receipts and files, inherited, tried out, and changed by intents."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from uuid_utils import uuid7

from contracts.mcp.tools import MCPToolDefinition
from stores.platform.projection.projector import Projector
from tests.e2e.test_configuration_intents import intent
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio

GLOBAL = {"target_kind": "global"}
TOOLS = ("list_mail", "send_mail")


async def registered(stack: Stack, person: Learner) -> str:
    """A server of this person with a tool that reads and one that sends; its id."""
    server = {
        "provider": "custom_remote",
        "display_name": "Mail",
        "endpoint_url": "https://mail.example.com/mcp",
        "transport": "remote_http",
    }
    made = await person.ok("POST", "/api/mcp/servers/register", server)
    server_id: str = made["server"]["registry"]["server_id"]
    discovered(stack, person, server_id)
    return server_id


def discovered(stack: Stack, person: Learner, server_id: str, description: str = "") -> None:
    """What a discovery of the server's tools finds."""
    tools = tuple(MCPToolDefinition(tool_name=name, description=description) for name in TOOLS)
    stack.services.mcp.tools.take_in(server_id, person.user, tools, datetime.now(UTC), str(uuid7()))


def tool(server_id: str, name: str) -> dict[str, Any]:
    return {"target_kind": "tool", "server_id": server_id, "tool_name": name}


async def decide(person: Learner, target: dict[str, Any], mode: str, **fields: Any) -> dict[str, Any]:
    """One decision; what holds for its target then."""
    body = {"target": target, "decision": {"mode": mode, **fields}}
    return await person.ok("POST", "/api/mcp/policy/update", body)


async def modes_of(person: Learner, server_id: str) -> dict[str, str]:
    """What holds for each tool of the server by itself, without any runtime's lists."""
    found = await person.ok("GET", f"/api/mcp/servers/{server_id}/tools")
    return {
        one["definition"]["tool_name"]: one["effective_policy"]["decision"]["mode"] for one in found["tools"]
    }


async def test_a_decision_is_inherited_told_once_and_written_into_the_tree(stack: Stack) -> None:
    alice = stack.learner()
    server_id = await registered(stack, alice)
    server = {"target_kind": "server", "server_id": server_id}
    key = {"idempotency_key": "first"}
    body = {"target": server, "decision": {"mode": "ask_first", "reason_code": "new_server"}}
    first = await alice.ok("POST", "/api/mcp/policy/update", body, **key)
    assert first == await alice.ok("POST", "/api/mcp/policy/update", body, **key)
    assert (first["decision"]["mode"], first["decision"]["updated_by"]) == ("ask_first", "user")
    assert first["inherited_from"] == "none"

    off = await decide(alice, GLOBAL, "disabled")
    assert off["inherited_from"] == "none"
    still = await decide(alice, tool(server_id, "list_mail"), "enabled")
    assert (still["decision"]["mode"], still["inherited_from"]) == ("disabled", "global")

    policy = await alice.ok("GET", "/api/mcp/policy")
    assert policy["policy_version"] == 3
    assert [one["target"]["target_kind"] for one in policy["decisions"]] == ["tool", "global", "server"]
    assert policy["total"] == 3
    second = await alice.ok("GET", "/api/mcp/policy?page=2&page_size=2")
    assert (second["decisions"], second["page"]) == (policy["decisions"][2:], 2)
    assert {one["code"] for one in policy["defaults"]} >= {"default_read", "default_change"}
    receipts = (await alice.ok("GET", "/api/mcp/receipts"))["receipts"]
    updates = [one for one in receipts if one["receipt_kind"] == "policy_update"]
    assert len(updates) == 3
    assert updates[-1]["server_id"] == server_id

    root = stack.settings.memory_root
    Projector(stack.database, root, stack.settings.workspace).catch_up()
    kept = json.loads((root / "system/mcp/policy_current.json").read_text())
    assert {(one["owner_user_id"], one["target"]["target_kind"]) for one in kept} == {
        ("alice", kind) for kind in ("global", "server", "tool")
    }
    assert (await stack.learner("bob").ok("GET", "/api/mcp/policy"))["decisions"] == []


async def test_a_decision_that_is_over_at_once_takes_back_the_one_before(stack: Stack) -> None:
    alice = stack.learner()
    await decide(alice, GLOBAL, "disabled")
    past = (datetime.now(UTC) - timedelta(seconds=1)).isoformat()
    after = await decide(alice, GLOBAL, "disabled", expires_at=past)
    assert (after["decision"]["mode"], after["decision"]["reason_code"]) == ("enabled", "default_read")


async def test_a_tool_is_decided_for_before_its_server_lists_it_and_an_allowance_still_asks_first(
    stack: Stack,
) -> None:
    alice = stack.learner()
    server_id = await registered(stack, alice)
    await decide(alice, tool(server_id, "drop_table"), "disabled")
    allowed = await decide(alice, tool(server_id, "rename_table"), "enabled")
    assert allowed["decision"]["mode"] == "ask_first"
    listed = tuple(
        MCPToolDefinition(tool_name=name, description="") for name in ("drop_table", "rename_table")
    )
    stack.services.mcp.tools.take_in(server_id, alice.user, listed, datetime.now(UTC), str(uuid7()))
    tools = (await alice.ok("GET", f"/api/mcp/servers/{server_id}/tools"))["tools"]
    held = {one["definition"]["tool_name"]: one["effective_policy"]["decision"]["mode"] for one in tools}
    assert (held["drop_table"], held["rename_table"]) == ("disabled", "ask_first")


async def test_only_what_is_the_callers_can_be_decided_and_only_by_approvers(stack: Stack) -> None:
    alice, bob = stack.learner(), stack.learner("bob")
    server_id = await registered(stack, alice)
    asked = {"target": {"target_kind": "server", "server_id": server_id}, "decision": {"mode": "disabled"}}
    for path in ("update", "preview"):
        status, error = await bob.refused("POST", f"/api/mcp/policy/{path}", asked)
        assert (status, error["code"]) == (404, "MCP_SERVER_NOT_FOUND")
        grant = {"target_kind": "temporary_grant", "dispatch_id": str(uuid7())}
        body = {"target": grant, "decision": {"mode": "disabled"}}
        status, error = await alice.refused("POST", f"/api/mcp/policy/{path}", body)
        assert (status, error["code"]) == (404, "MCP_GRANT_NOT_FOUND")
        body = {"target": grant, "decision": {"mode": "enabled"}}
        status, error = await alice.refused("POST", f"/api/mcp/policy/{path}", body)
        assert (status, error["code"]) == (422, "VALIDATION_FAILED")
    reader = stack.learner("alice", ["read", "call"])
    status, error = await reader.refused("POST", "/api/mcp/policy/update", asked)
    assert (status, error["required_scope"]) == (403, "approve")
    assert (await alice.ok("GET", "/api/mcp/policy"))["policy_version"] == 0


async def test_allowing_a_new_tool_covers_what_it_is_now_and_no_later_change(stack: Stack) -> None:
    alice = stack.learner()
    server_id = await registered(stack, alice)
    allowed = await decide(alice, tool(server_id, "send_mail"), "enabled")
    assert (allowed["decision"]["mode"], allowed["inherited_from"]) == ("enabled", "none")
    discovered(stack, alice, server_id, "Sends mail to everybody, too.")
    again = await decide(alice, tool(server_id, "send_mail"), "enabled")
    assert again["decision"]["mode"] == "ask_first"


async def test_the_lists_of_runtimes_are_replaced_one_provider_at_a_time(stack: Stack) -> None:
    alice = stack.learner()
    openai = {"provider": "openai", "allow_mcp": False}
    replaced = await alice.ok("PUT", "/api/mcp/policy/runtimes", openai)
    assert replaced["allow_mcp"] is False
    lists = await alice.ok("GET", "/api/mcp/policy/runtimes")
    assert {one["provider"]: one["allow_mcp"] for one in lists["policies"]} == {
        "openai": False,
        **dict.fromkeys(("anthropic", "codex", "openclaw", "other"), True),
    }
    assert lists["policy_version"] == 1
    root = stack.settings.memory_root
    Projector(stack.database, root, stack.settings.workspace).catch_up()
    (kept,) = json.loads((root / "system/mcp/provider_policy_current.json").read_text())
    assert (kept["owner_user_id"], kept["provider"], kept["allow_mcp"]) == ("alice", "openai", False)


def wish(target: dict[str, Any], mode: str, **fields: Any) -> dict[str, Any]:
    payload = {"target": target, "decision": {"mode": mode}}
    return intent(payload, target="connector_policy", **fields)


@pytest.mark.acceptance("9.19-1")
async def test_an_intent_changes_policy_as_any_other_decision_does(stack: Stack) -> None:
    alice = stack.learner()
    off = wish(GLOBAL, "disabled")
    first = await alice.ok("POST", "/api/config/intents", off)
    assert first["changed"]
    assert first["configuration"]["fields"]["global"]["mode"] == "disabled"
    assert await alice.ok("POST", "/api/config/intents", off) == first
    same = await alice.ok("POST", "/api/config/intents", wish(GLOBAL, "disabled"))
    assert (same["changed"], same["configuration"]["revision"]) == (False, 1)
    (decided,) = (await alice.ok("GET", "/api/mcp/policy"))["decisions"]
    assert (decided["target"], decided["decision"]["mode"]) == (GLOBAL, "disabled")

    await decide(alice, GLOBAL, "ask_first")
    (current,) = (await alice.ok("GET", "/api/config?target=connector_policy"))["configurations"]
    assert current["fields"]["global"]["mode"] == "ask_first"


async def test_an_intent_needs_the_right_to_decide_and_a_payload_that_is_a_decision(stack: Stack) -> None:
    wrapper = stack.learner("alice", ["read", "learn", "observe"])
    status, error = await wrapper.refused("POST", "/api/config/intents", wish(GLOBAL, "enabled"))
    assert (status, error["code"], error["required_scope"]) == (403, "FORBIDDEN", "approve")
    alice = stack.learner()
    wrong = intent({"allow": True}, target="connector_policy")
    status, error = await alice.refused("POST", "/api/config/intents", wrong)
    assert (status, error["code"]) == (422, "VALIDATION_FAILED")
    status, error = await alice.refused(
        "POST", "/api/config/intents", wish({"target_kind": "server", "server_id": "nobodys"}, "enabled")
    )
    assert (status, error["code"]) == (404, "MCP_SERVER_NOT_FOUND")
    assert (await alice.ok("GET", "/api/mcp/policy"))["policy_version"] == 0
