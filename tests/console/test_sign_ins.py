"""Sign-ins of tool servers in a real browser: what is lacking is said, and what a revocation leaves to do."""

from datetime import UTC, datetime, timedelta

import pytest
from playwright.async_api import expect

from api.services import secret_store
from clients.mcp.oauth_tokens import TokenSet
from contracts.mcp.auth_work import AuthorizationServer, OAuthClient
from stores.mcp.auth.profiles import stored_profile
from stores.mcp.auth.tokens import NewToken, with_token
from tests.console.conftest import PATIENCE_MS, Console
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio
expect.set_options(timeout=PATIENCE_MS)

SERVER = "https://notes.example.org/mcp"
# Nobody answers there, and nobody is asked: addresses of this machine are not called.
ISSUER = "https://127.0.0.1:9"


async def a_connector(person: Learner) -> tuple[str, str]:
    """A server with a sign-in; their ids."""
    wanted = {"provider": "custom_remote", "auth_mode": "oauth2_delegated", "client_id": "us"}
    profile = (await person.ok("POST", "/api/mcp/auth-profiles", wanted))["auth_profile_id"]
    body = {"provider": "custom_remote", "display_name": "Notes", "transport": "remote_http"}
    # Switched off, it is not looked at.
    body |= {"endpoint_url": SERVER, "auth_profile_id": profile, "enabled": False}
    made = await person.ok("POST", "/api/mcp/servers/register", body)
    return made["server"]["registry"]["server_id"], profile


def signed_in(stack: Stack, profile_id: str, *, needed: str) -> None:
    """As if alice had been at the authorization server, and a tool had then wanted more than it gave."""
    now = datetime.now(UTC)
    issuer = AuthorizationServer(
        issuer=ISSUER,
        authorization_endpoint=f"{ISSUER}/authorize",
        token_endpoint=f"{ISSUER}/token",
        revocation_endpoint=f"{ISSUER}/revoke",
        resource=SERVER,
    )
    ends = now + timedelta(hours=1)
    tokens = TokenSet("access-1", None, now, ends, "notes.read")
    with stack.database.write() as connection:
        stored = stored_profile(connection, profile_id, "alice", lock=True)
        known = stored.connection.changed(
            server=issuer,
            client=OAuthClient(issuer=ISSUER, client_id="us"),
            scopes_requested=("notes.read",),
            scopes_needed=(needed,),
        )
        token = NewToken(tokens.sealed(), now, ends, ("notes.read",), refreshable=False)
        secrets = secret_store(stack.settings, stack.database)
        with_token(secrets, connection, stored.changed(now, known), token, now)


async def test_a_lacking_scope_is_shown_and_a_revocation_says_what_is_left_to_do(
    stack: Stack, console: Console
) -> None:
    person, page = stack.learner("alice", ("read", "install")), console.page
    server_id, profile_id = await a_connector(person)
    signed_in(stack, profile_id, needed="notes.write")
    await console.sign_in(person.secret)
    await console.open(f"connectors/{server_id}")
    stands = page.get_by_role("region", name="Where it stands")
    await expect(stands).to_contain_text("Sign in again and grant notes.write")

    await stands.get_by_role("button", name="Sign in", exact=True).click()
    await expect(page.get_by_role("dialog")).to_contain_text("lacks what a tool needs: notes.write")
    await page.get_by_role("dialog").get_by_role("button", name="Go back").click()

    await stands.get_by_role("button", name="Revoke the sign-in…").click()
    await page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    left = page.get_by_role("alert")
    await expect(left).to_contain_text("one thing is left")
    await expect(left).to_contain_text("in the account there")
    await expect(stands).to_contain_text("revoked")
    assert (await person.ok("GET", f"/api/mcp/servers/{server_id}/auth/status"))["auth_state"] == "revoked"
    await page.get_by_role("button", name="Dismiss").click()
    await expect(left).to_have_count(0)
