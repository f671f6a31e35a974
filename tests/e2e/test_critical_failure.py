"""One critical failure takes a capability out of routing: it broke the bounds that its rehearsal is held to."""

from typing import Any
from uuid import uuid4

import pytest

from tests.e2e.ability_owner import GOAL, WHY, Owner
from tests.fixtures.installed import pass_smoke_test
from tests.fixtures.learner import SALES_REPORT
from tests.fixtures.stack import Stack
from tests.fixtures.taught import Taught

pytestmark = pytest.mark.anyio

CLEARS_OUTSIDE = ("rm -rf /var/tmp/no-such-report; true", ())
"""Harmless in a sandbox; destructive where it is done in earnest."""


def bounds(**fields: Any) -> dict[str, Any]:
    return {"test_policy": {"policy_id": str(uuid4()), "mode": "blank_artifact", **fields}}


@pytest.fixture
async def taken_back(stack: Stack) -> tuple[Owner, Taught]:
    """An ability proven under loose bounds, taken back, put under strict bounds, and let into use for a reason."""
    alice = stack.learner()
    await alice.create()
    await alice.act("start")
    await alice.act("set-test-policy", bounds(forbid_destructive_writes=False))
    await alice.act("mark-goal", {"goal_description": GOAL})
    await alice.observe((*SALES_REPORT, CLEARS_OUTSIDE))
    await alice.act("stop")
    await alice.propose()
    assert await alice.prove() == "ready_for_review"
    approved = await alice.propose_act("approve")
    owner = Owner(stack, alice, approved["proposal"]["ability_id"])
    (entry,) = (await alice.ok("GET", "/api/capabilities/bridge"))["entries"]
    pass_smoke_test(stack.database, entry["capability_id"])
    await owner.does("quarantine", WHY)
    await alice.propose_act("revise", {"revision_instructions": "look again"})
    await alice.act("set-test-policy", bounds())
    await owner.does("unquarantine", {"reason": "It is needed today"})
    return owner, Taught(stack, alice, owner.ability_id, entry["capability_id"])


@pytest.mark.thorough
@pytest.mark.acceptance("9.9-53")
async def test_a_rehearsal_that_breaks_the_test_policy_quarantines_what_is_installed_at_once(
    taken_back: tuple[Owner, Taught],
) -> None:
    owner, taught = taken_back
    assert (await taught.health())["health_status"] == "healthy"
    assert await owner.found_by(taught.alice)

    assert await taught.alice.prove() == "quarantined"
    health = await taught.health()
    assert (health["health_status"], health["reason_codes"][0]) == ("quarantined", "critical_failure")
    usable, why = await taught.usable()
    assert (usable, "it failed critically" in why) == (False, True)
    assert (await taught.entry())["routing_eligible"] is False
    (outcome,) = taught.lines("outcomes")
    assert (outcome["kind"], outcome["critical"]) == ("canary", True)
    assert "TEST_POLICY_VIOLATION" in outcome["summary"]
    assert [one["event"] for one in taught.lines("events")] == [
        "capability.manifest.created",
        "capability.health.changed",
        "capability.quarantined",
    ]


@pytest.mark.thorough
@pytest.mark.acceptance("9.9-53")
async def test_a_recheck_that_meets_what_the_test_policy_now_forbids_quarantines_at_once(
    taken_back: tuple[Owner, Taught],
) -> None:
    _, taught = taken_back
    answer = await taught.reprobe(3)
    health = await taught.health()
    assert answer["health_status"] == "healthy"
    assert (health["health_status"], health["reason_codes"]) == (
        "quarantined",
        ["critical_failure", "canary_failed"],
    )
    assert (await taught.usable())[0] is False
    assert [(one["kind"], one["critical"]) for one in taught.lines("outcomes")] == [("canary", True)]


async def test_a_safety_failure_of_a_draft_that_is_not_installed_is_no_failure_of_any_capability(
    stack: Stack,
) -> None:
    alice = stack.learner()
    await alice.teach(allow_private_install=True)
    await alice.propose_act("approve")
    (entry,) = (await alice.ok("GET", "/api/capabilities/bridge"))["entries"]
    taught = Taught(stack, alice, "", entry["capability_id"])
    await alice.create()
    await alice.act("start")
    await alice.act("mark-goal", {"goal_description": GOAL})
    await alice.observe((*SALES_REPORT, CLEARS_OUTSIDE))
    await alice.act("stop")
    await alice.propose()
    assert await alice.prove() == "quarantined"
    assert (await taught.health())["reason_codes"] == ["awaiting_smoke"]
    assert taught.lines("outcomes") == []
