"""Uses that fail move a capability from healthy to quarantined (DOC3 §1.1I)."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from tests.fixtures.taught import Taught, taught

pytestmark = pytest.mark.anyio

__all__ = ["taught"]

SAID = "summarise the sales figures"


@pytest.mark.thorough
@pytest.mark.acceptance("9.9-52")
async def test_three_matching_failures_degrade_and_leave_the_ability_routable(taught: Taught) -> None:
    await taught.fails(2)
    assert (await taught.health())["health_status"] == "healthy"
    await taught.fails(1)
    health, entry = await taught.health(), await taught.entry()
    assert (health["health_status"], health["reason_codes"]) == ("degraded", ["matching_failures"])
    assert (entry["health_status"], entry["routing_eligible"]) == ("degraded", True)
    assert await taught.usable() == (True, "")
    assert [one["event"] for one in taught.lines("events")][1:] == ["capability.health.changed"]


async def test_one_run_that_fails_at_one_checkpoint_again_and_again_is_one_failure(taught: Taught) -> None:
    body = {
        "checkpoint_id": "cp-01",
        "ability_id": taught.ability_id,
        "dispatch_id": str(uuid4()),
        "status": "failed",
        "evidence": "still not there",
    }
    for _ in range(6):
        await taught.alice.ok("POST", "/api/bridge/verify-checkpoint", body)
    assert (await taught.health())["health_status"] == "healthy"
    stats = (await taught.alice.ok("GET", "/api/capabilities/stats"))["capabilities"][0]
    assert (stats["uses"], stats["checkpoints_failed"]) == (1, 6)


@pytest.mark.thorough
@pytest.mark.acceptance("9.9-55", "0A.33-8")
async def test_five_failures_quarantine_which_is_visible_says_why_and_is_not_routed_to(
    taught: Taught,
) -> None:
    await taught.fails(5)
    health, entry = await taught.health(), await taught.entry()
    assert (health["health_status"], entry["routing_eligible"]) == ("quarantined", False)
    assert entry["health_reason_code"] == "repeated_failures"
    assert health["cooldown_until"] is not None
    usable, why = await taught.usable()
    assert usable is False
    assert "quarantined (" in why
    assert "5 times within 7 days" in why
    found = await taught.alice.ok("POST", "/api/abilities/lookup", {"user_query": SAID})
    assert [match["usable_now"] for match in found["matches"]] == [False]
    receipts = await taught.alice.ok("GET", "/api/learn/receipts?event_kind=quarantined")
    assert "5 times" in receipts["receipts"][0]["reason"]
    assert [one["event"] for one in taught.lines("events")][-1] == "capability.quarantined"


async def test_an_outcome_counts_once_and_only_within_seven_days(taught: Taught) -> None:
    again = taught.outcome()
    for _ in range(5):
        taught.stack.services.capabilities.record_outcome(again, "test")
    for days in (8, 9, 10, 11):
        taught.report(happened_at=datetime.now(UTC) - timedelta(days=days))
    assert (await taught.health())["health_status"] == "healthy"
    assert len(taught.lines("outcomes")) == 5
    taught.report(capability_id="learned.nothing-of-the-kind")
    assert len(taught.lines("outcomes")) == 5
