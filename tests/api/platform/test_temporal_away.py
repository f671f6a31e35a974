"""Without Temporal, or without a worker: reads go on, commands say when to come back, nothing is lost."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from temporalio.client import Client

from api.app import create_app
from api.services import Services, open_services
from config.settings import Settings
from contracts.errors import ErrorCode
from contracts.platform.identity import Scope
from gateways.learning.sessions import LearnGateway
from tests.api.platform.test_bad_input import assert_refused, send
from tests.api.route_table import SCOPES, good_body
from tests.api.world import ALL_SCOPES, ROUTES, World, schema_of
from tests.fixtures.databases import migrated
from tests.fixtures.learner import Learner
from tests.fixtures.loop_reports import nothing_in_the_dark
from tests.fixtures.stack import connect, stack_settings
from worker.composition import build_worker, compose
from worker.embedded_temporal import free_port

pytestmark = pytest.mark.anyio

SHORT = timedelta(milliseconds=700)
NEW = {"entry_mode": "demonstrating_skill", "observation_mode": "outside_agent"}


@asynccontextmanager
async def api_over(settings: Settings, client: Client) -> AsyncIterator[tuple[httpx.AsyncClient, Services]]:
    """An API over this store that talks to Temporal through ``client``; no worker."""

    async def opened(settings: Settings) -> Services:
        services = await open_services(settings)
        gateway = LearnGateway(client, settings.task_queue, services.sessions, answer_within=SHORT)
        return replace(services, client=client, gateway=gateway)

    app = create_app(settings, opened)
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://apprentice") as http,
    ):
        yield http, app.state.services


@pytest.fixture(scope="module")
async def away(world: World) -> AsyncIterator[Learner]:
    """Alice at an API whose Temporal does not answer, over the same store."""
    client = await connect(f"127.0.0.1:{free_port()}", lazy=True)
    async with api_over(world.stack.settings, client) as (http, _):
        yield replace(world.alice, http=http)


TO_THE_SESSION = (
    "learn_session_set_test_policy",
    "learn_session_cancel",
    "learn_session_start",
    "learn_proposal_revise",
    "learn_proposal_validate",
    "learn_proposal_request_more_tests",
    "learn_proposal_install",
    "learn_proposal_approve",
    "learn_proposal_reject",
    "learn_session_create",
    "maintenance_run_start",
    "ability_deactivate",
    "ability_quarantine",
)


@pytest.mark.parametrize("name", TO_THE_SESSION)
async def test_a_command_says_that_temporal_is_away_and_changes_nothing(
    world: World, away: Learner, name: str
) -> None:
    before = world.footprint()
    body = json.dumps(good_body(ROUTES[name], world.waiting))
    response = await send(away, ROUTES[name], world.waiting, body, idempotency_key=f"away {name}")
    assert_refused(response, ErrorCode.TEMPORAL_UNAVAILABLE, ROUTES[name])
    assert int(response.headers["retry-after"]) > 0
    assert world.footprint() == before


READS = sorted(
    name
    for name, route in ROUTES.items()
    if (route.method == "GET" or SCOPES.get(name) == "read")
    and name not in ("readyz", "workflow_link", "maintenance_run_detail", "learn_session_events")
    # A read may run a skill that reads; that is no read of what there is.
    and name not in ("skill_invoke", "skill_invocation_cancel")
    # The world's invocation is of a skill, and leaves no folder.
    and name != "skill_invocation_folder"
    # It answers a browser that comes back from signing in, and nobody else.
    and name != "mcp_auth_callback"
)


@pytest.mark.parametrize("name", READS)
async def test_reads_go_on(world: World, away: Learner, name: str) -> None:
    body = json.dumps(good_body(ROUTES[name], world.waiting)) if schema_of(ROUTES[name]) else None
    response = await send(away, ROUTES[name], world.waiting, body)
    assert response.status_code == 200, response.text


async def test_a_finished_sessions_events_are_still_told(world: World, away: Learner) -> None:
    response = await send(away, ROUTES["learn_session_events"], world.rejected)
    assert response.status_code == 200
    assert "learn.session.rejected" in response.text


async def test_the_link_to_a_workflow_says_that_temporal_is_away(world: World, away: Learner) -> None:
    response = await send(away, ROUTES["workflow_link"], world.waiting)
    assert_refused(response, ErrorCode.TEMPORAL_UNAVAILABLE, ROUTES["workflow_link"])


async def test_the_probes_tell_a_living_process_from_a_ready_one(world: World, away: Learner) -> None:
    assert (await away.ok("GET", "/healthz")) == {"status": "ok"}
    response = await away.call("GET", "/readyz")
    assert response.status_code == 503
    answer = response.json()
    assert answer["ready"] is False
    assert answer["parts"]["store"] == "ok"
    assert "Temporal" in answer["parts"]["temporal"]
    ready = await world.alice.call("GET", "/readyz")
    assert (ready.status_code, ready.json()["ready"]) == (200, True)


@pytest.mark.parametrize("began", [True, False])
async def test_what_a_recorder_reports_is_durable_all_the_same(
    world: World, away: Learner, began: bool
) -> None:
    bob = world.stack.learner(f"bob-{began}")
    await bob.create()
    if began:
        await bob.act("start")
    cut_off = replace(bob, http=away.http)
    batch = {"events": bob.events()}
    path = f"/api/learn/sessions/{bob.session_id}/observations"
    kept = await cut_off.ok("POST", path, batch)
    assert kept["accepted"] == len(batch["events"])
    assert (await bob.ok("GET", path))["total"] == len(batch["events"])
    again = await bob.ok("POST", path, batch)
    assert (again["accepted"], again["duplicate"]) == (0, len(batch["events"]))
    assert await bob.settled("armed") == "capturing"


async def test_without_a_worker_a_command_is_refused_in_time_and_carried_out_once_later(
    tmp_path: Path, temporal_address: str
) -> None:
    settings = stack_settings(tmp_path)
    settings.data_dir.mkdir(mode=0o700)
    migrated(settings.database_url)
    client = await connect(temporal_address)
    with nothing_in_the_dark():
        await refused_and_carried_out_later(settings, client)


async def refused_and_carried_out_later(settings: Settings, client: Client) -> None:
    async with api_over(settings, client) as (http, services):
        parts = compose(settings)
        scopes = [Scope(scope) for scope in ALL_SCOPES]
        _, secret = services.tokens.create("test", "alice", scopes, datetime.now(UTC))
        alice = Learner(http, secret, "alice")
        try:
            await no_worker_answers(alice, "/api/learn/sessions", NEW, "new")
            assert (await alice.ok("GET", "/api/learn/sessions"))["total"] == 0
            ready = await alice.call("GET", "/readyz")
            assert ready.json()["parts"] == {"store": "ok", "temporal": "no worker polls the task queue"}
            async with build_worker(client, settings, parts):
                await once_there_is_one(alice, "/api/learn/sessions", NEW, "new")
                assert (await alice.ok("GET", "/api/learn/sessions"))["total"] == 1
                (session,) = (await alice.ok("GET", "/api/learn/sessions"))["sessions"]
                alice.session_id = session["learn_session_id"]
            path = f"/api/learn/sessions/{alice.session_id}/start"
            await no_worker_answers(alice, path, {}, "begin")
            assert await alice.state() == "armed"
            async with build_worker(client, settings, parts):
                await once_there_is_one(alice, path, {}, "begin")
                assert await alice.state() == "capturing"
            marks = services.observations.boundaries_of(alice.session_id)
            assert [mark.kind.value for mark in marks] == ["start"]
        finally:
            await parts.close()


async def no_worker_answers(alice: Learner, path: str, body: object, key: str) -> None:
    response = await alice.call("POST", path, body, idempotency_key=key)
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (503, "TEMPORAL_UNAVAILABLE")
    assert error["retryable"] is True
    assert int(response.headers["retry-after"]) > 0


async def once_there_is_one(alice: Learner, path: str, body: object, key: str) -> None:
    """Repeats as a client does that was told to; both further answers are the same."""
    response = await alice.call("POST", path, body, idempotency_key=key)
    for _ in range(20):
        if response.status_code != 503:
            break
        response = await alice.call("POST", path, body, idempotency_key=key)
    assert response.is_success, response.text
    assert (await alice.call("POST", path, body, idempotency_key=key)).content == response.content
