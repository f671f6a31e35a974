"""Which server a call would go to, which project is meant, how a capability would be used: told and never done."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest
from uuid_utils import uuid7

from contracts.abilities.capability_health import RuntimeCapabilityCheck, RuntimeInventory
from contracts.abilities.capability_manifest import CapabilityManifest
from contracts.mcp.tools import MCPToolDefinition
from contracts.workflow_ids import mcp_probe_id
from stores.platform.canonical import canonical_json
from stores.platform.tables import capabilities
from tests.api.world import footprint
from tests.e2e.test_configuration_intents import intent
from tests.fixtures.agents import agent, agent_token, answer
from tests.fixtures.learner import Learner
from tests.fixtures.served import served
from tests.fixtures.stack import Stack
from tests.fixtures.taught import Taught, taught

pytestmark = pytest.mark.anyio

__all__ = ["taught"]


async def add_server(stack: Stack, person: Learner, name: str, *tools: str) -> str:
    """A server of this person with these tools; its id."""
    made = await person.ok(
        "POST",
        "/api/mcp/servers/register",
        {"provider": "custom_remote", "display_name": name, "transport": "provider_native"},
    )
    server_id: str = made["server"]["registry"]["server_id"]
    listed = tuple(MCPToolDefinition(tool_name=tool, description="") for tool in tools)
    stack.services.mcp.tools.take_in(server_id, person.user, listed, datetime.now(UTC), str(uuid7()))
    return server_id


async def decide(person: Learner, server_id: str, mode: str, tool: str | None = None) -> None:
    target = {"target_kind": "tool", "server_id": server_id, "tool_name": tool} if tool else None
    target = target or {"target_kind": "server", "server_id": server_id}
    await person.ok("POST", "/api/mcp/policy/update", {"target": target, "decision": {"mode": mode}})


async def way(person: Learner, **asked: Any) -> dict[str, Any]:
    return await person.ok("POST", "/api/mcp/route/explain", asked)


@pytest.fixture
async def alice(stack: Stack) -> Learner:
    return stack.learner()


async def test_the_server_that_has_the_tool_and_may_be_called_is_named_with_every_score_and_reason(
    stack: Stack, alice: Learner
) -> None:
    mail = await add_server(stack, alice, "Mail", "search_mail")
    archive = await add_server(stack, alice, "Archive", "search_mail")
    tickets = await add_server(stack, alice, "Tickets", "list_tickets")
    for server_id in (mail, archive):
        await decide(alice, server_id, "enabled", "search_mail")
    await decide(alice, archive, "ask_first", "search_mail")
    found = await way(alice, tool_name="search_mail")
    assert (found["decision"], found["server_id"]) == ("allow", mail)
    first, second = found["score_breakdown"]
    assert (first["server_id"], second["server_id"]) == (mail, archive)
    assert first["score"] > second["score"]
    assert (first["policy"], second["policy"], second["standing"]) == ("enabled", "ask_first", "ask_first")
    assert "has the tool" in first["reasons"]
    assert [(one["server_id"], one["why"]) for one in found["left_out"]] == [
        (tickets, "It has no tool search_mail.")
    ]


async def test_a_tool_that_policy_forbids_has_no_way_and_the_answer_says_which_rule_it_was(
    stack: Stack, alice: Learner
) -> None:
    mail = await add_server(stack, alice, "Mail", "send_mail")
    assert (await way(alice, tool_name="send_mail"))["decision"] == "ask_first"
    await decide(alice, mail, "disabled")
    found = await way(alice, tool_name="send_mail")
    assert (found["decision"], found["score_breakdown"]) == ("deny", [])
    assert found["left_out"][0]["why"].startswith("Policy forbids it.")
    assert mail in found["left_out"][0]["why"]


async def test_the_verdict_is_the_one_that_the_call_itself_is_given(stack: Stack, alice: Learner) -> None:
    mail = await add_server(stack, alice, "Mail", "search_mail", "send_mail", "delete_mail")
    caller = stack.learner("alice", ("read", "call"))
    await decide(alice, mail, "disabled", "delete_mail")
    said = {"ask_first": "pending_approval", "deny": "blocked"}
    for tool in ("send_mail", "delete_mail"):
        explained = (await way(alice, tool_name=tool))["decision"]
        call = {"server_id": mail, "tool_name": tool, "arguments": {}}
        assert (await caller.ok("POST", "/api/mcp/dispatches", call))["status"] == said[explained]


async def test_the_lists_of_a_runtime_leave_servers_out_also_where_no_tool_is_named(
    stack: Stack, alice: Learner
) -> None:
    mail = await add_server(stack, alice, "Mail", "search_mail")
    lists = {"provider": "openai", "denied_servers": [mail]}
    await alice.ok("PUT", "/api/mcp/policy/runtimes", lists)
    assert (await way(alice, runtime="openai"))["decision"] == "deny"
    assert (await way(alice, runtime="openai", tool_name="search_mail"))["decision"] == "deny"
    assert (await way(alice, runtime="claude"))["server_id"] == mail


async def test_writing_asks_first_where_reading_is_allowed(stack: Stack, alice: Learner) -> None:
    mail = await add_server(stack, alice, "Mail", "search_mail")
    assert (await way(alice))["decision"] == "allow"
    for action in ("write", "admin"):
        found = await way(alice, action_class=action)
        assert (found["decision"], found["server_id"]) == ("ask_first", mail)


async def test_somebody_elses_servers_are_no_way_and_nothing_is_written_by_asking(
    stack: Stack, alice: Learner
) -> None:
    server_id = await add_server(stack, alice, "Mail", "search_mail")
    # Registering has the server looked at, which is written as well.
    await stack.client.get_workflow_handle(mcp_probe_id(server_id)).result()
    bob = stack.learner("bob")
    before = footprint(stack)
    found = await way(bob, tool_name="search_mail")
    assert (found["decision"], found["left_out"]) == ("no_route", [])
    await way(alice, tool_name="search_mail", project_id="nowhere")
    assert footprint(stack) == before


def binding(project_id: str, *aliases: str, **fields: Any) -> dict[str, Any]:
    return {"project_id": project_id, "aliases": list(aliases), "source_of_truth": "sharepoint", **fields}


async def bind(person: Learner, *bindings: dict[str, Any]) -> None:
    wish = intent(target="user_preference", capability_id=None, payload={"project_bindings": list(bindings)})
    await person.ok("POST", "/api/config/intents", wish)


async def test_a_project_is_resolved_from_the_callers_own_bindings_or_asked_about(
    stack: Stack, alice: Learner
) -> None:
    asked = {"query": "the newest plan of the bridge"}
    nothing = await alice.ok("POST", "/api/mcp/project/resolve", asked)
    assert nothing["resolution_state"] == "none"
    await bind(alice, binding("harbour", "the bridge"), binding("metro-2", "the tunnel"))
    found = await alice.ok("POST", "/api/mcp/project/resolve", asked)
    assert found["resolution_state"] == "resolved"
    assert found["matches"][0]["binding"]["project_id"] == "harbour"
    both = {"query": "compare the bridge with the tunnel"}
    unclear = await alice.ok("POST", "/api/mcp/project/resolve", both)
    assert (unclear["resolution_state"], "harbour" in unclear["ask"]) == ("ambiguous", True)
    other = await stack.learner("bob").ok("POST", "/api/mcp/project/resolve", asked)
    assert other["resolution_state"] == "none"


async def test_a_binding_that_is_none_is_refused_where_it_is_kept(alice: Learner) -> None:
    for bad in ({"project_id": "harbour"}, binding(" "), "harbour"):
        wish = intent(target="user_preference", capability_id=None, payload={"project_bindings": [bad]})
        status, error = await alice.refused("POST", "/api/config/intents", wish)
        assert (status, error["code"]) == (422, "VALIDATION_FAILED")
        assert "payload.project_bindings" in str(error["fields"])


async def test_a_project_that_no_server_is_bound_to_decides_nothing_and_the_answer_says_so(
    stack: Stack, alice: Learner
) -> None:
    plain = await add_server(stack, alice, "Aardvark", "search")
    assert (await way(alice))["server_id"] == plain
    await bind(alice, binding("harbour", sharepoint_refs=["sites/harbour"]))
    found = await way(alice, project_id="harbour")
    assert found["notes"] == ["No server of yours is bound to the project, so it decides nothing."]


@pytest.fixture
async def address(stack: Stack) -> AsyncIterator[str]:
    async with served(stack) as address:
        yield address


async def test_an_agent_is_told_which_server_to_call(stack: Stack, alice: Learner, address: str) -> None:
    mail = await add_server(stack, alice, "Mail", "search_mail")
    await add_server(stack, alice, "Tickets", "list_tickets")
    async with agent(address, agent_token(stack)) as client:
        found = await answer(client, "explain_route", {"tool_name": "search_mail"})
    assert found["server_id"] == mail
    assert found["next_step"]


async def explain(taught: Taught, **asked: Any) -> dict[str, Any]:
    body = {"capability_id": taught.capability_id, **asked}
    return await taught.alice.ok("POST", "/api/capabilities/explain", body)


async def test_a_capability_is_explained_with_its_surface_its_plan_and_what_verifies_it(
    taught: Taught,
) -> None:
    found = await explain(taught, user_query="zzz qqq")
    assert (found["would_be_used"], found["why_not"]) == (True, [])
    assert found["chosen_surface"] == found["plan"]["steps"][0]["act_surface"]
    assert found["plan"]["steps"][0]["verify_surface"]
    assert found["match"]["matched"] is False
    assert found.get("route") is None


async def test_what_the_runtime_lacks_leaves_no_surface_and_no_plan(taught: Taught) -> None:
    needed = taught.stack.services.capabilities.required_caps()
    checks = tuple(RuntimeCapabilityCheck(name=name, present=False) for name in needed)
    inventory = RuntimeInventory(checks=checks, checked_at=datetime.now(UTC))
    taught.stack.services.capabilities.keep_inventory(inventory)
    found = await explain(taught)
    assert (found["would_be_used"], found.get("plan"), found.get("chosen_surface")) == (False, None, None)
    assert all(not one["available"] and needed[0] in one["reason"] for one in found["surfaces"])
    assert any("no surface to act on" in why for why in found["why_not"])


async def through_a_server(taught: Taught, *others: str) -> str:
    """Has the capability that was taught go through a tool server of alice's too; the server's id.

    ``others`` are its other surfaces, named before the server's; without them its own, named behind it.
    """
    server_id = await add_server(taught.stack, taught.alice, "Mail", "search_mail")
    with taught.stack.database.write() as connection:
        text = connection.scalar(capabilities.select().with_only_columns(capabilities.c.manifest))
        manifest = CapabilityManifest.model_validate_json(text or "")
        surfaces = (*others, "mcp_server") if others else ("mcp_server", *manifest.surface_order)
        changed = CapabilityManifest.model_validate(
            {
                **manifest.model_dump(),
                "surface_order": surfaces,
                "required_runtime_caps": [f"mcp_server:{server_id}"],
            }
        )
        connection.execute(capabilities.update().values(manifest=canonical_json(changed)))
    return server_id


def connector_of(found: dict[str, Any]) -> dict[str, Any]:
    return next(one for one in found["surfaces"] if one["surface"] == "mcp_server")


async def test_a_capability_that_goes_through_a_server_is_explained_with_the_way_to_it(
    taught: Taught,
) -> None:
    server_id = await through_a_server(taught)
    found = await explain(taught)
    assert (found["route"]["decision"], found["route"]["server_id"]) == ("allow", server_id)
    assert connector_of(found)["available"]
    await decide(taught.alice, server_id, "disabled")
    found = await explain(taught)
    assert (found["route"]["decision"], connector_of(found)["available"]) == ("deny", False)
    assert found["chosen_surface"] != "mcp_server"


@pytest.mark.acceptance("9.12-3")
async def test_a_browser_is_chosen_for_a_capability_only_while_its_healthy_connector_is_not_allowed(
    taught: Taught,
) -> None:
    server_id = await through_a_server(taught, "native_openclaw_browser", "page_knowledge_ui")
    found = await explain(taught)
    assert {one["surface"]: one["available"] for one in found["surfaces"]} == {
        "native_openclaw_browser": True,
        "page_knowledge_ui": True,
        "mcp_server": True,
    }
    assert found["chosen_surface"] == "mcp_server"
    assert {step["act_surface"] for step in found["plan"]["steps"]} == {"mcp_server"}
    await decide(taught.alice, server_id, "disabled")
    assert (await explain(taught))["chosen_surface"] == "native_openclaw_browser"


@pytest.mark.acceptance("9.13-3")
async def test_with_no_tool_server_allowed_capabilities_and_agents_are_told_that_there_is_no_way(
    taught: Taught,
) -> None:
    await through_a_server(taught)
    body = {"target": {"target_kind": "global"}, "decision": {"mode": "disabled"}}
    await taught.alice.ok("POST", "/api/mcp/policy/update", body)
    found = await explain(taught)
    assert (found["route"]["decision"], connector_of(found)["available"]) == ("deny", False)
    assert "Policy forbids it." in found["route"]["left_out"][0]["why"]
    assert found["chosen_surface"] != "mcp_server"
    async with served(taught.stack) as address, agent(address, agent_token(taught.stack)) as client:
        assert (await answer(client, "find_tool", {}))["tools"] == []
        assert (await answer(client, "explain_route", {}))["decision"] == "deny"


async def test_a_capability_that_only_its_owner_may_see_is_not_there_for_others(stack: Stack) -> None:
    alice, bob = stack.learner(), stack.learner("bob")
    await alice.teach(allow_private_install=True)
    installed = await alice.propose_act("install", {"install_lane": "experimental_private"})
    asked = {"capability_id": installed["ability_id"]}
    assert (await alice.ok("POST", "/api/capabilities/explain", asked))["ability_id"]
    for path in ("/api/capabilities/explain", "/api/mcp/route/explain"):
        status, error = await bob.refused("POST", path, asked)
        assert (status, error["code"]) == (404, "NOT_FOUND")
