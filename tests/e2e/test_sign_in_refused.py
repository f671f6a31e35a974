"""Sign-ins that must not come about: stale and stolen states, wrong servers, servers that promise too little."""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from html import escape, unescape
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from sqlalchemy import update

from contracts.base import rfc3339
from contracts.mcp.auth_work import SignInFlow
from stores.mcp.mcp_tables import mcp_oauth_flows
from stores.platform.canonical import canonical_json
from tests.fixtures.authorization_server import AuthorizationServer
from tests.fixtures.signing_in import Person

pytestmark = pytest.mark.anyio


async def test_a_state_is_good_for_one_callback(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    alice = await alice.registers(authorization_server.url)
    back = await alice.browses((await alice.starts())["auth_url"])
    answers = await asyncio.gather(*(alice.comes_back(back) for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [200, 400, 400, 400, 400]
    again = await alice.comes_back(back)
    assert again.json()["error"]["code"] == "MCP_OAUTH_STATE_INVALID"
    assert authorization_server.asked_for("authorization_code") == 1
    assert (await alice.status())["auth_state"] == "healthy"


async def test_a_state_of_nobody_or_of_another_server_is_refused(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    alice = await alice.registers(authorization_server.url)
    other = await alice.adds_server(authorization_server.url)
    back = await alice.browses((await alice.starts())["auth_url"])
    for path in (f"{alice.auth}/callback?state=guessed&code=x", back.replace(alice.auth, other.auth)):
        answer = await alice.comes_back(path)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "MCP_OAUTH_STATE_INVALID")
    assert authorization_server.token_requests == []
    assert (await alice.comes_back(back)).status_code == 200


async def test_a_callback_that_comes_too_late_is_refused_and_the_state_is_over(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    alice = await alice.registers(authorization_server.url)
    begun = await alice.starts()
    lives = datetime.fromisoformat(begun["expires_at"]) - datetime.now(UTC)
    assert timedelta(minutes=9) < lives <= timedelta(minutes=10)
    back = await alice.browses(begun["auth_url"])
    age_flow(alice, begun["challenge_id"])

    answer = await alice.comes_back(back)

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "MCP_OAUTH_STATE_INVALID")
    assert "took too long" in answer.json()["error"]["message"]
    assert authorization_server.token_requests == []
    asked = {"challenge_id": begun["challenge_id"], "decision": "approve"}
    resolved = await alice.client.ok("POST", "/api/mcp/auth/challenge/respond", asked)
    assert (resolved["resolved"], resolved["resolution"]) == (True, "expired")


def age_flow(alice: Person, challenge_id: str) -> None:
    """Makes a flow one that was begun long ago."""
    flow = alice.stack.services.mcp.sign_ins.flow(challenge_id, "alice")
    assert flow is not None
    past = datetime.now(UTC) - timedelta(seconds=1)
    aged: SignInFlow = flow.changed(expires_at=past)
    with alice.stack.database.write() as connection:
        connection.execute(
            update(mcp_oauth_flows)
            .where(mcp_oauth_flows.c.challenge_id == challenge_id)
            .values(expires_at=rfc3339(past), body=canonical_json(aged))
        )


async def test_a_denied_sign_in_ends_and_cannot_be_finished(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    alice = await alice.registers(authorization_server.url)
    begun = await alice.starts()
    back = await alice.browses(begun["auth_url"])
    asked = {"challenge_id": begun["challenge_id"], "action": "deny"}
    resolved = await alice.client.ok("POST", "/api/mcp/auth/challenge/respond", asked)
    assert (resolved["resolved"], resolved["resolution"]) == (True, "denied")
    assert resolved["auth_status"]["last_auth_error_code"] == "denied_by_person"
    assert (await alice.comes_back(back)).json()["error"]["code"] == "MCP_OAUTH_STATE_INVALID"
    assert authorization_server.token_requests == []


async def test_what_the_provider_has_against_it_is_kept_and_shown(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    authorization_server.ways.denies = "access_denied"
    alice = await alice.registers(authorization_server.url)
    status = await alice.signs_in()
    assert (status["auth_state"], status["last_auth_error_code"]) == ("challenge_required", "access_denied")
    assert "auth start" in status["next_action"]
    (receipt,) = await alice.receipts("auth_callback")
    assert receipt["status"] == "failed"
    assert authorization_server.token_requests == []
    authorization_server.ways.denies = None
    assert (await alice.signs_in())["last_auth_error_code"] is None


@pytest.mark.parametrize(
    ("names_itself", "iss"), [(True, "https://attacker.example"), (False, "https://attacker.example")]
)
async def test_a_code_of_another_issuer_is_sent_to_nobody(
    alice: Person, authorization_server: AuthorizationServer, names_itself: bool, iss: str
) -> None:
    authorization_server.ways.names_itself = names_itself
    authorization_server.ways.callback_iss = iss
    alice = await alice.registers(authorization_server.url)
    back = await alice.browses((await alice.starts())["auth_url"])
    answer = await alice.comes_back(back)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "MCP_OAUTH_STATE_INVALID")
    assert authorization_server.token_requests == []
    assert (await alice.status())["last_auth_error_code"] == "issuer_mismatch"


async def test_a_denial_of_another_issuer_is_not_believed(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    authorization_server.ways.denies = "access_denied"
    authorization_server.ways.callback_iss = "https://attacker.example"
    alice = await alice.registers(authorization_server.url)
    assert (await alice.signs_in())["last_auth_error_code"] == "issuer_mismatch"


async def test_an_issuer_that_is_promised_and_missing_is_refused(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    authorization_server.ways.metadata = {"authorization_response_iss_parameter_supported": True}
    alice = await alice.registers(authorization_server.url)
    back = await alice.browses((await alice.starts())["auth_url"])
    assert (await alice.comes_back(back)).status_code == 400
    assert authorization_server.token_requests == []


@pytest.mark.parametrize(
    ("member", "value", "code"),
    [
        ("code_challenge_methods_supported", None, "pkce_not_promised"),
        ("code_challenge_methods_supported", ["plain"], "pkce_not_promised"),
        ("issuer", "https://attacker.example", "issuer_mismatch"),
        ("authorization_endpoint", "javascript:alert(1)", "metadata_invalid"),
        ("token_endpoint", "http://169.254.169.254/token", "endpoint_refused"),
        ("registration_endpoint", None, "client_id_needed"),
    ],
)
async def test_an_authorization_server_that_is_not_safe_enough_is_refused(
    alice: Person, authorization_server: AuthorizationServer, member: str, value: object, code: str
) -> None:
    authorization_server.ways.metadata = {member: value}
    alice = await alice.registers(authorization_server.url)
    status, error = await alice.client.refused("POST", f"{alice.auth}/start", {"server_id": alice.server_id})
    assert (status, error["code"], error["auth_error_code"]) == (502, "MCP_OAUTH_DISCOVERY_FAILED", code)


async def test_an_issuer_with_a_slash_more_is_another_issuer(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    authorization_server.ways.metadata = {"issuer": f"{authorization_server.origin}/"}
    alice = await alice.registers(authorization_server.url)
    _, error = await alice.client.refused("POST", f"{alice.auth}/start", {"server_id": alice.server_id})
    assert error["auth_error_code"] == "issuer_mismatch"


BROWSER = "text/html,application/xhtml+xml,*/*;q=0.8"


def the_form_of(page: str) -> dict[str, str]:
    """What the page's form brings back."""
    return {
        unescape(name): unescape(value)
        for name, value in re.findall(r'type="hidden" name="([^"]*)" value="([^"]*)"', page)
    }


async def agrees(alice: Person, back: str) -> httpx.Response:
    """The person presses the button of the page that asks; what comes next."""
    asked = await alice.comes_back(back, accept=BROWSER)
    assert asked.status_code == 200, asked.text
    return await alice.comes_back(
        f"{alice.auth}/callback?{urlencode(the_form_of(asked.text))}", accept=BROWSER
    )


async def test_the_page_says_what_happened_and_holds_no_secret(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    alice = await alice.registers(authorization_server.url)
    back = await alice.browses((await alice.starts())["auth_url"])
    page = await agrees(alice, back)
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["cache-control"] == "no-store"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "form-action 'none'" in page.headers["content-security-policy"]
    assert "Signed in" in page.text
    assert "prefers-color-scheme: dark" in page.text
    assert "http" not in page.text
    assert "<script" not in page.text
    assert alice.tokens()["access_token"] not in page.text
    again = await alice.comes_back(back, accept="text/html")
    assert (again.status_code, "Not signed in" in again.text) == (400, True)
    assert back.rpartition("code=")[2] not in again.text


async def test_a_browser_is_asked_whose_the_sign_in_will_be_before_anything_is_connected(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    alice = await alice.registers(authorization_server.url)
    alice = await alice.adds_server(authorization_server.url, display_name='<b>Tickets & "more"</b>')
    back = await alice.browses((await alice.starts())["auth_url"])
    asked = await alice.comes_back(back, accept=BROWSER)
    assert "used by alice at this Apprentice" in asked.text
    assert "close this window: nothing is connected" in asked.text
    assert escape('Connect <b>Tickets & "more"</b>?') in asked.text
    assert "<b>" not in asked.text
    assert "form-action 'self'" in asked.headers["content-security-policy"]
    assert asked.headers["referrer-policy"] == "no-referrer"
    assert (await alice.status())["auth_state"] != "healthy"
    assert alice.stored().profile.token_ref is None
    assert "Signed in" in (await agrees(alice, back)).text
    assert (await alice.status())["auth_state"] == "healthy"


@pytest.mark.parametrize("agreed", ["yes", "0" * 64, "", "\u00e9"])
async def test_nobody_can_agree_for_the_person_at_the_browser(
    alice: Person, authorization_server: AuthorizationServer, agreed: str
) -> None:
    alice = await alice.registers(authorization_server.url)
    back = await alice.browses((await alice.starts())["auth_url"])
    other = await alice.browses((await alice.starts())["auth_url"])
    of_another = the_form_of((await alice.comes_back(other, accept=BROWSER)).text)["agreed"]
    for guess in (agreed, of_another):
        page = await alice.comes_back(f"{back}&{urlencode({'agreed': guess})}", accept=BROWSER)
        assert "nothing is connected" in page.text
    assert alice.stored().profile.token_ref is None


async def test_a_sign_in_that_was_refused_asks_nobody(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    alice = await alice.registers(authorization_server.url)
    back = await alice.browses((await alice.starts())["auth_url"])
    state = parse_qs(urlsplit(back).query)["state"][0]
    page = await alice.comes_back(
        f"{alice.auth}/callback?{urlencode({'state': state, 'error': 'access_denied'})}", accept=BROWSER
    )
    assert "The sign-in page answered: access_denied" in page.text
    assert "<form" not in page.text


async def test_a_start_with_a_key_answers_the_same_sign_in(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    alice = await alice.registers(authorization_server.url)
    path, body = f"{alice.auth}/start", {"server_id": alice.server_id}
    first = await alice.client.ok("POST", path, body, idempotency_key="k")
    again = await alice.client.ok("POST", path, body, idempotency_key="k")
    other = await alice.client.ok("POST", path, body)
    assert first == again
    assert other["challenge_id"] != first["challenge_id"]
    assert len(await alice.receipts("auth_start")) == 2
