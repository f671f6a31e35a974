"""Maintenance over HTTP: run now, preview, history, one at a time, for admins."""

import asyncio
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from temporalio import activity
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from contracts.errors import Refusal
from contracts.maintenance.runs import MaintenanceState, MaintenanceTrigger, RunOpening, SweepPage
from gateways.maintenance.maintenance import MANUAL_RUN, MaintenanceGateway
from stores.maintenance.runs import MaintenanceStore
from tests.fixtures.learner import Learner
from tests.fixtures.past import add_session, days, is_archived
from tests.fixtures.stack import Stack, connect, running_stack, stack_settings
from worker.composition import WorkerParts, compose
from worker.embedded_temporal import free_port

pytestmark = pytest.mark.anyio

RUNS = "/api/maintenance/runs"


def admin(stack: Stack) -> Learner:
    return Learner(stack.http, stack.admin_secret, "admin")


async def ended(caller: Learner, run_id: str) -> dict[str, Any]:
    """The run, when it goes on no more."""
    with anyio.fail_after(30):
        while (run := await caller.ok("GET", f"{RUNS}/{run_id}"))["state"] == "running":
            await anyio.sleep(0.02)
    return run


async def test_a_preview_says_what_a_run_then_does(stack: Stack) -> None:
    caller = admin(stack)
    old = add_session(stack.database, days(200))
    preview = await caller.ok("POST", RUNS, {"dry_run": True})
    assert preview["state"] == "running"
    seen = await ended(caller, preview["run_id"])
    assert not is_archived(stack.database, "learn_sessions", old)
    started = await caller.ok("POST", RUNS)
    done = await ended(caller, started["run_id"])
    assert is_archived(stack.database, "learn_sessions", old)
    assert (seen["state"], done["state"]) == ("completed", "completed")
    assert seen["sweeps"] == done["sweeps"]
    assert done["sweeps"][0]["sample_ids"] == [old]
    assert (seen["availability_refreshed"], done["availability_refreshed"]) == (False, True)
    listed = await caller.ok("GET", RUNS, None)
    assert [run["run_id"] for run in listed["runs"]] == [started["run_id"], preview["run_id"]]
    assert [run["dry_run"] for run in listed["runs"]] == [False, True]
    page = await caller.ok("GET", f"{RUNS}?page=2&page_size=1")
    assert (page["total"], [run["run_id"] for run in page["runs"]]) == (2, [preview["run_id"]])


async def test_a_repeated_request_is_the_same_run_and_another_body_is_refused(stack: Stack) -> None:
    caller = admin(stack)
    first = await caller.ok("POST", RUNS, {"dry_run": True}, idempotency_key="tonight")
    again = await caller.ok("POST", RUNS, {"dry_run": True}, idempotency_key="tonight")
    assert again["run_id"] == first["run_id"]
    status, error = await caller.refused("POST", RUNS, {"dry_run": False}, idempotency_key="tonight")
    assert (status, error["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")
    await ended(caller, first["run_id"])


@pytest.mark.parametrize(("method", "path"), [("GET", RUNS), ("POST", RUNS), ("GET", f"{RUNS}/x")])
async def test_only_admins_may(stack: Stack, method: str, path: str) -> None:
    status, error = await stack.learner().refused(method, path)
    assert (status, error["code"]) == (403, "FORBIDDEN")


async def test_an_unknown_run_is_not_found(stack: Stack) -> None:
    for name in ("0a4b8f56-6a1f-7c0e-9d0b-5f6f2f1f7c11", "tonight"):
        status, error = await admin(stack).refused("GET", f"{RUNS}/{name}")
        assert (status, error["code"]) == (404, "NOT_FOUND")


@pytest.fixture
async def held_up(tmp_path: Path, temporal_address: str) -> AsyncIterator[tuple[Stack, threading.Event]]:
    """The application, whose sweeps wait until the event is set."""
    release = threading.Event()

    def compose_held_up(settings: Any) -> WorkerParts:
        parts = compose(settings)
        page = next(one for one in parts.activities if one.__name__ == "sweep_page")

        @activity.defn(name="sweep_page")
        def sweep_page(request: SweepPage) -> Any:
            assert release.wait(30)
            return page(request)

        others = [one for one in parts.activities if one.__name__ != "sweep_page"]
        return replace(parts, activities=(*others, sweep_page))

    client = await connect(temporal_address)
    try:
        async with running_stack(stack_settings(tmp_path), client, compose_held_up) as stack:
            yield stack, release
    finally:
        release.set()


async def test_a_second_run_while_one_goes_on_is_refused_and_names_it(
    held_up: tuple[Stack, threading.Event],
) -> None:
    stack, release = held_up
    caller = admin(stack)
    first = await caller.ok("POST", RUNS)
    status, error = await caller.refused("POST", RUNS, {"dry_run": True})
    assert (status, error["code"], error["running_run_id"]) == (409, "CONFLICT", first["run_id"])
    assert first["run_id"] in error["message"]
    assert (await caller.ok("GET", f"{RUNS}/{first['run_id']}"))["state"] == "running"
    release.set()
    await ended(caller, first["run_id"])
    second = await caller.ok("POST", RUNS)
    assert (await ended(caller, second["run_id"]))["state"] == "completed"
    assert (await caller.ok("GET", RUNS))["total"] == 2


async def test_of_two_requests_at_once_one_wins(held_up: tuple[Stack, threading.Event]) -> None:
    stack, release = held_up
    caller = admin(stack)
    answers = await asyncio.gather(*(caller.call("POST", RUNS) for _ in range(4)))
    assert sorted(answer.status_code for answer in answers) == [202, 409, 409, 409]
    release.set()
    (run,) = (await caller.ok("GET", RUNS))["runs"]
    assert (await ended(caller, run["run_id"]))["state"] == "completed"


async def test_a_record_whose_workflow_is_gone_does_not_stand_in_the_way(stack: Stack) -> None:
    caller = admin(stack)
    runs = MaintenanceStore(stack.database)
    gone = runs.open(
        RunOpening(
            run_id="0a4b8f56-6a1f-7c0e-9d0b-5f6f2f1f7c11",
            trigger=MaintenanceTrigger.MANUAL,
            dry_run=False,
            workflow_id=f"{MANUAL_RUN}-of-another-server",
            started_at=datetime.now(UTC) - timedelta(hours=2),
        )
    )
    started = await caller.ok("POST", RUNS)
    assert runs.get(gone.run_id).state is MaintenanceState.FAILED
    await ended(caller, started["run_id"])


async def test_without_temporal_a_start_is_refused_and_leaves_no_record(stack: Stack) -> None:
    runs = MaintenanceStore(stack.database)
    nowhere = await Client.connect(
        f"127.0.0.1:{free_port()}", lazy=True, data_converter=pydantic_data_converter
    )
    gateway = MaintenanceGateway(nowhere, stack.settings.task_queue, runs)
    with pytest.raises(Refusal) as caught:
        await gateway.start("0a4b8f56-6a1f-7c0e-9d0b-5f6f2f1f7c11", "root", dry_run=False)
    assert caught.value.code == "TEMPORAL_UNAVAILABLE"
    assert runs.running() == ()
