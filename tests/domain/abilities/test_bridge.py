from datetime import UTC, datetime

import pytest

from contracts.abilities.capability_health import CapabilityHealthState, CapabilityStats, InstalledState
from contracts.abilities.capability_manifest import BridgeState, CapabilityManifest, HealthStatus, OriginOwner
from contracts.abilities.control_surface import ControlSurface
from domain.abilities.availability import (
    ROUTE_TIERS,
    bridge_document,
    bridge_entry,
    health_current,
    stats_current,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def manifest(**fields: object) -> CapabilityManifest:
    plain: dict[str, object] = {
        "capability_id": "cap.sort-receipts",
        "family": "files",
        "kind": "promoted_skill",
        "title": "Sort receipts",
        "origin_skill": "sort-receipts",
        "surface_order": ["wrapper_script", "native_openclaw_tool"],
        "runtime_binding": {"binding_kind": "workflow_pattern", "target": "sort-receipts/SKILL.md"},
        "verification": [{"kind": "tool_result", "target": "exit status"}],
        "health_probe": {"kind": "noop", "target": "none"},
        "learning_policy": {},
    }
    return CapabilityManifest.model_validate({**plain, **fields})


def test_a_learned_capability_is_routed_by_its_preferred_surface() -> None:
    entry = bridge_entry(manifest(), HealthStatus.HEALTHY, NOW)

    assert entry.route_tier == 3
    assert entry.routing_eligible
    assert entry.origin_owner is OriginOwner.DOC3
    assert not entry.built_in_openclaw
    assert entry.metadata_ref == "ELNOR_MEMORY/system/capabilities/metadata/cap.sort-receipts.json"
    assert entry.updated_at == NOW


@pytest.mark.parametrize(
    ("kind", "owner", "built_in"),
    [
        ("native_openclaw_tool", OriginOwner.OPENCLAW_NATIVE, True),
        ("bridge_tool", OriginOwner.DOC4_BRIDGE, False),
        ("wrapper_script", OriginOwner.DOC3, False),
    ],
)
def test_the_owner_follows_from_the_kind(kind: str, owner: OriginOwner, built_in: bool) -> None:
    entry = bridge_entry(manifest(kind=kind), HealthStatus.HEALTHY, NOW)

    assert (entry.origin_owner, entry.built_in_openclaw) == (owner, built_in)


@pytest.mark.parametrize(
    ("health", "eligible"),
    [
        (HealthStatus.HEALTHY, True),
        (HealthStatus.DEGRADED, True),
        (HealthStatus.QUARANTINED, False),
        (HealthStatus.DISABLED, False),
        (HealthStatus.UNKNOWN, False),
    ],
)
def test_only_a_working_capability_is_eligible_for_routing(health: HealthStatus, eligible: bool) -> None:
    entry = bridge_entry(manifest(), health, NOW, health_reason_code="probe_failed")

    assert entry.routing_eligible is eligible
    assert entry.health_reason_code == "probe_failed"
    assert not bridge_entry(manifest(routing_eligible=False), health, NOW).routing_eligible


def test_every_surface_has_a_tier_from_one_to_five() -> None:
    assert set(ROUTE_TIERS) == set(ControlSurface)
    assert set(ROUTE_TIERS.values()) == {1, 2, 3, 4, 5}


def test_the_compact_entry_carries_the_first_twenty_distinct_names() -> None:
    names = ["name-0", "name-0", " ", *(f"name-{n}" for n in range(1, 40))]

    entry = bridge_entry(manifest(aliases=names, action_verbs=names), HealthStatus.HEALTHY, NOW)

    assert entry.aliases == entry.action_verbs == tuple(f"name-{n}" for n in range(20))


def test_the_documents_are_ordered_by_capability() -> None:
    ids = ["cap.b", "cap.c", "cap.a"]
    entries = [bridge_entry(manifest(capability_id=one), HealthStatus.HEALTHY, NOW) for one in ids]
    states = [
        CapabilityHealthState(
            capability_id=one, installed_state=InstalledState.PRESENT, health_status=HealthStatus.HEALTHY
        )
        for one in ids
    ]
    stats = [CapabilityStats(capability_id=one) for one in ids]

    document = bridge_document(entries, BridgeState.STALE, NOW)

    assert [entry.capability_id for entry in document.entries] == sorted(ids)
    assert document.bridge_state is BridgeState.STALE
    assert [one.capability_id for one in health_current(states, NOW).capabilities] == sorted(ids)
    assert [one.capability_id for one in stats_current(stats, NOW).capabilities] == sorted(ids)
