"""How tool servers are: throttled, ill, signed out, and well again, on the whole application."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
import pytest
from sqlalchemy import select, update

from contracts.base import rfc3339
from contracts.mcp.health import MCPConnectionHealth, MCPConnectionOutcome
from contracts.mcp.tools import ToolFailure, ToolFailureKind
from stores.mcp.mcp_tables import SERVERS, mcp_server_health
from stores.mcp.servers.health import HealthStore
from stores.platform.canonical import canonical_json
from stores.platform.tables import capabilities
from tests.fixtures.learner import WAIT_AT_MOST_SECONDS, Learner
from tests.fixtures.mcp_servers import MisbehavingServer
from tests.fixtures.stack import Stack, connect, running_stack, stack_settings
from tests.fixtures.taught import Taught, taught
from workflows.mcp.mcp_messages import SweepEnd, SweepStart
from workflows.mcp.mcp_probe_workflow import McpHealthSweepWorkflow

pytestmark = pytest.mark.anyio

__all__ = ["taught"]


@dataclass
class Watched:
    """A registered server that can be made to misbehave."""

    stack: Stack
    alice: Learner
    server: MisbehavingServer
    server_id: str

    async def health(self) -> dict[str, Any]:
        return await self.alice.ok("GET", f"/api/mcp/servers/{self.server_id}/health")

    async def smoke(self, **fields: Any) -> dict[str, Any]:
        body = {"server_id": self.server_id, **fields}
        return await self.alice.ok("POST", f"/api/mcp/servers/{self.server_id}/smoke-test", body)

    async def badges(self) -> list[str]:
        listed = await self.alice.ok("GET", "/api/mcp/servers")
        (item,) = [one for one in listed["servers"] if one["registry"]["server_id"] == self.server_id]
        return item["badge_states"]

    async def receipts(self, kind: str) -> list[dict[str, Any]]:
        found = await self.alice.ok("GET", "/api/mcp/receipts?limit=100")
        return [one for one in found["receipts"] if one["receipt_kind"] == kind]

    async def seen(self) -> None:
        """Waits until the first probe, which registering started, has been taken in."""
        with anyio.fail_after(WAIT_AT_MOST_SECONDS):
            while (await self.health())["health_status"] == "unknown":
                await anyio.sleep(0.02)

    async def sweep(self) -> SweepEnd:
        """What the schedule would start, now."""
        return await self.stack.client.execute_workflow(
            McpHealthSweepWorkflow.run,
            SweepStart(),
            id=f"mcp-health-{uuid4()}",
            task_queue=self.stack.settings.task_queue,
        )

    def let_time_pass(self) -> None:
        """As if the server's pause, and the time to its next probe, were over."""
        past = datetime(2026, 1, 1, tzinfo=UTC)
        with self.stack.database.write() as connection:
            kept = MCPConnectionHealth.model_validate_json(
                connection.scalar(
                    select(mcp_server_health.c.body).where(mcp_server_health.c.server_id == self.server_id)
                )
            )
            over = past if kept.backoff_until is not None else None
            throttle = kept.throttle_state.changed(until=over)
            body = canonical_json(kept.changed(backoff_until=over, throttle_state=throttle))
            connection.execute(
                mcp_server_health.update()
                .where(mcp_server_health.c.server_id == self.server_id)
                .values(next_probe_at=rfc3339(past), body=body)
            )


@pytest.fixture
async def watched(
    tmp_path: Path, temporal_address: str, misbehaving_server: MisbehavingServer
) -> AsyncIterator[Watched]:
    """Alice's server, seen once and found well."""
    settings = stack_settings(tmp_path, mcp_allow_private_addresses=True, secret_key_source="file")
    async with running_stack(settings, await connect(temporal_address)) as stack:
        alice = stack.learner("alice", ("read", "call", "approve", "install"))
        made = await alice.ok(
            "POST",
            "/api/mcp/servers/register",
            {
                "provider": "custom_remote",
                "display_name": "Lines",
                "transport": "remote_http",
                "endpoint_url": misbehaving_server.url,
            },
        )
        found = Watched(stack, alice, misbehaving_server, made["server"]["registry"]["server_id"])
        await found.seen()
        yield found


async def test_registering_has_the_server_probed_and_its_tools_taken_in(watched: Watched) -> None:
    health = await watched.health()
    assert (health["health_status"], health.get("next_action")) == ("healthy", None)
    tools = await watched.alice.ok("GET", f"/api/mcp/servers/{watched.server_id}/tools")
    assert [one["definition"]["tool_name"] for one in tools["tools"]] == ["append_line", "read_line"]
    assert len(await watched.receipts("health_change")) == 1


@pytest.mark.acceptance("9.18-3")
@pytest.mark.acceptance("0.11C-11")
async def test_a_429_backs_off_is_no_failure_and_quarantines_nothing(watched: Watched) -> None:
    watched.server.order("status", on="*", status=429, headers={"Retry-After": "120"})
    for number in range(5):
        watched.let_time_pass()
        tested = await watched.smoke(client_request_id=f"test-{number}")
        assert (tested["status"], tested["error_code"]) == ("blocked", "MCP_RATE_LIMITED")
    health = await watched.health()
    assert health["health_status"] == "healthy"
    assert health["failure_count_rolling"] == 0
    assert health["throttle_state"]["state"] == "rate_limited"
    assert health["throttle_state"]["retry_after_ms"] == 120_000
    assert "patience" in health["next_action"]
    assert "degraded" not in await watched.badges()
    with watched.stack.database.read() as connection:
        assert connection.scalars(select(capabilities.c.capability_id)).all() == []
    asked = len(watched.server.asked("initialize")) + len(watched.server.asked("server/discover"))
    waits = await watched.smoke(client_request_id="while it waits")
    assert waits["status"] == "blocked"
    assert "left alone until" in waits["summary"]
    assert len(watched.server.asked("initialize")) + len(watched.server.asked("server/discover")) == asked
    watched.server.lift()
    watched.let_time_pass()
    assert (await watched.smoke())["status"] == "passed"
    assert (await watched.health())["throttle_state"]["state"] == "none"


@pytest.mark.acceptance("9.18-4")
async def test_sustained_failures_degrade_and_one_answered_probe_heals(watched: Watched) -> None:
    watched.server.order("status", on="*", status=500)
    states = []
    for _ in range(3):
        watched.let_time_pass()
        end = await watched.sweep()
        assert (end.answered, end.failed) == (0, 1)
        states.append((await watched.health())["health_status"])
    assert states == ["healthy", "healthy", "degraded"]
    assert "degraded" in await watched.badges()
    health = await watched.health()
    assert (health["failure_count_rolling"], health["throttle_state"]["state"]) == (3, "none")
    assert health["next_action"]
    assert (await watched.sweep()).left_alone == 0, "while it waits nobody is due"
    watched.server.lift()
    watched.let_time_pass()
    assert (await watched.sweep()).answered == 1
    assert (await watched.health())["health_status"] == "healthy"
    assert "degraded" not in await watched.badges()
    told = [one["summary"].split(".")[0] for one in await watched.receipts("health_change")]
    assert [one.split(" (")[0] for one in told] == [
        "health degraded → healthy",
        "health healthy → degraded",
        "health unknown → healthy",
    ]


@pytest.mark.acceptance("9.15-3")
async def test_a_broken_sign_in_is_shown_with_what_to_do(watched: Watched) -> None:
    watched.server.order("status", on="*", status=401, headers={"WWW-Authenticate": "Bearer"})
    tested = await watched.smoke()
    assert (tested["status"], tested["error_code"]) == ("degraded", "MCP_AUTH_CHALLENGE_REQUIRED")
    assert "transport ok, auth failed" in tested["summary"]
    health = await watched.health()
    assert (health["auth_state"], health["failure_count_rolling"]) == ("challenge_required", 0)
    assert f"/api/mcp/servers/{watched.server_id}/auth/start" in health["next_action"]
    assert "auth_required" in await watched.badges()
    (receipt,) = await watched.receipts("smoke_test")
    assert (receipt["status"], receipt["receipt_id"]) == ("degraded", tested["receipt_id"])


async def test_a_server_that_does_not_list_its_tools_fails_its_smoke_test_and_is_not_called_ill(
    watched: Watched,
) -> None:
    watched.server.order("status", on="tools/list", status=403)
    tested = await watched.smoke()
    assert (tested["status"], tested["error_code"]) == ("failed", "MCP_SMOKE_TEST_FAILED")
    assert "transport ok" in tested["summary"]
    assert "discovery failed" in tested["summary"]
    assert (await watched.health())["health_status"] == "healthy"
    watched.server.lift()
    assert (await watched.smoke(client_request_id="again"))["status"] == "passed"


async def test_a_smoke_test_is_made_once_under_one_key(watched: Watched) -> None:
    first = await watched.smoke(client_request_id="same")
    assert first["status"] == "passed"
    assert "2 tools" in first["summary"]
    asked = len(watched.server.asked("tools/list"))
    assert await watched.smoke(client_request_id="same") == first
    assert len(watched.server.asked("tools/list")) == asked
    assert len(await watched.receipts("smoke_test")) == 1


async def test_a_named_tool_is_called_through_the_funnel_where_nobody_has_to_be_asked(
    watched: Watched,
) -> None:
    read = await watched.smoke(tool_name="read_line", payload_preview={"line": "milk"})
    assert (read["status"], "read_line answered" in read["summary"]) == ("passed", True)
    calls = await watched.alice.ok("GET", "/api/mcp/dispatches")
    assert [(one["tool_name"], one["status"]) for one in calls["dispatches"]] == [("read_line", "completed")]
    write = await watched.smoke(tool_name="append_line", payload_preview={"line": "milk"})
    assert (write["status"], write["error_code"]) == ("blocked", "MCP_ASK_FIRST_REQUIRED")
    assert "append_line was not called: policy has it ask first" in write["summary"]
    unknown = await watched.smoke(tool_name="no_such_tool")
    assert (unknown["status"], unknown["error_code"]) == ("blocked", "MCP_TOOL_NOT_FOUND")
    assert watched.server.effects() == []


@pytest.mark.acceptance("9.12-2")
async def test_a_connector_that_is_disabled_for_its_provider_says_so_and_is_not_called(
    watched: Watched,
) -> None:
    call = {"server_id": watched.server_id, "tool_name": "read_line", "arguments": {"line": "x"}}
    assert (await watched.alice.ok("POST", "/api/mcp/dispatches", call))["status"] == "completed"
    asked = len(watched.server.asked())
    decision = {"mode": "disabled", "updated_by": "user", "updated_at": "2026-01-01T00:00:00Z"}
    target = {"target_kind": "provider", "provider": "custom_remote"}
    await watched.alice.ok("POST", "/api/mcp/policy/update", {"target": target, "decision": decision})
    blocked = await watched.alice.ok("POST", "/api/mcp/dispatches", call)
    assert (blocked["status"], blocked["error_code"]) == ("blocked", "MCP_POLICY_BLOCKED")
    assert blocked["next_action"]
    tested = await watched.smoke(tool_name="read_line")
    assert "read_line was not called: policy has it switched off" in tested["summary"]
    assert len(watched.server.asked()) == asked
    await watched.alice.ok("PATCH", f"/api/mcp/servers/{watched.server_id}", {"enabled": False})
    off = await watched.alice.ok("POST", "/api/mcp/dispatches", call)
    assert (off["status"], off["error_code"]) == ("blocked", "MCP_SERVER_DISABLED")
    assert len(watched.server.asked()) == asked


async def test_a_server_that_does_not_answer_in_time_fails_the_test(watched: Watched) -> None:
    watched.server.order("hold", on="*")
    tested = await watched.smoke(max_duration_ms=1_000)
    assert (tested["status"], tested["error_code"]) == ("failed", "MCP_CALL_TIMED_OUT")
    assert (await watched.health())["health_reason_code"] == "timed_out"


async def test_a_switched_off_server_is_left_alone(watched: Watched) -> None:
    path = f"/api/mcp/servers/{watched.server_id}"
    await watched.alice.ok("PATCH", path, {"enabled": False})
    tested = await watched.smoke()
    assert (tested["status"], tested["error_code"]) == ("blocked", "MCP_SERVER_DISABLED")
    watched.let_time_pass()
    assert await watched.sweep() == SweepEnd()
    health = await watched.health()
    assert (health["health_status"], "enabled: true" in health["next_action"]) == ("disabled", True)
    await watched.alice.ok("PATCH", path, {"enabled": True})
    assert (await watched.health())["health_status"] == "healthy"


async def test_a_degraded_server_counts_once_against_the_capability_that_requires_it(taught: Taught) -> None:
    body = {
        "provider": "custom_remote",
        "display_name": "Lines",
        "transport": "remote_http",
        "endpoint_url": "https://lines.example/mcp",
        "enabled": False,
    }
    made = await taught.alice.ok("POST", "/api/mcp/servers/register", body)
    server_id = made["server"]["registry"]["server_id"]
    with taught.stack.database.write() as connection:
        manifest = json.loads(connection.scalar(select(capabilities.c.manifest)))
        manifest["required_runtime_caps"] = [f"mcp_connector:{server_id}"]
        connection.execute(update(capabilities).values(manifest=json.dumps(manifest)))
        entry = SERVERS.get(connection, server_id).changed(enabled=True)
        # Written here, as enabling through the API would probe the server.
        SERVERS.replace(connection, entry)
    health = HealthStore(taught.stack.database)
    lost = ToolFailure(kind=ToolFailureKind.CONNECTION_LOST, message="it hung up")
    throttled = ToolFailure(kind=ToolFailureKind.THROTTLED, message="not so fast", http_status=429)
    for failure in (throttled,) * 5 + (lost,) * 5:
        outcome = MCPConnectionOutcome(happened_at=datetime.now(UTC), failure=failure)
        health.record(server_id, taught.alice.user, outcome)
    failures = [one for one in taught.lines("outcomes") if not one["success"]]
    assert [one["failure_fingerprint"] for one in failures] == [f"mcp_connector_degraded:{server_id}"]
    assert (await taught.health())["health_status"] == "healthy"


async def test_nobody_else_sees_or_tries_it(watched: Watched) -> None:
    mallory = watched.stack.learner("mallory")
    path = f"/api/mcp/servers/{watched.server_id}"
    for method, rest, body in (
        ("GET", "health", None),
        ("POST", "smoke-test", {"server_id": watched.server_id}),
    ):
        status, error = await mallory.refused(method, f"{path}/{rest}", body)
        assert (status, error["code"]) == (404, "MCP_SERVER_NOT_FOUND")
    status, error = await watched.alice.refused("POST", f"{path}/smoke-test", {"server_id": "another"})
    assert (status, error["code"]) == (422, "VALIDATION_FAILED")
