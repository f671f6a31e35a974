"""A sign-in that two servers name: the token of one never reaches the other."""

from typing import Any

import pytest

from tests.fixtures.authorization_server import AuthorizationServer
from tests.fixtures.mcp_servers import MisbehavingServer
from tests.fixtures.signing_in import Person

pytestmark = pytest.mark.anyio


def bearers(server: MisbehavingServer) -> set[Any]:
    """What the server was sent as a token, by any request."""
    return {one["headers"].get("authorization") for one in server.asked("tools/list")}


@pytest.mark.parametrize("shared", [False, True])
async def test_the_token_of_one_server_is_not_sent_to_another_origin(
    alice: Person,
    authorization_server: AuthorizationServer,
    misbehaving_server: MisbehavingServer,
    shared: bool,
) -> None:
    alice = await alice.registers(authorization_server.url, shared_profile=shared)
    await alice.signs_in()
    nosy = await alice.adds_server(misbehaving_server.url)
    path = f"/api/mcp/servers/{nosy.server_id}/smoke-test"
    await nosy.client.ok("POST", path, {"server_id": nosy.server_id})
    assert bearers(misbehaving_server) == {None}
    found = await nosy.status()
    assert found["auth_state"] == "challenge_required"
    assert authorization_server.origin in found["next_action"]
    assert (await alice.status())["auth_state"] == "healthy"


async def test_a_server_that_moves_takes_no_token_along(
    alice: Person, authorization_server: AuthorizationServer, misbehaving_server: MisbehavingServer
) -> None:
    alice = await alice.registers(authorization_server.url)
    await alice.signs_in()
    path = f"/api/mcp/servers/{alice.server_id}"
    status, error = await alice.client.refused("PATCH", path, {"endpoint_url": misbehaving_server.url})
    assert (status, error["fields"][0]["path"]) == (422, "auth_profile_id")
    body = {"endpoint_url": misbehaving_server.url, "auth_profile_id": alice.profile_id}
    await alice.client.ok("PATCH", path, body)
    await alice.client.ok("POST", f"{path}/smoke-test", {"server_id": alice.server_id})
    assert bearers(misbehaving_server) == {None}


@pytest.mark.parametrize("way_back", ["https://elsewhere.example/callback", "http://10.0.0.9/callback"])
async def test_a_sign_in_comes_back_to_this_service_alone(
    alice: Person, authorization_server: AuthorizationServer, way_back: str
) -> None:
    alice = await alice.registers(authorization_server.url, redirect_uri=way_back)
    status, error = await alice.client.refused("POST", f"{alice.auth}/start", {"server_id": alice.server_id})
    assert (status, error["code"]) == (422, "VALIDATION_FAILED")
    assert "APPRENTICE_PUBLIC_URL" in error["message"]
