"""A server that tells its tools to those alone who are signed in: what is shown before, and after."""

from typing import Any

import anyio
import pytest

from tests.fixtures.learner import WAIT_AT_MOST_SECONDS
from tests.fixtures.signing_in import OAuthToolServer, Person, person
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio


async def test_who_is_not_signed_in_is_told_so_and_a_sign_in_brings_the_tools(
    sign_in_stack: Stack, oauth_tool_server: OAuthToolServer
) -> None:
    alice = await person(sign_in_stack).registers(oauth_tool_server.url)
    before = await until(alice, "auth_state", "challenge_required")
    assert (before["failure_count_rolling"], "auth/start" in before["next_action"]) == (0, True)
    assert await tools(alice) == []
    await alice.signs_in()
    after = await until(alice, "health_status", "healthy")
    assert (after["auth_state"], after.get("next_action")) == ("healthy", None)
    assert await tools(alice) != []
    body = {"server_id": alice.server_id}
    tried = await alice.client.ok("POST", f"/api/mcp/servers/{alice.server_id}/smoke-test", body)
    assert (tried["status"], "signed in" in tried["summary"]) == ("passed", True)


async def until(alice: Person, field: str, value: str) -> dict[str, Any]:
    """The server's health once it says so; it is polled, as nothing is pushed."""
    with anyio.fail_after(WAIT_AT_MOST_SECONDS):
        while True:
            found = await alice.client.ok("GET", f"/api/mcp/servers/{alice.server_id}/health")
            if found[field] == value:
                return found
            await anyio.sleep(0.02)


async def tools(alice: Person) -> list[Any]:
    """The server's tools as they are known."""
    found = await alice.client.ok("GET", f"/api/mcp/servers/{alice.server_id}/tools")
    return list(found["tools"])
