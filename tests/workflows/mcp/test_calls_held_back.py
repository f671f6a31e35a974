"""Calls of a server that wants patience: held back before they are sent, for as long as it takes, in as many runs."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from temporalio.testing import TimeSkipper

from contracts.mcp.health import MCPConnectionOutcome
from contracts.mcp.tools import ToolFailure, ToolFailureKind
from contracts.workflow_ids import mcp_dispatch_id
from domain.mcp.health import FAILURES_TO_DEGRADE
from tests.fixtures.mcp_servers import GoodServer, MisbehavingServer
from tests.fixtures.tool_calls import ToolUser, tool_stack, tool_user
from tests.replay.scenarios import server
from tests.replay.test_replay import replayer
from workflows.mcp.mcp_dispatch_workflow import McpDispatchWorkflow

pytestmark = pytest.mark.anyio

MILK = {"line": "milk"}
EVENTS_BEFORE_SUGGESTION = 15


@pytest.fixture
async def patient(
    tmp_path: Path, skipping_env: TimeSkipper, misbehaving_server: MisbehavingServer
) -> AsyncIterator[ToolUser]:
    """An agent whose server does as it is ordered, and whose workflows' clocks can be moved."""
    async with tool_stack(tmp_path, skipping_env.client) as stack:
        user = tool_user(stack)
        await user.register(misbehaving_server)
        await user.looked_at()
        yield user


async def throttled(user: ToolUser, ordered: MisbehavingServer, seconds: int) -> dict[str, Any]:
    """A call that was told to come back later; the view once it waits."""
    ordered.order("status", status=429, headers={"Retry-After": str(seconds)}, times=1)
    asked = await user.ask("read_line", MILK, wait_ms=0)
    return await waits(user, asked["dispatch_id"])


async def waits(user: ToolUser, dispatch_id: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    with anyio.move_on_after(30):
        while not (found := await user.view(dispatch_id)).get("waits_until"):
            await anyio.sleep(0.02)
    assert found.get("waits_until"), f"it does not wait: {found}"
    return found


async def let_pass(env: TimeSkipper, dispatch_id: str, span: timedelta) -> None:
    await env.fast_forward(env.client.get_workflow_handle(mcp_dispatch_id(dispatch_id)), span)


async def test_a_call_waits_out_the_pause_that_another_was_asked_for_and_both_are_made_once(
    patient: ToolUser, skipping_env: TimeSkipper, misbehaving_server: MisbehavingServer
) -> None:
    first = await throttled(patient, misbehaving_server, 600)
    asked = await patient.ask("append_line", MILK)
    await patient.approve(asked["dispatch_id"])
    second = await waits(patient, asked["dispatch_id"])
    assert (first["attempts"], second["attempts"], second["status"]) == (1, 0, "running")
    assert "asked for patience" in second["error_message"]
    assert second["waits_until"] in second["next_action"]
    apart = datetime.fromisoformat(second["waits_until"]) - datetime.fromisoformat(first["waits_until"])
    assert abs(apart) < timedelta(minutes=1)

    await let_pass(skipping_env, second["dispatch_id"], timedelta(minutes=11))
    assert (await patient.ended(second["dispatch_id"]))["status"] == "completed"
    await let_pass(skipping_env, first["dispatch_id"], timedelta(minutes=11))
    ended = await patient.ended(first["dispatch_id"])
    assert (ended["status"], ended["attempts"], ended.get("waits_until")) == ("completed", 2, None)
    assert [one["key"] for one in misbehaving_server.effects() if one["tool"] == "append_line"] == [
        second["dispatch_id"]
    ]


async def test_a_call_that_is_held_back_can_be_given_up(
    patient: ToolUser, misbehaving_server: MisbehavingServer
) -> None:
    await throttled(patient, misbehaving_server, 600)
    asked = await patient.ask("append_line", MILK)
    await patient.approve(asked["dispatch_id"])
    await waits(patient, asked["dispatch_id"])
    given_up = await patient.person.ok("POST", f"/api/mcp/dispatches/{asked['dispatch_id']}/cancel", {})
    assert (given_up["status"], given_up.get("waits_until")) == ("cancelled", None)
    assert [one for one in misbehaving_server.effects() if one["tool"] == "append_line"] == []


async def test_the_calls_of_another_server_go_on_meanwhile(
    patient: ToolUser, misbehaving_server: MisbehavingServer, tool_server: GoodServer
) -> None:
    await throttled(patient, misbehaving_server, 600)
    await patient.register(tool_server)
    assert (await patient.ask("read_note", {"name": "n"}))["status"] == "completed"


@pytest.mark.thorough
async def test_a_call_that_waits_long_goes_on_in_new_runs_with_its_approval_and_its_key(
    tmp_path: Path, misbehaving_server: MisbehavingServer
) -> None:
    limit = f"limit.historyCount.suggestContinueAsNew={EVENTS_BEFORE_SUGGESTION}"
    async with server("--dynamic-config-value", limit) as env, tool_stack(tmp_path, env.client) as stack:
        user = tool_user(stack)
        await user.register(misbehaving_server)
        misbehaving_server.order("status", status=429, headers={"Retry-After": "1"}, times=4)
        asked = await user.ask("append_line", MILK, headers={"idempotency_key": "ask"}, wait_ms=30_000)
        path = f"/api/mcp/ask-first/{asked['dispatch_id']}/approve"
        body = {"decision": "approve_once"}
        approved = await user.person.ok("POST", path, body, idempotency_key="approve")
        # Somebody waits for its end all the while, which must not keep it in its run.
        again = await user.ask("append_line", MILK, headers={"idempotency_key": "ask"}, wait_ms=30_000)
        assert again["dispatch_id"] == asked["dispatch_id"]
        ended = await user.ended(asked["dispatch_id"])
        assert (ended["status"], ended["attempts"]) == ("completed", 5)

        workflow_id = mcp_dispatch_id(asked["dispatch_id"])
        runs = [run async for run in env.client.list_workflows(f"WorkflowId = '{workflow_id}'")]
        assert len(runs) > 1
        assert await user.person.ok("POST", path, body, idempotency_key="approve") == approved
        status, error = await user.person.refused("POST", path, body, idempotency_key="another")
        assert (status, error["code"]) == (409, "MCP_ASK_FIRST_DECIDED")
        assert [one["key"] for one in misbehaving_server.effects()] == [asked["dispatch_id"]]


@pytest.mark.thorough
async def test_a_call_that_waits_for_a_person_goes_on_in_a_new_run_and_is_still_decided_once(
    tmp_path: Path, misbehaving_server: MisbehavingServer
) -> None:
    limit = f"limit.historyCount.suggestContinueAsNew={EVENTS_BEFORE_SUGGESTION}"
    async with server("--dynamic-config-value", limit) as env, tool_stack(tmp_path, env.client) as stack:
        user = tool_user(stack)
        await user.register(misbehaving_server)
        asked = await user.ask("append_line", MILK)
        handle = env.client.get_workflow_handle(mcp_dispatch_id(asked["dispatch_id"]))
        first = (await handle.describe()).run_id
        with anyio.fail_after(30):
            while (await handle.describe()).run_id == first:
                await handle.signal("reconsider")
                await anyio.sleep(0.05)
        assert (await user.view(asked["dispatch_id"]))["ask_first"] == asked["ask_first"]
        await user.approve(asked["dispatch_id"])
        assert (await user.ended(asked["dispatch_id"]))["status"] == "completed"
        assert len(misbehaving_server.effects()) == 1


async def degraded(user: ToolUser, pause: timedelta) -> None:
    """Others met failures at the server, after it was first looked at, and it is left alone for so long."""
    path = f"/api/mcp/servers/{user.server_id}/health"
    with anyio.fail_after(30):
        while (await user.person.ok("GET", path))["health_status"] != "healthy":
            await anyio.sleep(0.02)
    failure = ToolFailure(
        kind=ToolFailureKind.SERVER_ERROR,
        message="failing",
        retry_after_ms=int(pause / timedelta(milliseconds=1)),
    )
    for _ in range(FAILURES_TO_DEGRADE):
        outcome = MCPConnectionOutcome(happened_at=datetime.now(UTC), failure=failure)
        user.stack.services.mcp.health.record(user.server_id, user.person.user, outcome)


async def held(user: ToolUser, count: int) -> list[dict[str, Any]]:
    """So many calls that are held back before they are sent."""
    asked = [await user.ask("read_line", MILK, wait_ms=0) for _ in range(count)]
    return [await waits(user, one["dispatch_id"]) for one in asked]


async def attempts_asked_for(env: TimeSkipper, dispatch_id: str) -> int:
    """How often the workflow has had somebody look whether the call may go now."""
    history = await env.client.get_workflow_handle(mcp_dispatch_id(dispatch_id)).fetch_history()
    return sum(one.HasField("activity_task_completed_event_attributes") for one in history.events)


async def test_calls_that_are_held_back_go_as_soon_as_a_probe_finds_their_server_well(
    patient: ToolUser, skipping_env: TimeSkipper
) -> None:
    await degraded(patient, timedelta(minutes=10))
    calls = await held(patient, 3)
    for call in calls:
        assert datetime.fromisoformat(call["waits_until"]) > datetime.now(UTC) + timedelta(minutes=8)
    path = f"/api/mcp/servers/{patient.server_id}/smoke-test"
    assert (await patient.person.ok("POST", path, {"server_id": patient.server_id}))["status"] == "passed"
    for call in calls:
        ended = await patient.ended(call["dispatch_id"])
        assert (ended["status"], ended["attempts"]) == ("completed", 1)
    woken = skipping_env.client.get_workflow_handle(mcp_dispatch_id(calls[0]["dispatch_id"]))
    await woken.result()
    await replayer([McpDispatchWorkflow]).replay_workflow(await woken.fetch_history())


async def test_calls_that_are_held_back_go_as_soon_as_another_call_is_answered(
    patient: ToolUser, skipping_env: TimeSkipper
) -> None:
    await degraded(patient, timedelta(minutes=10))
    first, *others = await held(patient, 4)
    await let_pass(skipping_env, first["dispatch_id"], timedelta(minutes=11))
    for call in (first, *others):
        ended = await patient.ended(call["dispatch_id"])
        assert (ended["status"], ended["attempts"]) == ("completed", 1)


async def test_ten_calls_held_back_by_one_retry_after_go_one_after_another_and_none_of_them_early(
    patient: ToolUser, skipping_env: TimeSkipper, misbehaving_server: MisbehavingServer
) -> None:
    first = await throttled(patient, misbehaving_server, 600)
    path = f"/api/mcp/servers/{patient.server_id}/health"
    until = datetime.fromisoformat((await patient.person.ok("GET", path))["backoff_until"])
    calls = await held(patient, 10)
    moments = {datetime.fromisoformat(one["waits_until"]) for one in (first, *calls)}
    assert len(moments) > 5
    assert until <= min(moments) <= max(moments) <= until + timedelta(seconds=5)

    # Told to look again before their time, both the one that was sent and those that were not go on waiting.
    for call in (first, calls[0]):
        handle = skipping_env.client.get_workflow_handle(mcp_dispatch_id(call["dispatch_id"]))
        before = await attempts_asked_for(skipping_env, call["dispatch_id"])
        await handle.signal("reconsider")
        with anyio.fail_after(30):
            while await attempts_asked_for(skipping_env, call["dispatch_id"]) == before:
                await anyio.sleep(0.02)
        found = await patient.view(call["dispatch_id"])
        assert (found["status"], found["attempts"]) == ("running", call["attempts"])
        assert datetime.fromisoformat(found["waits_until"]) >= until
