"""Tokens that end: renewed once however many ask, kept through trouble, lost by ``invalid_grant`` alone."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest

from activities.mcp.token_broker import TokenBroker
from activities.mcp.token_exchange import TokenExchange
from clients.mcp import oauth_requests
from clients.mcp.address_guard import guarded_client
from contracts.errors import Refusal
from contracts.mcp.auth_work import AuthReceipt, RenewToken
from gateways.mcp.auth_profiles import AuthProfileGateway
from stores.mcp.auth.tokens import TokenRenewals
from tests.fixtures.authorization_server import AuthorizationServer, Form, Ways
from tests.fixtures.signing_in import Person
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio

AUTO = {"refresh_policy": "auto_if_refresh_token"}


def broker_of(stack: Stack) -> TokenBroker:
    """A broker as a worker has one."""
    mcp = stack.services.mcp
    gateway = AuthProfileGateway(stack.client, stack.settings.task_queue, mcp.auth_profiles)

    async def renew(order: RenewToken) -> AuthReceipt:
        return await gateway.send(order)

    exchange = TokenExchange(
        stack.database, mcp.secrets, lambda: guarded_client(allow_private=True), allow_private=True
    )
    return TokenBroker(exchange, mcp.secrets, TokenRenewals(stack.database, mcp.secrets), renew)


def end_token(alice: Person) -> None:
    """Makes the token one that ended long ago."""
    mcp, stored = alice.stack.services.mcp, alice.stored()
    kept = alice.tokens()
    past = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    text = alice.stack.services.mcp.secrets.reveal(stored.profile.token_ref or "", "alice")
    aged = text.value.replace(kept["expires_at"], past)
    mcp.secrets.replace(stored.profile.token_ref or "", "alice", aged, text.version)


async def test_two_hundred_callers_make_one_request(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    alice = await alice.registers(authorization_server.url, **AUTO)
    await alice.signs_in()
    end_token(alice)
    broker = broker_of(alice.stack)
    found = await asyncio.gather(*(broker.bearer(alice.profile_id, "alice") for _ in range(200)))
    assert set(found) == {alice.tokens()["access_token"]}
    assert authorization_server.asked_for("refresh_token") == 1


async def test_callers_of_several_workers_make_one_request(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    alice = await alice.registers(authorization_server.url, **AUTO)
    await alice.signs_in()
    seen = alice.stored().connection.token_version
    brokers = [broker_of(alice.stack) for _ in range(5)]
    renewals = [broker.renewed(alice.profile_id, "alice", seen) for broker in brokers for _ in range(10)]
    assert set(await asyncio.gather(*renewals)) == {alice.tokens()["access_token"]}
    assert authorization_server.asked_for("refresh_token") == 1


async def test_who_saw_an_older_token_gets_the_newer_one_without_a_request(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    alice = await alice.registers(authorization_server.url, **AUTO)
    await alice.signs_in()
    broker = broker_of(alice.stack)
    first = await broker.current(alice.profile_id, "alice")
    assert first is not None
    newer = await broker.renewed(alice.profile_id, "alice", first.version)
    assert newer not in (None, first.value)
    assert await broker.renewed(alice.profile_id, "alice", first.version) == newer
    assert authorization_server.asked_for("refresh_token") == 1


@pytest.mark.acceptance("9.15-3")
async def test_invalid_grant_loses_the_sign_in_and_the_card_says_what_to_do(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    alice = await alice.registers(authorization_server.url, **AUTO)
    await alice.signs_in()
    authorization_server.ways.token_error = "invalid_grant"
    status = await alice.refreshes(force=True)
    assert (status["auth_state"], status["last_auth_error_code"]) == ("challenge_required", "invalid_grant")
    assert "auth start" in status["next_action"]
    listed = await alice.client.ok("GET", "/api/mcp/servers")
    (card,) = [one for one in listed["servers"] if one["registry"]["server_id"] == alice.server_id]
    assert "auth_required" in card["badge_states"]
    assert "connect_auth" in card["available_actions"]
    assert (await alice.receipts("auth_refresh"))[0]["status"] == "failed"
    with pytest.raises(Refusal, match="sign-in"):
        await broker_of(alice.stack).bearer(alice.profile_id, "alice")
    assert authorization_server.asked_for("refresh_token") == 1

    authorization_server.ways.token_error = None
    assert (await alice.signs_in())["auth_state"] == "healthy"


async def test_trouble_keeps_the_sign_in_and_is_tried_again(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    alice = await alice.registers(authorization_server.url)
    await alice.signs_in()
    before = alice.tokens()
    authorization_server.ways.token_status = [(500, {})]
    status = await alice.refreshes(force=True)
    assert (status["auth_state"], status["last_auth_error_code"]) == ("healthy", None)
    after = alice.tokens()
    assert after["refresh_token"] != before["refresh_token"]

    authorization_server.ways.token_status = [(503, {}), (429, {"retry-after": "0"})]
    code, error = await alice.client.refused(
        "POST", f"{alice.auth}/refresh", {"server_id": alice.server_id, "force": True}
    )
    assert (code, error["code"], error["retryable"]) == (502, "MCP_SERVER_UNREACHABLE", True)
    status = await alice.status()
    assert (status["auth_state"], status["last_auth_error_code"]) == ("healthy", "unreachable")
    assert alice.tokens() == after
    degraded = [one for one in await alice.receipts("auth_refresh") if one["status"] == "degraded"]
    assert len(degraded) == 2
    assert (await alice.refreshes(force=True))["last_auth_error_code"] is None


def hang_up(server: AuthorizationServer) -> None:
    server.ways.before_token = lambda _: True


def send_garbage(server: AuthorizationServer) -> None:
    server.ways.token_status = [(200, {})] * 4


def say_unwell(server: AuthorizationServer) -> None:
    server.ways.token_status = [(500, {}), (503, {}), (429, {"retry-after": "0"})] * 4


def take_too_long(server: AuthorizationServer) -> None:
    def later(_: Form) -> bool:
        threading.Event().wait(3 * IN_TIME)
        return True

    server.ways.before_token = later


IN_TIME = 0.2


@pytest.mark.parametrize("trouble", [say_unwell, hang_up, send_garbage, take_too_long])
async def test_a_refused_token_is_not_sent_again_while_the_authorization_server_is_in_trouble(
    alice: Person,
    authorization_server: AuthorizationServer,
    trouble: Callable[[AuthorizationServer], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alice = await alice.registers(authorization_server.url, **AUTO)
    await alice.signs_in()
    broker = broker_of(alice.stack)
    first = await broker.current(alice.profile_id, "alice")
    assert first is not None
    trouble(authorization_server)
    with monkeypatch.context() as patch:
        patch.setattr(oauth_requests, "WHOLE_EXCHANGE_SECONDS", IN_TIME)
        for attempt in (
            broker.renewed(alice.profile_id, "alice", first.version),
            broker.current(alice.profile_id, "alice"),
        ):
            with pytest.raises(Refusal) as refused:
                await attempt
            assert refused.value.code != "MCP_AUTH_CHALLENGE_REQUIRED"
    assert (await alice.status())["auth_state"] == "healthy"

    authorization_server.ways = Ways()
    newer = await broker.current(alice.profile_id, "alice")
    assert newer is not None
    assert (newer.value == first.value, newer.version) == (False, first.version + 1)


@pytest.mark.parametrize("code", ["invalid_client", "invalid_scope", "unauthorized_client"])
async def test_no_other_error_loses_the_sign_in(
    alice: Person, authorization_server: AuthorizationServer, code: str
) -> None:
    alice = await alice.registers(authorization_server.url)
    await alice.signs_in()
    authorization_server.ways.token_error = code
    _, error = await alice.client.refused(
        "POST", f"{alice.auth}/refresh", {"server_id": alice.server_id, "force": True}
    )
    assert (error["code"], error["auth_error_code"]) == ("MCP_OAUTH_TOKEN_EXCHANGE_FAILED", code)
    assert (await alice.status())["auth_state"] == "healthy"


async def test_a_refresh_token_that_is_not_rotated_is_kept(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    authorization_server.ways.rotates = False
    alice = await alice.registers(authorization_server.url)
    await alice.signs_in()
    before = alice.tokens()
    await alice.refreshes(force=True)
    after = alice.tokens()
    assert after["access_token"] != before["access_token"]
    assert after["refresh_token"] == before["refresh_token"]


async def test_without_force_a_token_that_is_not_due_is_left(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    alice = await alice.registers(authorization_server.url)
    await alice.signs_in()
    assert (await alice.refreshes())["auth_state"] == "healthy"
    assert authorization_server.asked_for("refresh_token") == 0


@pytest.mark.parametrize(
    ("policy", "keeps", "allowed"),
    [("deny", True, False), ("manual", False, False), ("manual", True, True)],
)
async def test_a_person_may_renew_where_policy_and_a_refresh_token_allow_it(
    alice: Person, authorization_server: AuthorizationServer, policy: str, keeps: bool, allowed: bool
) -> None:
    authorization_server.ways.keeps_refresh_tokens = keeps
    alice = await alice.registers(authorization_server.url, refresh_policy=policy)
    await alice.signs_in()
    answer = await alice.client.call(
        "POST", f"{alice.auth}/refresh", {"server_id": alice.server_id, "force": True}
    )
    if allowed:
        assert answer.status_code == 200
    else:
        assert answer.json()["error"]["code"] == "MCP_OAUTH_REFRESH_NOT_ALLOWED"
        assert authorization_server.asked_for("refresh_token") == 0


@pytest.mark.parametrize(("keeps", "state"), [(True, "expired"), (False, "challenge_required")])
async def test_a_call_with_an_ended_token_that_nothing_renews_shows_the_challenge(
    alice: Person, authorization_server: AuthorizationServer, keeps: bool, state: str
) -> None:
    authorization_server.ways.keeps_refresh_tokens = keeps
    alice = await alice.registers(authorization_server.url, refresh_policy="manual")
    await alice.signs_in()
    end_token(alice)
    broker = broker_of(alice.stack)
    for _ in range(3):
        with pytest.raises(Refusal) as refused:
            await broker.bearer(alice.profile_id, "alice")
        assert refused.value.code == "MCP_AUTH_CHALLENGE_REQUIRED"
    assert (await alice.status())["auth_state"] == state
    told = [one["status"] for one in await alice.receipts("auth_refresh")]
    assert told == ["blocked"]
    assert authorization_server.asked_for("refresh_token") == 0


async def test_a_policy_that_is_changed_holds_at_once(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    alice = await alice.registers(authorization_server.url, refresh_policy="deny")
    await alice.signs_in()
    path = f"/api/mcp/auth-profiles/{alice.profile_id}"
    changed = await alice.client.ok("PATCH", path, AUTO)
    assert changed["refresh_policy"] == "auto_if_refresh_token"
    end_token(alice)
    assert await broker_of(alice.stack).bearer(alice.profile_id, "alice")
    assert authorization_server.asked_for("refresh_token") == 1
    (receipt,) = await alice.receipts("auth_profile_patch")
    assert receipt["auth_profile_id"] == alice.profile_id


async def test_a_token_that_was_given_is_kept_though_its_worker_is_told_to_stop(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    alice = await alice.registers(authorization_server.url)
    await alice.signs_in()
    asked, answer = threading.Event(), threading.Event()

    def hold(form: Form) -> None:
        asked.set()
        assert answer.wait(30)

    authorization_server.ways.after_token = hold
    body = {"server_id": alice.server_id, "force": True}
    renewing = asyncio.create_task(alice.client.call("POST", f"{alice.auth}/refresh", body))
    assert await asyncio.to_thread(asked.wait, 30)
    version = alice.stored().connection.token_version
    handle = alice.stack.client.get_workflow_handle(f"auth-profile/{alice.profile_id}")
    # Who asked goes away first: asked again, it would show the spent token while the new one is on its way.
    renewing.cancel()
    with suppress(asyncio.CancelledError):
        await renewing
    await handle.terminate("the worker and its workflow are gone")
    answer.set()
    authorization_server.ways.after_token = None

    async def kept() -> None:
        while alice.stored().connection.token_version == version:
            await asyncio.sleep(0.02)

    await asyncio.wait_for(kept(), 30)
    assert (await alice.refreshes(force=True))["auth_state"] == "healthy"
    assert all(family.alive for family in authorization_server.spent.values())
