"""Calls of a server that wants patience: held back before they are sent, for as long as it takes, in as many runs."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from temporalio.testing import WorkflowEnvironment

from tests.fixtures.mcp_servers import GoodServer, MisbehavingServer
from tests.fixtures.tool_calls import ToolUser, tool_stack, tool_user
from tests.replay.scenarios import server
from workflows.ids import mcp_dispatch_id

pytestmark = pytest.mark.anyio

MILK = {"line": "milk"}
EVENTS_BEFORE_SUGGESTION = 15


@pytest.fixture
async def patient(
    tmp_path: Path, skipping_env: WorkflowEnvironment, misbehaving_server: MisbehavingServer
) -> AsyncIterator[ToolUser]:
    """An agent whose server does as it is ordered, and whose workflows' clocks can be moved."""
    async with tool_stack(tmp_path, skipping_env.client) as stack:
        user = tool_user(stack)
        await user.register(misbehaving_server)
        yield user


async def throttled(user: ToolUser, ordered: MisbehavingServer, seconds: int) -> dict[str, Any]:
    """A call that was told to come back later; the view once it waits."""
    ordered.order("status", status=429, headers={"Retry-After": str(seconds)}, times=1)
    asked = await user.ask("read_line", MILK, wait_ms=0)
    return await waits(user, asked["dispatch_id"])


async def waits(user: ToolUser, dispatch_id: str) -> dict[str, Any]:
    with anyio.fail_after(30):
        while not (found := await user.view(dispatch_id)).get("waits_until"):
            await anyio.sleep(0.02)
    return found


async def let_pass(env: WorkflowEnvironment, dispatch_id: str, span: timedelta) -> None:
    await env.fast_forward(env.client.get_workflow_handle(mcp_dispatch_id(dispatch_id)), span)


async def test_a_call_waits_out_the_pause_that_another_was_asked_for_and_both_are_made_once(
    patient: ToolUser, skipping_env: WorkflowEnvironment, misbehaving_server: MisbehavingServer
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
