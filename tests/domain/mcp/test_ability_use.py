"""Which abilities tools are called for, and whose calls are stopped."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.abilities.availability import AbilityAvailabilityEntry, InstallLane
from contracts.abilities.availability import AbilityLifecycleAction as Action
from contracts.abilities.capability_health import CapabilityHealthRecord
from contracts.abilities.capability_manifest import HealthStatus
from domain.abilities.capability_health import REPEATED_FAILURES, unusable_reason
from domain.abilities.life import entry_after, restated
from domain.mcp.call_outcomes import refused_for, withdrawn_because
from tests.fixtures.abilities import ability

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def after(action: Action) -> AbilityAvailabilityEntry:
    return entry_after(ability(), action, now=NOW, capability_health=HealthStatus.HEALTHY)


def test_tools_are_called_for_an_ability_that_is_usable_now() -> None:
    assert refused_for(ability()) is None


@pytest.mark.parametrize(
    ("action", "how", "hint"),
    [
        (Action.QUARANTINE, "is quarantined; nothing was sent", "abilities unquarantine"),
        (Action.DEACTIVATE, "is switched off; nothing was sent", "abilities activate"),
        (Action.ARCHIVE, "is archived; nothing was sent", "abilities activate"),
    ],
)
def test_nothing_is_called_for_what_a_person_took_out_of_use_and_its_calls_are_stopped(
    action: Action, how: str, hint: str
) -> None:
    block = refused_for(after(action))
    assert block is not None
    assert (block.code, how in block.message, hint in block.next_action) == ("MCP_POLICY_BLOCKED", True, True)
    assert withdrawn_because(after(action), HealthStatus.HEALTHY) is not None


def test_nothing_is_called_while_its_capability_is_quarantined_and_the_reason_and_the_way_back_are_told() -> (
    None
):
    record = CapabilityHealthRecord(capability_id="cap.a", reason_codes=(REPEATED_FAILURES,))
    reason = unusable_reason(HealthStatus.QUARANTINED, record)
    entry = ability(usable_now=False, reason_unusable=reason)
    block = refused_for(entry)
    assert block is not None
    assert "it failed 5 times within 7 days" in block.message
    assert "nothing was sent" in block.message
    assert "apprentice capabilities reprobe" in block.next_action
    assert withdrawn_because(entry, HealthStatus.QUARANTINED) == "the ability's capability was quarantined"


def test_an_ability_that_is_not_there_is_not_called_for() -> None:
    block = refused_for(None)
    assert block is not None
    assert "is not there" in block.message


def test_what_the_runtime_lacks_lets_no_call_begin_and_stops_none() -> None:
    entry = ability(usable_now=False, reason_unusable="The runtime has no pandoc.")
    block = refused_for(entry)
    assert block is not None
    assert "The runtime has no pandoc." in block.message
    assert withdrawn_because(entry, HealthStatus.HEALTHY) is None


@given(
    lane=st.sampled_from(InstallLane),
    enabled=st.booleans(),
    archived=st.booleans(),
    health=st.sampled_from(HealthStatus),
)
def test_whatever_stops_calls_lets_none_begin(
    lane: InstallLane, enabled: bool, archived: bool, health: HealthStatus
) -> None:
    plain = ability(
        install_lane=lane, enabled=enabled and not archived, archived_at=NOW if archived else None
    )
    entry = restated(plain, health)
    assert (refused_for(entry) is None) is entry.usable_now
    assert withdrawn_because(entry, health) is None or not entry.usable_now


@given(health=st.sampled_from([HealthStatus.HEALTHY, HealthStatus.DEGRADED, HealthStatus.UNKNOWN]))
def test_calls_go_on_while_the_capability_is_neither_quarantined_nor_switched_off(
    health: HealthStatus,
) -> None:
    assert withdrawn_because(ability(), health) is None
