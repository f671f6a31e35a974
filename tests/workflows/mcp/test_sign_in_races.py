"""Seeded crowds of orders to one sign-in: each once, the last one stands, and its timer runs if it is to."""

from random import Random
from typing import Any

import anyio
import httpx
from sqlalchemy import select
from temporalio.client import WorkflowExecutionStatus
from temporalio.service import RPCError

from contracts.workflow_ids import auth_profile_workflow_id
from stores.platform.tables import journal
from tests.fixtures.authorization_server import AuthorizationServer
from tests.fixtures.crowds import CROWDED, ROUNDS, all_answered, each_crowd
from tests.fixtures.signing_in import Person

pytestmark = [*CROWDED]

AUTO, MANUAL = "auto_if_refresh_token", "manual"
MAY_BE_REFUSED = {
    "MCP_AUTH_PROFILE_NOT_FOUND",
    "MCP_AUTH_CHALLENGE_REQUIRED",
    "MCP_OAUTH_REFRESH_NOT_ALLOWED",
    "MCP_AUTH_PROFILE_IN_USE",
    "CONFLICT",
}


@each_crowd
async def test_of_a_crowd_of_changes_each_counts_once_and_the_timer_follows_the_last(
    alice: Person, authorization_server: AuthorizationServer, crowd: int
) -> None:
    for seed in range(ROUNDS):
        seeded = Random(seed)
        here = await alice.registers(authorization_server.url, refresh_policy=MANUAL)
        await here.signs_in()
        changes = [(f"change-{seed}-{number}", seeded.choice((AUTO, MANUAL))) for number in range(crowd)]

        async def send(change: tuple[str, str], here: Person = here) -> httpx.Response:
            key, policy = change
            path = f"/api/mcp/auth-profiles/{here.profile_id}"
            return await here.client.call("PATCH", path, {"refresh_policy": policy}, idempotency_key=key)

        answers = await all_answered(changes, send)
        assert {answer.status_code for answer in answers} == {200}
        assert await patches_of(here) == crowd
        await assert_the_timer_follows_the_store(here)


@each_crowd
async def test_of_a_crowd_that_renews_changes_and_revokes_one_end_is_left(
    alice: Person, authorization_server: AuthorizationServer, crowd: int
) -> None:
    for seed in range(ROUNDS):
        seeded = Random(seed)
        here = await alice.registers(authorization_server.url, refresh_policy=AUTO)
        await here.signs_in()
        orders = [(f"order-{seed}-{number}", seeded.choice(ORDERS)) for number in range(crowd)]

        async def send(order: tuple[str, tuple[str, str, Any]], here: Person = here) -> httpx.Response:
            key, (method, path, body) = order
            fields = {"server": here.server_id, "profile": here.profile_id}
            named = {**body, "server_id": here.server_id} if "server" in path else body
            return await here.client.call(method, path.format(**fields), named, idempotency_key=key)

        answers = await all_answered(orders, send)
        refused = [answer.json()["error"]["code"] for answer in answers if not answer.is_success]
        assert set(refused) <= MAY_BE_REFUSED
        revoked = any(
            answer.is_success and order[1][1].endswith("revoke")
            for order, answer in zip(orders, answers, strict=True)
        )
        assert (here.stored().profile.token_ref is None) is revoked
        taken = [
            order
            for order, answer in zip(orders, answers, strict=True)
            if answer.is_success and order[1][0] == "PATCH"
        ]
        assert await patches_of(here) == len(taken)
        await assert_the_timer_follows_the_store(here)


@each_crowd
async def test_of_a_crowd_that_deletes_everybody_hears_that_it_is_gone(
    alice: Person, authorization_server: AuthorizationServer, crowd: int
) -> None:
    made = await alice.client.ok(
        "POST", "/api/mcp/auth-profiles", {"provider": "custom_remote", "auth_mode": "oauth2_delegated"}
    )
    path = f"/api/mcp/auth-profiles/{made['auth_profile_id']}"

    async def send(key: str) -> httpx.Response:
        return await alice.client.call("DELETE", path, idempotency_key=key)

    answers = await all_answered([f"delete-{number}" for number in range(crowd)], send)
    deleted = [answer for answer in answers if answer.is_success]
    assert len(deleted) == 1
    codes = {answer.json()["error"]["code"] for answer in answers if not answer.is_success}
    assert codes <= {"MCP_AUTH_PROFILE_NOT_FOUND"}
    assert len(await alice.receipts("auth_profile_delete")) == 1


ORDERS: tuple[tuple[str, str, Any], ...] = (
    ("PATCH", "/api/mcp/auth-profiles/{profile}", {"refresh_policy": AUTO}),
    ("PATCH", "/api/mcp/auth-profiles/{profile}", {"refresh_policy": MANUAL}),
    ("POST", "/api/mcp/servers/{server}/auth/refresh", {"force": False}),
    ("POST", "/api/mcp/servers/{server}/auth/revoke", {"keep_auth_profile": True}),
)


async def patches_of(here: Person) -> int:
    """How many changes of the sign-in have a receipt."""
    assert here.stack is not None
    about_it = journal.c.aggregate == auth_profile_workflow_id(here.profile_id)
    with here.stack.database.read() as connection:
        found = connection.scalars(select(journal.c.document).where(about_it)).all()
    return sum('"auth_profile_patch"' in one for one in found)


async def assert_the_timer_follows_the_store(here: Person) -> None:
    """A workflow runs where there is something to renew on time, and comes to rest where there is not."""
    assert here.stack is not None
    handle = here.stack.client.get_workflow_handle(auth_profile_workflow_id(here.profile_id))
    due = here.stored().is_renewed_on_time()
    with anyio.fail_after(30):
        while True:
            try:
                runs = (await handle.describe()).status is WorkflowExecutionStatus.RUNNING
            except RPCError:
                runs = False
            waits = runs and await waits_for_a_timer(handle)
            if waits is due and (due or not runs):
                return
            await anyio.sleep(0.05)


async def waits_for_a_timer(handle: Any) -> bool:
    """Whether a timer of the run is set that has neither fired nor been cancelled."""
    history = await handle.fetch_history()
    kinds = [event.WhichOneof("attributes") for event in history.events]
    started = kinds.count("timer_started_event_attributes")
    over = kinds.count("timer_fired_event_attributes") + kinds.count("timer_canceled_event_attributes")
    return started > over
