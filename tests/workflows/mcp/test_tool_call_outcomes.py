"""What becomes of a call when its server misbehaves: never made twice, never called done when nobody knows."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from temporalio.testing import TimeSkipper

from stores.platform.journal.journal import read_stream
from tests.fixtures.mcp_servers import MisbehavingServer
from tests.fixtures.stack import connect
from tests.fixtures.tool_calls import ToolUser, tool_stack, tool_user, use_receipts

pytestmark = pytest.mark.anyio

MILK = {"line": "milk"}


@pytest.fixture
async def caller(
    tmp_path: Path, temporal_address: str, misbehaving_server: MisbehavingServer
) -> AsyncIterator[ToolUser]:
    """An agent whose server does as it is ordered, and whose calls all pass."""
    async with tool_stack(tmp_path, await connect(temporal_address)) as stack:
        user = tool_user(stack)
        await user.register(misbehaving_server)
        await user.looked_at()
        await let_all_pass(user)
        yield user


@pytest.fixture
async def patient(
    tmp_path: Path, skipping_env: TimeSkipper, misbehaving_server: MisbehavingServer
) -> AsyncIterator[ToolUser]:
    """The same, with workflows whose clocks can be moved."""
    async with tool_stack(tmp_path, skipping_env.client) as stack:
        user = tool_user(stack)
        await user.register(misbehaving_server)
        await user.looked_at()
        await let_all_pass(user)
        yield user


async def let_all_pass(user: ToolUser) -> None:
    target = {"target_kind": "tool", "server_id": user.server_id, "tool_name": "append_line"}
    tools = (await user.person.ok("GET", f"/api/mcp/servers/{user.server_id}/tools"))["tools"]
    seen = next(one for one in tools if one["definition"]["tool_name"] == "append_line")
    path = f"/api/mcp/servers/{user.server_id}/tools/append_line/review"
    await user.person.ok("POST", path, {"definition_hash": seen["definition_hash"]})
    await user.person.ok(
        "POST", "/api/mcp/policy/update", {"target": target, "decision": {"mode": "enabled"}}
    )


async def tried_again(env: TimeSkipper, user: ToolUser, dispatch_id: str) -> dict[str, Any]:
    """Moves the clock on until the call has ended."""
    handle = env.client.get_workflow_handle(f"mcp-dispatch/{dispatch_id}")
    with anyio.fail_after(60):
        while (found := await user.view(dispatch_id))["status"] == "running":
            if found.get("next_action"):
                await env.fast_forward(handle, timedelta(minutes=6))
            await anyio.sleep(0.05)
    return found


@pytest.mark.parametrize("order", ["status_after", "drop_after", "break"])
async def test_a_call_that_was_sent_and_not_answered_is_outcome_unknown(
    caller: ToolUser, misbehaving_server: MisbehavingServer, order: str
) -> None:
    how: dict[str, Any] = {"status": 500} if order == "status_after" else {}
    misbehaving_server.order(order, **how)
    view = await caller.ask("append_line", MILK)
    assert (view["status"], view["error_code"]) == ("outcome_unknown", "MCP_OUTCOME_UNKNOWN"), view
    assert view["attempts"] == 1
    assert "before you call it again" in view["next_action"]
    assert len(misbehaving_server.effects()) == 1


async def test_a_call_that_the_server_refuses_ends_with_nothing_done(
    caller: ToolUser, misbehaving_server: MisbehavingServer
) -> None:
    misbehaving_server.order("refuse", code=-32602, message="no such line")
    view = await caller.ask("append_line", MILK)
    assert (view["status"], view["error_code"], view["attempts"]) == ("failed", "MCP_TOOL_REFUSED", 1)
    assert "look at its arguments" in view["next_action"]
    assert misbehaving_server.effects() == []


async def test_a_tool_that_is_too_slow_is_outcome_unknown(
    caller: ToolUser, misbehaving_server: MisbehavingServer
) -> None:
    misbehaving_server.order("hold_after")
    view = await caller.ask("append_line", MILK, timeout_ms=3_000)
    assert view["status"] == "outcome_unknown"
    assert len(misbehaving_server.effects()) == 1


async def test_a_tool_that_a_person_declared_idempotent_is_called_again_under_the_same_key(
    patient: ToolUser, skipping_env: TimeSkipper, misbehaving_server: MisbehavingServer
) -> None:
    tools = (await patient.person.ok("GET", f"/api/mcp/servers/{patient.server_id}/tools"))["tools"]
    seen = next(one for one in tools if one["definition"]["tool_name"] == "append_line")
    path = f"/api/mcp/servers/{patient.server_id}/tools/append_line/review"
    body = {"definition_hash": seen["definition_hash"], "declared_idempotent": True}
    await patient.person.ok("POST", path, body)
    misbehaving_server.order("drop_after", times=1)
    asked = await patient.ask("append_line", MILK, wait_ms=2_000)
    ended = await tried_again(skipping_env, patient, asked["dispatch_id"])
    assert (ended["status"], ended["attempts"]) == ("completed", 2)
    assert {one["key"] for one in misbehaving_server.effects()} == {asked["dispatch_id"]}


@pytest.mark.thorough
@pytest.mark.acceptance("9.18-3")
async def test_a_server_that_asks_for_patience_gets_it_and_nothing_is_quarantined(
    patient: ToolUser, skipping_env: TimeSkipper, misbehaving_server: MisbehavingServer
) -> None:
    misbehaving_server.order("status", status=429, headers={"Retry-After": "120"}, times=2)
    asked = await patient.ask("append_line", MILK, wait_ms=2_000)
    assert asked["status"] == "running"
    ended = await tried_again(skipping_env, patient, asked["dispatch_id"])
    assert (ended["status"], ended["attempts"]) == ("completed", 3)
    assert len(misbehaving_server.effects()) == 1
    health = await patient.person.ok("GET", f"/api/mcp/servers/{patient.server_id}/health")
    assert health["health_status"] == "healthy"


@pytest.mark.thorough
async def test_a_server_that_never_stops_asking_for_patience_fails_the_call_in_the_end(
    patient: ToolUser, skipping_env: TimeSkipper, misbehaving_server: MisbehavingServer
) -> None:
    misbehaving_server.order("status", status=429, headers={"Retry-After": "1"})
    asked = await patient.ask("append_line", MILK, wait_ms=2_000)
    ended = await tried_again(skipping_env, patient, asked["dispatch_id"])
    assert (ended["status"], ended["error_code"], ended["attempts"]) == ("failed", "MCP_RATE_LIMITED", 6)
    assert misbehaving_server.effects() == []


async def test_a_server_that_wants_a_sign_in_ends_the_call_with_what_to_do(
    caller: ToolUser, misbehaving_server: MisbehavingServer
) -> None:
    misbehaving_server.order("status", on="*", status=401, headers={"WWW-Authenticate": "Bearer"})
    view = await caller.ask("append_line", MILK)
    assert (view["status"], view["error_code"]) == ("auth_required", "MCP_AUTH_CHALLENGE_REQUIRED")
    assert "Sign in" in view["next_action"]
    assert misbehaving_server.effects() == []


async def test_an_answer_that_does_not_fit_its_schema_is_not_passed_on(
    caller: ToolUser, misbehaving_server: MisbehavingServer
) -> None:
    misbehaving_server.order("answer", structured={"effects": "many"})
    view = await caller.ask("append_line", MILK)
    assert (view["status"], view["error_code"]) == ("failed", "MCP_OUTPUT_INVALID")
    assert view.get("result") is None


async def test_an_answer_beyond_the_size_is_not_passed_on(
    caller: ToolUser, misbehaving_server: MisbehavingServer
) -> None:
    misbehaving_server.order("huge", bytes=2_000_000)
    view = await caller.ask("append_line", MILK)
    assert (view["status"], view["error_code"]) == ("failed", "MCP_OUTPUT_TOO_LARGE")


async def test_a_call_given_up_while_the_tool_works_says_that_nobody_knows(
    caller: ToolUser, misbehaving_server: MisbehavingServer
) -> None:
    misbehaving_server.order("hold_after")
    asked = await caller.ask("append_line", MILK, wait_ms=0)
    with anyio.fail_after(30):
        while not misbehaving_server.effects():
            await anyio.sleep(0.02)
    path = f"/api/mcp/dispatches/{asked['dispatch_id']}/cancel"
    given_up = await caller.person.ok("POST", path, {})
    assert given_up["status"] == "outcome_unknown"
    misbehaving_server.lift()
    assert (await caller.view(asked["dispatch_id"]))["status"] == "outcome_unknown"


async def test_a_call_given_up_between_two_attempts_is_cancelled(
    caller: ToolUser, misbehaving_server: MisbehavingServer
) -> None:
    misbehaving_server.order("status", status=429, headers={"Retry-After": "600"})
    asked = await caller.ask("append_line", MILK, wait_ms=500)
    with anyio.fail_after(30):
        while not (await caller.view(asked["dispatch_id"])).get("next_action"):
            await anyio.sleep(0.02)
    given_up = await caller.person.ok("POST", f"/api/mcp/dispatches/{asked['dispatch_id']}/cancel", {})
    assert given_up["status"] == "cancelled"
    assert misbehaving_server.effects() == []


@pytest.mark.acceptance("9.15-1")
async def test_the_receipt_of_a_use_shows_the_connectors_route(caller: ToolUser) -> None:
    before = datetime.now(UTC)
    view = await caller.ask(
        "read_line", {"line": "x"}, runtime="claude", project_id="case-7", data_class="internal"
    )
    assert view["status"] == "completed", view
    uses = [use for use in use_receipts(caller.stack) if use["dispatch_id"] == view["dispatch_id"]]
    assert len(uses) == 1
    use = uses[0]
    assert use["route_surface"] == "mcp_connector"
    assert use["connector_server_id"] == caller.server_id
    assert (use["runtime"], use["provider"]) == ("claude", "custom_remote")
    assert (use["project_id"], use["data_class"]) == ("case-7", "internal")
    assert (use["action_class"], use["approval_state"], use["result"]) == ("read", "not_needed", "success")
    assert before <= datetime.fromisoformat(use["started_at"])
    assert use["started_at"] <= use["completed_at"]
    with caller.stack.database.read() as connection:
        kept = read_stream(connection, "system/mcp/capability_events", limit=1000)
    told = [one.document for one in kept if one.document.get("receipt_id") == view["receipt_id"]]
    assert [(one["event"], one["capability_id"], one["server_id"]) for one in told] == [
        ("mcp.receipt.created", use["capability_id"], caller.server_id)
    ]
