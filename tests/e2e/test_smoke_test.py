"""What was installed is degraded until it was run once, and its times are of what happened (DOC3 §1.1H, §1.1D)."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import anyio
import pytest
from temporalio.client import WorkflowHandle

from contracts.workflow_ids import capability_reprobe_id
from gateways.learning.sessions import LearnGateway
from tests.fixtures.stack import Stack
from tests.fixtures.taught import installed

pytestmark = pytest.mark.anyio


async def test_an_install_is_degraded_until_its_smoke_test_passes_and_says_when_what_happened(
    stack: Stack,
) -> None:
    eager = LearnGateway(
        stack.client, stack.settings.task_queue, stack.services.sessions, smoke_test_after=timedelta(0)
    )
    stack.app.state.services = replace(stack.services, gateway=eager)
    found = await installed(stack)
    runs = await found.alice.ok("GET", f"/api/learn/proposals/{found.alice.proposal_id}/validation-runs")
    entry = await found.alice.ok("GET", f"/api/abilities/{found.ability_id}/availability")
    assert entry["last_validated_at"] == max(run["completed_at"] for run in runs["runs"])
    name = capability_reprobe_id(found.ability_id)
    handle: WorkflowHandle[Any, Any] = stack.client.get_workflow_handle(name)
    with anyio.fail_after(30):
        await handle.result()
    (outcome,) = found.lines("outcomes")
    assert (outcome["kind"], outcome["success"]) == ("canary", True)
    (change,) = [one for one in found.lines("events") if one["event"] == "capability.health.changed"]
    assert (change["health_before"], change["health_status"]) == ("degraded", "healthy")
    (trace,) = found.lines("traces")
    assert (trace["trace_id"], trace["success"]) == (outcome["outcome_id"], True)
    assert (trace["capability_id"], trace["app_id"]) == (found.capability_id, "terminal")
    assert {step["success"] for step in trace["steps"]} == {True}
    health = await found.health()
    assert (health["health_status"], health["last_verified_at"]) == ("healthy", outcome["happened_at"])


async def test_what_nothing_has_run_yet_says_so_and_claims_no_time_of_a_check(stack: Stack) -> None:
    found = await installed(stack)
    health = await found.health()
    assert (health["health_status"], health["reason_codes"]) == ("degraded", ["awaiting_smoke"])
    assert health.get("last_verified_at") is None
    entry = await found.entry()
    assert (entry["routing_eligible"], entry["health_reason_code"]) == (True, "awaiting_smoke")
    assert await found.usable() == (True, "")
