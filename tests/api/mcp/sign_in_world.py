"""Sign-ins for the API's tests: one that nobody uses, and a life of requests about some that are used."""

from collections.abc import Awaitable, Callable
from typing import Any

from api.platform.openapi import examples
from tests.fixtures.authorization_server import AuthorizationServer, running_authorization_server
from tests.fixtures.learner import Learner
from tests.fixtures.signing_in import Person
from tests.fixtures.stack import Stack

EXAMPLES = examples().requests

Ask = Callable[..., Awaitable[dict[str, Any]]]


async def add_sign_in(person: Learner) -> dict[str, str]:
    """A sign-in that no server uses; its id as it stands in paths."""
    body = {"provider": "custom_remote", "auth_mode": "api_key"}
    made = await person.ok("POST", "/api/mcp/auth-profiles", body)
    return {"auth_profile_id": str(made["auth_profile_id"])}


async def signed_in(stack: Stack, person: Learner, ask: Ask) -> None:
    """A sign-in that is made, begun, finished, renewed and changed; others that end in every way."""
    with running_authorization_server() as server:
        await _lives(Person(stack, person), server, ask)
        await _ends(Person(stack, person), server, ask)
    made = await ask("mcp_auth_profile_create", EXAMPLES["mcp_auth_profile_create"])
    await ask("mcp_auth_profile_delete", auth_profile_id=made["auth_profile_id"])


async def _lives(alice: Person, server: AuthorizationServer, ask: Ask) -> None:
    alice = await alice.registers(server.url)
    ids, about = {"server_id": alice.server_id}, {"server_id": alice.server_id}
    # Neither used nor ended: it is answered the same for as long as it may be used.
    await ask("mcp_auth_start", about, **ids)
    await alice.signs_in()
    await ask("mcp_auth_refresh", {**about, "force": True}, **ids)
    path = {"auth_profile_id": alice.profile_id}
    await ask("mcp_auth_profile_patch", EXAMPLES["mcp_auth_profile_patch"], **path)


async def _ends(alice: Person, server: AuthorizationServer, ask: Ask) -> None:
    alice = await alice.registers(server.url)
    begun = await alice.starts()
    answer = {"challenge_id": begun["challenge_id"], "decision": "deny"}
    await ask("mcp_auth_challenge_respond", answer)
    await ask("mcp_auth_revoke", {"server_id": alice.server_id}, server_id=alice.server_id)
