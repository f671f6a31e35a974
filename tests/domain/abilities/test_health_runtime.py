"""Installed, healthy and usable now are three things (DOC3 §1.1D)."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.abilities.capability_health import RuntimeCapabilityCheck, RuntimeInventory
from contracts.abilities.capability_health import SessionAvailability as Available
from contracts.abilities.capability_manifest import (
    BridgeState,
    CapabilityKind,
    CapabilityManifest,
    HealthProbe,
    LearningPolicy,
    RuntimeBinding,
    VerificationRule,
)
from contracts.abilities.control_surface import ControlSurface
from domain.abilities.availability import (
    STALE_AFTER,
    bridge_state,
    missing,
    session_availability,
    unsupported_reason,
)

NOW = datetime(2026, 3, 1, tzinfo=UTC)
names = st.sampled_from(["program:tar", "program:sort", "surface:browser_relay"])


def manifest(*caps: str) -> CapabilityManifest:
    return CapabilityManifest(
        capability_id="learned.report",
        family="terminal",
        kind=CapabilityKind.WORKFLOW_PATTERN,
        title="Report",
        origin_skill="report",
        surface_order=(ControlSurface.NATIVE_OPENCLAW_TOOL,),
        runtime_binding=RuntimeBinding(binding_kind="workflow_pattern", target="report"),
        required_runtime_caps=caps,
        verification=(VerificationRule(kind="manual_confirmation", target="it is there"),),
        health_probe=HealthProbe(kind="noop", target="none"),
        learning_policy=LearningPolicy(),
    )


def inventory(checks: dict[str, bool], age: timedelta = timedelta()) -> RuntimeInventory:
    return RuntimeInventory(
        checks=tuple(RuntimeCapabilityCheck(name=name, present=there) for name, there in checks.items()),
        checked_at=NOW - age,
    )


@pytest.mark.acceptance("9.6-43")
def test_a_detached_surface_is_unsupported_however_healthy_the_capability_is() -> None:
    needs_relay = manifest("surface:browser_relay")
    detached = inventory({"surface:browser_relay": False})
    assert session_availability(needs_relay, detached, NOW) is Available.UNSUPPORTED
    reason = unsupported_reason(missing(needs_relay, detached))
    assert reason is not None
    assert "surface:browser_relay" in reason
    attached = inventory({"surface:browser_relay": True})
    assert session_availability(needs_relay, attached, NOW) is Available.SUPPORTED


@pytest.mark.acceptance("9.6-44")
def test_a_stale_inventory_degrades_what_it_would_support_and_the_bridge_with_it() -> None:
    stale = inventory({"program:tar": True}, STALE_AFTER + timedelta(seconds=1))
    assert session_availability(manifest("program:tar"), stale, NOW) is Available.DEGRADED
    assert bridge_state(BridgeState.FRESH, stale, NOW) is BridgeState.STALE
    fresh = inventory({"program:tar": True}, STALE_AFTER)
    assert session_availability(manifest("program:tar"), fresh, NOW) is Available.SUPPORTED
    assert bridge_state(BridgeState.PARTIAL, fresh, NOW) is BridgeState.PARTIAL


def test_where_nobody_has_looked_nothing_is_known() -> None:
    assert session_availability(manifest("program:tar"), None, NOW) is Available.UNKNOWN
    assert session_availability(manifest("program:tar"), inventory({}), NOW) is Available.UNKNOWN
    assert unsupported_reason(missing(manifest("program:tar"), None)) is None


@given(st.lists(names, unique=True), st.dictionaries(names, st.booleans()), st.integers(0, 48))
def test_supported_means_seen_lately_and_all_there(
    required: list[str], seen: dict[str, bool], hours: int
) -> None:
    age = timedelta(hours=hours)
    found = session_availability(manifest(*required), inventory(seen, age), NOW)
    assert (found is Available.SUPPORTED) is (
        age <= STALE_AFTER and all(seen.get(name) is True for name in required)
    )
    assert (found is Available.UNSUPPORTED) is any(seen.get(name) is False for name in required)
