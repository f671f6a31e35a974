"""Calls of a server that wants a sign-in: a token that ends in the middle costs no effect, and doubles none."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import pytest
from temporalio.client import Client

from tests.fixtures.learner import WAIT_AT_MOST_SECONDS
from tests.fixtures.signing_in import OWN_ADDRESS, OAuthToolServer, Person
from tests.fixtures.stack import Stack, connect, running_stack, stack_settings
from tests.fixtures.tool_calls import CALLER_SCOPES, ToolUser

pytestmark = pytest.mark.anyio

MILK = {"line": "milk"}


async def signed_in(stack: Stack, server: OAuthToolServer) -> tuple[Person, ToolUser]:
    """Alice signed in to the server, whose tools are known; and as the agent that calls them."""
    learner = stack.learner("alice", CALLER_SCOPES)
    alice = await Person(stack, learner).registers(server.url, refresh_policy="auto_if_refresh_token")
    await alice.signs_in()
    with anyio.fail_after(WAIT_AT_MOST_SECONDS):
        while not (await learner.ok("GET", f"/api/mcp/servers/{alice.server_id}/tools"))["tools"]:
            await anyio.sleep(0.02)
    return alice, ToolUser(stack, learner, alice.server_id)


async def made(agent: ToolUser) -> dict[str, Any]:
    """A call that a person approved, ended."""
    asked = await agent.ask("append_line", MILK)
    await agent.approve(asked["dispatch_id"])
    return await agent.ended(asked["dispatch_id"])


async def renewed_in_the_middle(stack: Stack, server: OAuthToolServer) -> None:
    alice, agent = await signed_in(stack, server)
    before = alice.tokens()
    asked = await agent.ask("append_line", MILK)
    server.ends(before["access_token"])
    await agent.approve(asked["dispatch_id"])
    ended = await agent.ended(asked["dispatch_id"])
    assert ended["status"] == "completed", ended
    assert [one["key"] for one in server.effects()] == [asked["dispatch_id"]]
    whose = ("oauth_user", alice.profile_id)
    assert (ended["identity_asserted_kind"], ended["identity_asserted_ref"]) == whose
    shown = (await alice.receipts("dispatch"))[0]
    assert (shown["identity_asserted_kind"], shown["identity_asserted_ref"]) == whose
    after = alice.tokens()
    assert after["access_token"] != before["access_token"]
    assert alice.stored().connection.token_version == 2
    assert [one["status"] for one in await alice.receipts("auth_refresh")] == ["ok"]


async def lost_and_signed_in_again(stack: Stack, server: OAuthToolServer) -> None:
    alice, agent = await signed_in(stack, server)
    tokens = alice.tokens()
    server.ends(tokens["access_token"], tokens["refresh_token"])
    ended = await made(agent)
    assert (ended["status"], ended["error_code"]) == ("auth_required", "MCP_AUTH_CHALLENGE_REQUIRED"), ended
    assert "Sign in" in ended["next_action"]
    assert server.effects() == []
    listed = await alice.client.ok("GET", "/api/mcp/servers")
    (card,) = [one for one in listed["servers"] if one["registry"]["server_id"] == alice.server_id]
    assert "auth_required" in card["badge_states"]
    assert (await alice.status())["auth_state"] == "challenge_required"

    await alice.signs_in()
    again = await made(agent)
    assert again["status"] == "completed", again
    assert [one["key"] for one in server.effects()] == [again["dispatch_id"]]
    listed = await alice.client.ok("GET", "/api/mcp/servers")
    (card,) = [one for one in listed["servers"] if one["registry"]["server_id"] == alice.server_id]
    assert "auth_required" not in card["badge_states"]


async def lacking_a_scope_and_signed_in_with_it(stack: Stack, server: OAuthToolServer) -> None:
    alice, agent = await signed_in(stack, server)
    assert (await alice.status())["scopes_missing"] == []
    for _ in range(2):
        asked = await agent.ask("publish_note", {"name": "plan"})
        await agent.approve(asked["dispatch_id"])
        ended = await agent.ended(asked["dispatch_id"])
        assert (ended["status"], ended["error_code"]) == ("auth_required", "MCP_AUTH_CHALLENGE_REQUIRED")
        assert "notes.write" in ended["error_message"]
    assert server.effects() == []
    lacking = await alice.status()
    assert (lacking["auth_state"], lacking["scopes_missing"]) == ("healthy", ["notes.write"])
    assert "notes.write" in lacking["next_action"]
    told = [one for one in await alice.receipts("auth_refresh") if one["status"] == "degraded"]
    assert len(told) == 1
    assert (await made(agent))["status"] == "completed"

    begun = await alice.starts()
    asked_for = parse_qs(urlsplit(begun["auth_url"]).query)["scope"][0].split()
    assert asked_for == ["notes.read", "notes.write"]
    await alice.comes_back(await alice.browses(begun["auth_url"]))
    assert (await alice.status())["scopes_missing"] == []
    asked = await agent.ask("publish_note", {"name": "plan"})
    await agent.approve(asked["dispatch_id"])
    assert (await agent.ended(asked["dispatch_id"]))["status"] == "completed"
    assert [one["tool"] for one in server.effects()] == ["append_line", "publish_note"]


async def test_a_scope_that_a_tool_needs_is_shown_as_missing_and_the_next_sign_in_asks_for_it(
    sign_in_stack: Stack, oauth_tool_server: OAuthToolServer
) -> None:
    await lacking_a_scope_and_signed_in_with_it(sign_in_stack, oauth_tool_server)


async def test_a_token_that_the_server_takes_no_more_is_renewed_and_the_call_is_made_once(
    sign_in_stack: Stack, oauth_tool_server: OAuthToolServer
) -> None:
    await renewed_in_the_middle(sign_in_stack, oauth_tool_server)


@pytest.mark.acceptance("0.11C-12")
async def test_a_lost_sign_in_ends_the_call_and_after_a_new_one_another_call_works(
    sign_in_stack: Stack, oauth_tool_server: OAuthToolServer
) -> None:
    await lost_and_signed_in_again(sign_in_stack, oauth_tool_server)


@pytest.fixture
async def temporal_client(temporal_address: str) -> Client:
    return await connect(temporal_address)


@pytest.mark.parametrize(
    "walk", [renewed_in_the_middle, lost_and_signed_in_again, lacking_a_scope_and_signed_in_with_it]
)
async def test_the_same_on_postgres(
    tmp_path: Path,
    temporal_client: Client,
    migrated_postgres_url: str,
    oauth_tool_server: OAuthToolServer,
    walk: Any,
) -> None:
    settings = stack_settings(
        tmp_path,
        database_url=migrated_postgres_url,
        mcp_allow_private_addresses=True,
        secret_key_source="file",
        public_url=OWN_ADDRESS,
    )
    async with running_stack(settings, temporal_client) as stack:
        await walk(stack, oauth_tool_server)
