"""What is said where abilities are not shown as they are."""

from datetime import UTC, datetime, timedelta

import pytest

from contracts.abilities.availability import FreshnessCode, FreshnessState
from contracts.abilities.capability_health import RuntimeInventory
from contracts.abilities.capability_manifest import BridgeState
from domain.abilities.availability import STALE_AFTER, Seen, freshness

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
OLD = RuntimeInventory(checked_at=NOW - STALE_AFTER - timedelta(seconds=1))


def test_what_is_up_to_date_gives_no_reason() -> None:
    found = freshness(Seen(inventory=RuntimeInventory(checked_at=NOW)), NOW)
    assert (found.state, found.reasons) == (FreshnessState.FRESH, ())


@pytest.mark.parametrize(
    ("seen", "state", "code"),
    [
        (Seen(bridge=BridgeState.STALE), FreshnessState.STALE, FreshnessCode.BRIDGE_REBUILD_FAILED),
        (Seen(inventory=OLD), FreshnessState.STALE, FreshnessCode.RUNTIME_NOT_LOOKED_AT),
        (Seen(bridge=BridgeState.PARTIAL), FreshnessState.PARTIAL, FreshnessCode.BRIDGE_PARTIAL),
        (Seen(snapshot_unwritten=True), FreshnessState.REFRESHING, FreshnessCode.SNAPSHOT_NOT_WRITTEN),
        (Seen(bridge_unwritten=True), FreshnessState.REFRESHING, FreshnessCode.BRIDGE_NOT_WRITTEN),
        (Seen(skills_unwritten=True), FreshnessState.REFRESHING, FreshnessCode.SKILLS_NOT_WRITTEN),
    ],
)
def test_each_thing_that_is_behind_has_its_state_and_its_meaning(seen, state, code) -> None:
    found = freshness(seen, NOW)
    assert (found.state, [reason.code for reason in found.reasons]) == (state, [code])
    assert found.reasons[0].meaning.endswith((".", "?"))


def test_the_gravest_of_several_gives_the_state() -> None:
    found = freshness(Seen(bridge=BridgeState.PARTIAL, inventory=OLD, skills_unwritten=True), NOW)
    assert found.state is FreshnessState.STALE
    assert [reason.code for reason in found.reasons] == [
        FreshnessCode.RUNTIME_NOT_LOOKED_AT,
        FreshnessCode.BRIDGE_PARTIAL,
        FreshnessCode.SKILLS_NOT_WRITTEN,
    ]
