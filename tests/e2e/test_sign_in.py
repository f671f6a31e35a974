"""Signing in to a tool server: through our routes, with a browser, at the SDK's authorization server and ours."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest

from clients.mcp.tool_client import ToolClient
from contracts.mcp.tools import ToolCall
from stores.mcp.servers.server_rows import server_of
from tests.fixtures.authorization_server import AuthorizationServer
from tests.fixtures.signing_in import OWN_ADDRESS, OAuthToolServer, Person, person

pytestmark = pytest.mark.anyio


def asked_of(url: str) -> dict[str, str]:
    """The query of an address."""
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


async def test_a_person_signs_in_at_the_sdks_server_and_its_tool_answers(
    alice: Person, oauth_tool_server: OAuthToolServer
) -> None:
    alice = await alice.registers(oauth_tool_server.url)
    assert (await alice.status())["auth_state"] == "unknown"

    begun = await alice.starts(requested_scopes_override=["notes.read", "notes.write"])
    asked = asked_of(begun["auth_url"])
    assert asked["code_challenge_method"] == "S256"
    assert asked["resource"] == oauth_tool_server.url
    assert asked["redirect_uri"] == f"{OWN_ADDRESS}{alice.auth}/callback"
    assert len(asked["state"]) >= 43
    answer = await alice.comes_back(await alice.browses(begun["auth_url"]))

    status = answer.json()
    assert (status["auth_state"], status["scopes_missing"]) == ("healthy", []), answer.text
    assert status["scopes_granted"] == ["notes.read", "notes.write"]
    assert status["expires_at"] > status["refresh_at"]
    assert [one["status"] for one in await alice.receipts("auth_callback")] == ["ok"]
    with alice.stack.database.read() as connection:
        entry = server_of(connection, alice.server_id, "alice")
    call = ToolCall(tool_name="read_note", arguments={"name": "n"})
    token = alice.tokens()["access_token"]
    told = await ToolClient(allow_private=True).call(entry, call, token, lambda: None)
    assert "the note n" in json.dumps(told.content)


async def test_the_sdks_server_renews_and_revokes(alice: Person, oauth_tool_server: OAuthToolServer) -> None:
    alice = await alice.registers(oauth_tool_server.url)
    await alice.signs_in()
    first = alice.tokens()

    await alice.refreshes(force=True)

    second = alice.tokens()
    assert first["access_token"] != second["access_token"]
    assert first["refresh_token"] != second["refresh_token"]
    revoked = await alice.revokes(revoke_remote=True)
    assert (revoked["revoked"], revoked["status"]) == (True, "revoked")
    assert revoked["remote_outcome"] == "revoked"
    assert revoked.get("next_action") is None
    status = await alice.status()
    assert status["auth_state"] == "revoked"
    assert "auth start" in status["next_action"]
    assert alice.stored().profile.token_ref is None
    (receipt,) = await alice.receipts("auth_revoke")
    assert receipt["status"] == "ok"
    assert (await alice.revokes())["status"] == "already_revoked"


async def test_a_revocation_that_the_authorization_server_does_not_take_says_what_is_left_to_do(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    alice = await alice.registers(authorization_server.url)
    await alice.signs_in()
    authorization_server.ways.revocation_status = 503
    revoked = await alice.revokes(revoke_remote=True)
    assert (revoked["revoked"], revoked["status"]) == (True, "revoked")
    assert revoked["remote_outcome"] not in (None, "revoked")
    assert "in the account there" in revoked["next_action"]
    assert alice.stored().profile.token_ref is None
    (receipt,) = await alice.receipts("auth_revoke")
    assert receipt["status"] == "degraded"


async def test_the_client_is_registered_once_for_each_issuer(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    alice = await alice.registers(authorization_server.url)
    await alice.signs_in()
    await alice.signs_in()
    assert len(authorization_server.registered) == 1
    (registered,) = authorization_server.registered
    assert registered["redirect_uris"] == [f"{OWN_ADDRESS}{alice.auth}/callback"]


async def test_a_client_is_registered_anew_for_scopes_that_it_was_not_registered_for(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    authorization_server.ways.metadata["scopes_supported"] = None
    alice = await alice.registers(authorization_server.url, scopes=["files.read"])
    await alice.signs_in()
    await alice.signs_in(requested_scopes_override=["files.read", "files.write"])
    await alice.signs_in()
    assert [one["scope"] for one in authorization_server.registered] == [
        "files.read",
        "files.read files.write",
    ]


async def test_a_way_back_of_ones_own_is_taken_away_again_and_leaving_it_out_keeps_it(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    elsewhere = f"{OWN_ADDRESS}/elsewhere"
    alice = await alice.registers(authorization_server.url, redirect_uri=elsewhere)
    path = f"/api/mcp/auth-profiles/{alice.profile_id}"
    kept = await alice.client.ok("PATCH", path, {"refresh_policy": "manual"})
    assert (kept["redirect_uri"], kept["refresh_policy"]) == (elsewhere, "manual")
    assert (await alice.client.ok("PATCH", path, {"redirect_uri": None}))["redirect_uri"] is None
    asked = parse_qs(urlsplit((await alice.starts())["auth_url"]).query)
    assert asked["redirect_uri"] == [f"{OWN_ADDRESS}{alice.auth}/callback"]


async def test_scopes_that_were_not_granted_are_named_with_what_to_do(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    authorization_server.ways.granted = "files.read"
    alice = await alice.registers(authorization_server.url, scopes=["files.read", "files.write"])
    status = await alice.signs_in()
    assert (status["auth_state"], status["scopes_granted"]) == ("healthy", ["files.read"])
    assert status["scopes_missing"] == ["files.write"]
    assert "files.write" in status["next_action"]
    (receipt,) = await alice.receipts("auth_callback")
    assert receipt["status"] == "degraded"


async def test_a_scope_too_long_to_be_kept_is_left_out_of_what_was_granted(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    authorization_server.ways.granted = f"files.read {'x' * 161}"
    alice = await alice.registers(authorization_server.url, scopes=["files.read"])
    status = await alice.signs_in()
    assert (status["auth_state"], status["scopes_granted"]) == ("healthy", ["files.read"])
    assert (await alice.status())["scopes_granted"] == ["files.read"]


async def test_a_client_made_by_hand_proves_itself_with_its_secret(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    authorization_server.know("by-hand", "s3cret/with+signs")
    alice = await alice.registers(authorization_server.url, client_id="by-hand")
    body = {"secret": "s3cret/with+signs"}
    await alice.client.ok("PUT", f"/api/mcp/auth-profiles/{alice.profile_id}/secret", body)
    assert (await alice.signs_in())["auth_state"] == "healthy"
    assert authorization_server.registered == []


async def test_a_client_of_our_own_gets_its_token_without_a_browser(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    authorization_server.know("service", "of-a-service")
    alice = await alice.registers(
        authorization_server.url,
        "oauth2_client_credentials",
        client_id="service",
        token_subject_kind="service",
        scopes=["files.read"],
    )
    assert "secret" in (await alice.status())["next_action"]
    path = f"/api/mcp/auth-profiles/{alice.profile_id}/secret"
    await alice.client.ok("PUT", path, {"secret": "of-a-service"})
    status, error = await alice.client.refused("POST", f"{alice.auth}/start", {"server_id": alice.server_id})
    assert (status, error["code"]) == (409, "CONFLICT")

    found = await alice.refreshes()

    assert (found["auth_state"], found["scopes_granted"]) == ("healthy", ["files.read"])
    form, _ = authorization_server.token_requests[-1]
    assert (form["grant_type"], form["resource"]) == ("client_credentials", authorization_server.url)
    assert "client_secret" not in form


async def test_somebody_else_sees_and_touches_nothing(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    alice = await alice.registers(authorization_server.url)
    await alice.signs_in()
    mallory = person(alice.stack, "mallory").client
    for method, path, body in (
        ("GET", f"{alice.auth}/status", None),
        ("POST", f"{alice.auth}/start", {"server_id": alice.server_id}),
        ("POST", f"{alice.auth}/refresh", {"server_id": alice.server_id}),
        ("POST", f"{alice.auth}/revoke", {"server_id": alice.server_id}),
        ("PATCH", f"/api/mcp/auth-profiles/{alice.profile_id}", {}),
        ("DELETE", f"/api/mcp/auth-profiles/{alice.profile_id}", None),
        ("PUT", f"/api/mcp/auth-profiles/{alice.profile_id}/secret", {"secret": "x"}),
    ):
        status, _ = await mallory.refused(method, path, body)
        assert status == 404, path
    listed = await mallory.ok("GET", "/api/mcp/auth-profiles")
    assert (listed["auth_profiles"], listed["total"]) == ([], 0)
    assert (await alice.status())["auth_state"] == "healthy"


@pytest.mark.acceptance("mcp_shared_auth_profile_delete_blocked")
async def test_a_sign_in_in_use_is_not_deleted_and_one_that_is_not_goes_with_its_secrets(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    alice = await alice.registers(authorization_server.url, shared_profile=True)
    second = await alice.adds_server(authorization_server.url)
    await alice.signs_in()
    path = f"/api/mcp/auth-profiles/{alice.profile_id}"

    status, error = await alice.client.refused("DELETE", path)
    assert (status, error["code"]) == (409, "MCP_AUTH_PROFILE_IN_USE")
    assert set(error["blocked_by_server_ids"]) == {alice.server_id, second.server_id}
    gone = await alice.client.ok("DELETE", f"/api/mcp/servers/{second.server_id}")
    assert gone["auth_profile_action"] == "retained_shared"
    status, error = await alice.client.refused("DELETE", path)
    assert (status, error["code"]) == (409, "MCP_AUTH_PROFILE_IN_USE")
    assert (await alice.status())["auth_state"] == "healthy"

    await alice.client.ok("DELETE", f"/api/mcp/servers/{alice.server_id}")
    assert (await alice.client.ok("DELETE", path))["deleted"] is True
    assert await kept_secrets(alice) == 0
    status, error = await alice.client.refused("DELETE", path)
    assert (status, error["code"]) == (404, "MCP_AUTH_PROFILE_NOT_FOUND")


async def kept_secrets(alice: Person) -> int:
    """How many secrets are kept."""
    return sum(use.records for use in alice.stack.services.mcp.secrets.key_uses())


async def test_revoking_without_keeping_deletes_a_sign_in_that_no_other_server_uses(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    alice = await alice.registers(authorization_server.url)
    second = await alice.adds_server(authorization_server.url)
    await alice.signs_in()
    await alice.revokes(keep_auth_profile=False, revoke_remote=True)
    assert (await alice.status())["auth_state"] == "revoked"
    assert len(authorization_server.revoked) == 2

    await alice.client.ok("DELETE", f"/api/mcp/servers/{second.server_id}")
    await alice.revokes(keep_auth_profile=False)
    found = await alice.client.ok("GET", "/api/mcp/auth-profiles")
    assert found["auth_profiles"] == []
    status = await alice.status()
    assert (status["auth_mode"], "auth_profile_id" in status and status["auth_profile_id"]) == ("none", None)
    assert await kept_secrets(alice) == 0


@pytest.mark.acceptance("R11.2-40")
async def test_no_token_code_verifier_or_state_is_in_any_file_but_the_secret_store(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    alice = await alice.registers(authorization_server.url, provider="m365")
    begun = await alice.starts()
    asked = asked_of(begun["auth_url"])
    back = await alice.browses(begun["auth_url"])
    code = asked_of(back)["code"]
    await alice.comes_back(back)
    before = alice.tokens()
    await alice.refreshes(force=True)
    after = alice.tokens()
    planted = [code, asked["state"], *authorization_server.clients.values()]
    planted += [one[name] for one in (before, after) for name in ("access_token", "refresh_token")]
    planted += [form["code_verifier"] for form, _ in authorization_server.token_requests if "code" in form]

    written = b"".join(
        path.read_bytes() for path in alice.stack.settings.data_dir.rglob("*") if path.is_file()
    )
    workflow = alice.stack.client.get_workflow_handle(f"auth-profile/{alice.profile_id}")
    history = (await workflow.fetch_history()).to_json()
    answers = json.dumps([await alice.receipts(kind) for kind in ("auth_start", "auth_callback")])
    for secret in planted:
        assert secret is not None
        assert len(secret) > 12
        assert secret.encode() not in written
        assert secret not in history
        assert secret not in answers


async def test_an_api_key_is_the_sign_in_and_is_never_shown(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    alice = await alice.registers(authorization_server.url, "api_key")
    assert (await alice.status())["auth_state"] == "unknown"
    path = f"/api/mcp/auth-profiles/{alice.profile_id}"
    entered = await alice.client.ok("PUT", f"{path}/secret", {"secret": "key-of-alice-1234"})
    listed = await alice.client.ok("GET", "/api/mcp/auth-profiles")
    assert "key-of-alice" not in json.dumps([entered, listed])
    assert (await alice.status())["auth_state"] == "healthy"
    status, error = await alice.client.refused(
        "POST", f"{alice.auth}/refresh", {"server_id": alice.server_id}
    )
    assert (status, error["code"]) == (409, "MCP_OAUTH_REFRESH_NOT_ALLOWED")
    assert (await alice.revokes())["status"] == "revoked"
    assert await kept_secrets(alice) == 0
