"""The workflow of a sign-in: its timer, its patience, its rest."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import WorkflowExecutionStatus, WorkflowHandle
from temporalio.testing import TimeSkipper

from tests.fixtures.authorization_server import AuthorizationServer
from tests.fixtures.signing_in import OWN_ADDRESS, Person, person
from tests.fixtures.stack import running_stack, stack_settings
from worker.recovery import recover_sign_ins
from workflows.mcp.auth_profile_workflow import AuthProfileWorkflow
from workflows.mcp.mcp_messages import AuthProfileEnd, AuthProfileStart

pytestmark = pytest.mark.anyio

AUTO = {"refresh_policy": "auto_if_refresh_token"}
WITHIN_SECONDS = 30


@pytest.fixture
async def skipping_alice(tmp_path: Path, skipping_env: TimeSkipper) -> AsyncIterator[Person]:
    """Alice at an application whose workflows' clocks can be moved."""
    settings = stack_settings(
        tmp_path, mcp_allow_private_addresses=True, secret_key_source="file", public_url=OWN_ADDRESS
    )
    async with running_stack(settings, skipping_env.client) as stack:
        yield person(stack)


def workflow_of(alice: Person) -> WorkflowHandle[Any, Any]:
    """The sign-in's workflow."""
    return alice.stack.client.get_workflow_handle(f"auth-profile/{alice.profile_id}")


async def renewed(alice: Person, version: int) -> None:
    """Waits until so many tokens were stored."""
    async with asyncio.timeout(WITHIN_SECONDS):
        while alice.stored().connection.token_version < version:
            await asyncio.sleep(0.02)


async def asked(server: AuthorizationServer, requests: int) -> None:
    """Waits until the token endpoint was asked so often."""
    async with asyncio.timeout(WITHIN_SECONDS):
        while len(server.token_requests) < requests:
            await asyncio.sleep(0.02)


async def closed(alice: Person) -> AuthProfileEnd:
    """Waits until the workflow is at rest."""
    handle = alice.stack.client.get_workflow_handle_for(AuthProfileWorkflow.run, workflow_of(alice).id)
    async with asyncio.timeout(WITHIN_SECONDS):
        return await handle.result()


async def test_a_token_is_renewed_at_four_fifths_of_its_life_again_and_again(
    skipping_alice: Person, skipping_env: TimeSkipper, authorization_server: AuthorizationServer
) -> None:
    alice = await skipping_alice.registers(authorization_server.url, **AUTO)
    await alice.signs_in()
    before = alice.tokens()
    await skipping_env.fast_forward(workflow_of(alice), timedelta(minutes=47))
    assert authorization_server.asked_for("refresh_token") == 0
    for version, minutes in ((2, 2), (3, 48), (4, 48)):
        await skipping_env.fast_forward(workflow_of(alice), timedelta(minutes=minutes))
        await renewed(alice, version)
        assert authorization_server.asked_for("refresh_token") == version - 1
    assert alice.tokens()["refresh_token"] != before["refresh_token"]
    assert (await alice.status())["auth_state"] == "healthy"


@pytest.mark.thorough
async def test_a_renewal_that_fails_is_tried_again_until_it_succeeds(
    skipping_alice: Person, skipping_env: TimeSkipper, authorization_server: AuthorizationServer
) -> None:
    alice = await skipping_alice.registers(authorization_server.url, **AUTO)
    await alice.signs_in()
    authorization_server.ways.token_status = [(500, {}), (503, {"retry-after": "600"}), (429, {})]
    await skipping_env.fast_forward(workflow_of(alice), timedelta(minutes=49))
    for requests in (2, 3, 4, 5):
        await asked(authorization_server, requests)
        assert (await alice.status())["auth_state"] == "healthy"
        await skipping_env.fast_forward(workflow_of(alice), timedelta(minutes=11))
    await renewed(alice, 2)
    assert (await alice.status())["last_auth_error_code"] is None


async def test_a_sign_in_that_is_lost_is_left_alone(
    skipping_alice: Person, skipping_env: TimeSkipper, authorization_server: AuthorizationServer
) -> None:
    alice = await skipping_alice.registers(authorization_server.url, **AUTO)
    await alice.signs_in()
    authorization_server.ways.token_error = "invalid_grant"
    await skipping_env.fast_forward(workflow_of(alice), timedelta(minutes=49))
    assert (await closed(alice)).renewed == 0
    assert (await alice.status())["auth_state"] == "challenge_required"
    assert authorization_server.asked_for("refresh_token") == 1


async def test_a_sign_in_whose_workflow_was_lost_is_renewed_on_time_once_a_worker_has_looked(
    skipping_alice: Person, skipping_env: TimeSkipper, authorization_server: AuthorizationServer
) -> None:
    alice = await skipping_alice.registers(authorization_server.url, **AUTO)
    await alice.signs_in()
    await workflow_of(alice).terminate("lost")
    stack = alice.stack
    assert await recover_sign_ins(stack.client, stack.settings, stack.database) == 1
    await skipping_env.fast_forward(workflow_of(alice), timedelta(minutes=49))
    await renewed(alice, 2)
    assert authorization_server.asked_for("refresh_token") == 1


async def test_without_a_timer_to_wait_for_it_closes_and_the_next_order_opens_it(
    alice: Person, authorization_server: AuthorizationServer
) -> None:
    alice = await alice.registers(authorization_server.url, refresh_policy="manual")
    await alice.signs_in()
    await closed(alice)
    await alice.refreshes(force=True)
    assert (await closed(alice)).answered == 1
    path = f"/api/mcp/auth-profiles/{alice.profile_id}"
    await alice.client.ok("PATCH", path, AUTO)
    assert (await workflow_of(alice).describe()).status is WorkflowExecutionStatus.RUNNING
    await alice.revokes()
    await closed(alice)


async def test_a_long_life_goes_on_with_a_fresh_history(
    skipping_alice: Person, skipping_env: TimeSkipper, authorization_server: AuthorizationServer
) -> None:
    alice = await skipping_alice.registers(authorization_server.url, refresh_policy="manual")
    await alice.signs_in()
    await closed(alice)
    stored = alice.stored()
    first = await alice.stack.client.start_workflow(
        AuthProfileWorkflow.run,
        AuthProfileStart(
            auth_profile_id=alice.profile_id,
            owner_user_id="alice",
            refresh_at=stored.profile.refresh_at,
            token_version=stored.connection.token_version,
            renewals_a_run=1,
        ),
        id=workflow_of(alice).id,
        task_queue=alice.stack.settings.task_queue,
    )
    await alice.client.ok("PATCH", f"/api/mcp/auth-profiles/{alice.profile_id}", AUTO)
    for version in (2, 3):
        await skipping_env.fast_forward(workflow_of(alice), timedelta(minutes=49))
        await renewed(alice, version)
    assert (await workflow_of(alice).describe()).run_id != first.first_execution_run_id
    assert authorization_server.asked_for("refresh_token") == 2
