"""Rechecks lead out of quarantine, and only good ones (DOC3 §1.1I "Reprobe")."""

import json
from uuid import uuid4

import pytest
from sqlalchemy import select, update

from contracts.abilities.capability_health import OutcomeKind
from contracts.workflow_ids import capability_reprobe_id
from stores.platform.tables import capabilities, learn_sessions
from tests.fixtures.taught import Taught, taught
from workflows.abilities.ability_messages import ReprobeEnd, ReprobeStart
from workflows.abilities.capability_reprobe_workflow import CapabilityReprobeWorkflow

pytestmark = pytest.mark.anyio

__all__ = ["taught"]


@pytest.mark.thorough
@pytest.mark.acceptance("9.9-54")
async def test_five_good_canaries_bring_it_back_and_delete_no_trace(taught: Taught) -> None:
    await taught.fails(5)
    answer = await taught.reprobe(4)
    assert (answer["health_status"], answer["workflow_id"]) == (
        "quarantined",
        capability_reprobe_id(taught.capability_id),
    )
    link = await taught.alice.ok("GET", f"/api/workflows/{answer['workflow_id']}")
    assert link["status"] == "completed"
    assert (await taught.health())["health_status"] == "quarantined"
    await taught.reprobe(1)
    health = await taught.health()
    assert (health["health_status"], health["reason_codes"]) == ("healthy", [])
    assert (await taught.usable(), (await taught.entry())["routing_eligible"]) == ((True, ""), True)
    kinds = [(one["kind"], one["success"]) for one in taught.lines("outcomes")]
    assert kinds == [("checkpoint", False)] * 5 + [("canary", True)] * 5
    events = [one["event"] for one in taught.lines("events")]
    assert events.count("capability.reprobe.succeeded") == 5
    assert {one["health_status"] for one in taught.lines("events")} == {"degraded", "quarantined", "healthy"}


async def test_a_recheck_is_started_once_under_one_key(taught: Taught) -> None:
    await taught.fails(5)
    body = {"capability_id": taught.capability_id, "canaries": 1}
    for _ in range(3):
        answer = await taught.alice.ok("POST", "/api/capabilities/reprobe", body, idempotency_key="once")
        await taught.stack.client.get_workflow_handle(answer["workflow_id"]).result()
    assert [one["kind"] for one in taught.lines("outcomes")].count("canary") == 1


async def test_a_bad_canary_keeps_the_quarantine_and_ends_the_recheck(taught: Taught) -> None:
    await taught.fails(5)
    with taught.stack.database.write() as connection:
        manifest = json.loads(
            connection.scalar(capabilities.select().with_only_columns(capabilities.c.manifest))
        )
        manifest["required_runtime_caps"] = ["program:no-such-program-anywhere"]
        connection.execute(update(capabilities).values(manifest=json.dumps(manifest)))
    await taught.reprobe(5)
    health = await taught.health()
    assert health["health_status"] == "quarantined"
    assert health["reason_codes"][-1] == "canary_failed"
    assert (await taught.entry())["health_reason_code"] == "repeated_failures"
    assert health["session_availability"] == "unsupported"
    assert [one["success"] for one in taught.lines("outcomes") if one["kind"] == "canary"] == [False]


async def test_what_cannot_be_run_stays_quarantined_and_says_so(taught: Taught) -> None:
    await taught.fails(5)
    with taught.stack.database.write() as connection:
        (aggregate,) = connection.scalars(select(learn_sessions.c.aggregate))
        unproved = {**json.loads(aggregate), "passed_checks": []}
        connection.execute(update(learn_sessions).values(aggregate=json.dumps(unproved)))
    await taught.reprobe(5)
    health = await taught.health()
    assert health["health_status"] == "quarantined"
    assert health["reason_codes"][-1] == "canary_not_run"
    (outcome,) = [one for one in taught.lines("outcomes") if one["kind"] == "canary"]
    assert (outcome["success"], outcome["not_run"]) == (False, True)
    assert outcome["summary"] == "not run: no files are kept that it could be run on"


async def test_the_scheduled_recheck_takes_what_ails_once_its_cooldown_is_over(taught: Taught) -> None:
    taught.report(critical=True)
    end = await _scheduled(taught)
    assert end.results == ()
    assert (await taught.health())["session_availability"] == "supported"
    store = taught.stack.services.capabilities
    standing = store.record_outcome(
        taught.outcome(success=True, kind=OutcomeKind.CANARY, failure_fingerprint=None), "test"
    )
    assert standing is not None
    assert standing.record.cooldown_until is None
    end = await _scheduled(taught)
    assert [(one.success, one.good_canaries) for one in end.results] == [(True, 2)]


async def _scheduled(taught: Taught) -> ReprobeEnd:
    return await taught.stack.client.execute_workflow(
        CapabilityReprobeWorkflow.run,
        ReprobeStart(),
        id=f"capability-reprobe-{uuid4()}",
        task_queue=taught.stack.settings.task_queue,
    )
