"""What was installed is degraded until it was run once, and its times are of what happened (DOC3 §1.1H, §1.1D)."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import anyio
import pytest
from temporalio.client import ScheduleActionStartWorkflow, WorkflowHandle

from contracts.workflow_ids import capability_reprobe_id, validation_run_id
from gateways.learning.sessions import LearnGateway
from tests.fixtures.stack import Stack
from tests.fixtures.taught import Taught, installed
from worker.schedule import build_reprobe_schedule
from workflows.abilities.ability_messages import ReprobeStart
from workflows.abilities.capability_reprobe_workflow import CapabilityReprobeWorkflow

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
    for run in runs["runs"]:
        checks = await stack.client.get_workflow_handle(
            validation_run_id(run["validation_run_id"])
        ).describe()
        assert (await checks.static_summary() or "").startswith("Validate ")
    entry = await found.alice.ok("GET", f"/api/abilities/{found.ability_id}/availability")
    assert entry["last_validated_at"] == max(run["completed_at"] for run in runs["runs"])
    name = capability_reprobe_id(found.ability_id)
    handle: WorkflowHandle[Any, Any] = stack.client.get_workflow_handle(name)
    with anyio.fail_after(30):
        await handle.result()
    (outcome,) = found.lines("outcomes")
    assert (outcome["kind"], outcome["success"]) == ("canary", True)
    created, *_ = found.lines("events")
    assert (created["event"], created["health_status"]) == ("capability.manifest.created", "degraded")
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


async def test_the_hourly_recheck_proves_what_a_session_installed_by_itself(stack: Stack) -> None:
    alice = stack.learner()
    await alice.demonstrate(build_policy="private_auto_install", allow_private_install=True)
    await alice.propose()
    await alice.propose_act("validate")
    passing = ("testing_proposal", "ready_for_review", "installing_private")
    assert await alice.settled(*passing) == "installed_private"
    session = await alice.ok("GET", f"/api/learn/sessions/{alice.session_id}/detail")
    bridge = await alice.ok("GET", "/api/capabilities/bridge")
    found = Taught(stack, alice, session["ability_id"], bridge["entries"][0]["capability_id"])
    health = await found.health()
    assert (health["health_status"], health["reason_codes"]) == ("degraded", ["awaiting_smoke"])
    hourly = build_reprobe_schedule(stack.settings).action
    assert isinstance(hourly, ScheduleActionStartWorkflow)
    end = await stack.client.execute_workflow(
        CapabilityReprobeWorkflow.run,
        ReprobeStart.model_validate(hourly.args[0]),
        id=f"capability-reprobe-{uuid4()}",
        task_queue=stack.settings.task_queue,
    )
    assert [(one.capability_id, one.success) for one in end.results] == [(found.capability_id, True)]
    assert (await found.health())["health_status"] == "healthy"
