"""Build the capability bridge and the files beside it: routing entry, health, what the runtime allows now.

DOC3 §1.1C, §1.1D, §1.1E; rows P-05, G0-11.
"""

from collections.abc import Iterable
from datetime import datetime

from contracts.abilities.availability import AbilityAvailabilityEntry, AbilityState
from contracts.abilities.capability_health import (
    CapabilityHealthCurrent,
    CapabilityHealthState,
    CapabilityStats,
    CapabilityStatsCurrent,
    RuntimeInventory,
    SessionAvailability,
)
from contracts.abilities.capability_manifest import (
    BridgeState,
    CapabilityBridgeCurrent,
    CapabilityKind,
    CapabilityManifest,
    CapabilityMetadata,
    CapabilityRegistryBridgeEntry,
    ControlSurfaceNote,
    HealthStatus,
    OriginOwner,
)
from contracts.abilities.control_surface import ControlSurface as Surface
from contracts.base import clipped
from contracts.learning.interpretation import DependencyKind, SemanticWorkflowInterpretation
from contracts.learning.proposal import SkillBundleProposal, SkillDraft
from domain.abilities.availability import USABLE_HEALTH, is_stale, state_of

METADATA_FOLDER = "ELNOR_MEMORY/system/capabilities/metadata"
"""Where the sidecars are kept; a bridge entry names its own there."""

MAX_NAMES = 20
"""The most aliases and the most action verbs that the compact entry carries."""

ROUTE_TIERS: dict[Surface, int] = {
    Surface.NATIVE_OPENCLAW_TOOL: 1,
    Surface.NATIVE_OPENCLAW_BROWSER: 1,
    Surface.BRIDGE_TOOL: 2,
    Surface.MCP_CONNECTOR: 2,
    Surface.MCP_SERVER: 2,
    Surface.APP_API: 3,
    Surface.WRAPPER_SCRIPT: 3,
    Surface.APPLESCRIPT: 3,
    Surface.PYTHON_WRAPPER: 3,
    Surface.KEYBOARD_SHORTCUT: 4,
    Surface.MIDI_BINDING: 4,
    Surface.PAGE_KNOWLEDGE_UI: 5,
    Surface.RAW_UI: 5,
}
"""The order of DOC3 §1.1E, most semantic first. Its sixth place shares tier 5, the last one there is."""

_ORIGINS = {
    CapabilityKind.NATIVE_OPENCLAW_TOOL: OriginOwner.OPENCLAW_NATIVE,
    CapabilityKind.BRIDGE_TOOL: OriginOwner.DOC4_BRIDGE,
}


def metadata_ref(capability_id: str) -> str:
    """The path of a capability's sidecar, from the folder that holds the memory tree."""
    return f"{METADATA_FOLDER}/{capability_id}.json"


def bridge_entry(
    manifest: CapabilityManifest,
    health: HealthStatus,
    updated_at: datetime,
    *,
    health_reason_code: str | None = None,
) -> CapabilityRegistryBridgeEntry:
    """A capability in its compact form. Only one whose health lets it be used is eligible for routing."""
    return CapabilityRegistryBridgeEntry(
        capability_id=manifest.capability_id,
        family=manifest.family,
        title=manifest.title,
        aliases=_first_names(manifest.aliases),
        action_verbs=_first_names(manifest.action_verbs),
        route_tier=ROUTE_TIERS[manifest.surface_order[0]],
        requires_supervision=manifest.requires_supervision,
        dry_run_supported=manifest.dry_run_supported,
        routing_eligible=manifest.routing_eligible and health in USABLE_HEALTH,
        health_status=health,
        health_reason_code=health_reason_code,
        origin_owner=_ORIGINS.get(manifest.kind, OriginOwner.DOC3),
        built_in_openclaw=manifest.kind is CapabilityKind.NATIVE_OPENCLAW_TOOL,
        metadata_ref=metadata_ref(manifest.capability_id),
        updated_at=updated_at,
    )


def capability_metadata(
    draft: SkillDraft, interpretation: SemanticWorkflowInterpretation, proposal: SkillBundleProposal
) -> CapabilityMetadata:
    """The sidecar of a learned capability: what it is for, and what it was drawn from."""
    surfaces = tuple(dict.fromkeys(interpretation.preferred_control_surfaces))
    return CapabilityMetadata(
        capability_id=draft.capability_id,
        summary=clipped(interpretation.goal_summary or draft.description, 1000),
        source_refs=(
            f"proposal:{proposal.proposal_id}",
            f"interpretation:{interpretation.interpretation_id}",
            f"learn_session:{interpretation.learn_session_id}",
            *(f"trace:{trace_id}" for trace_id in proposal.source_trace_ids),
        ),
        control_surface_notes=tuple(
            ControlSurfaceNote(surface=surface, notes=f"Shown in the demonstration; choice {place}.")
            for place, surface in enumerate(surfaces, start=1)
        ),
        dependency_refs=tuple(
            dict.fromkeys(
                [
                    *(f"program:{program}" for program in draft.dependencies),
                    *proposal.support_pack_refs,
                    *(
                        f"{one.dependency_kind.value}:{one.dependency_ref}"
                        for one in interpretation.dependencies
                        if one.dependency_kind is not DependencyKind.SUPPORT_PACK
                    ),
                ]
            )
        ),
    )


def bridge_document(
    entries: Iterable[CapabilityRegistryBridgeEntry], state: BridgeState, rebuilt_at: datetime
) -> CapabilityBridgeCurrent:
    """The bridge file, by capability id. After a failed rebuild: the last good entries, ``state`` stale."""
    return CapabilityBridgeCurrent(
        bridge_state=state,
        entries=tuple(sorted(entries, key=lambda entry: entry.capability_id)),
        rebuilt_at=rebuilt_at,
    )


def health_current(states: Iterable[CapabilityHealthState], as_of: datetime) -> CapabilityHealthCurrent:
    """The health file, by capability id."""
    return CapabilityHealthCurrent(
        capabilities=tuple(sorted(states, key=lambda state: state.capability_id)), health_as_of=as_of
    )


def stats_current(stats: Iterable[CapabilityStats], as_of: datetime) -> CapabilityStatsCurrent:
    """The stats file, by capability id."""
    return CapabilityStatsCurrent(
        capabilities=tuple(sorted(stats, key=lambda one: one.capability_id)), stats_as_of=as_of
    )


def _first_names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name.strip()))[:MAX_NAMES]


def effective_health(
    own: HealthStatus, ability: AbilityAvailabilityEntry | None
) -> tuple[HealthStatus, str | None]:
    """A capability's health as the bridge states it, and why where its ability's standing overrides it.

    A capability is never more available than the ability it belongs to.
    """
    state = state_of(ability) if ability is not None else AbilityState.ACTIVE
    if state is AbilityState.ACTIVE:
        return own, None
    if state is AbilityState.QUARANTINED:
        return HealthStatus.QUARANTINED, "ability_quarantined"
    return HealthStatus.DISABLED, f"ability_{state.value}"


def session_availability(
    manifest: CapabilityManifest, inventory: RuntimeInventory | None, now: datetime
) -> SessionAvailability:
    """Whether the present runtime lets the capability be used.

    Unsupported when something it requires is known to be missing, degraded when all that is known is stale,
    unknown without an inventory. What requires nothing is supported wherever the inventory is recent.
    """
    if inventory is None:
        return SessionAvailability.UNKNOWN
    if missing(manifest, inventory):
        return SessionAvailability.UNSUPPORTED
    if is_stale(inventory, now):
        return SessionAvailability.DEGRADED
    known = {check.name for check in inventory.checks}
    if not known.issuperset(manifest.required_runtime_caps):
        return SessionAvailability.UNKNOWN
    return SessionAvailability.SUPPORTED


def missing(manifest: CapabilityManifest, inventory: RuntimeInventory | None) -> tuple[str, ...]:
    """What the capability requires and the runtime is known not to have."""
    absent = {check.name for check in inventory.checks if not check.present} if inventory else set[str]()
    return tuple(name for name in manifest.required_runtime_caps if name in absent)


def unsupported_reason(missing_caps: tuple[str, ...]) -> str | None:
    """Why an ability cannot be used in this runtime; ``None`` when nothing is missing."""
    if not missing_caps:
        return None
    return clipped(f"The runtime lacks {', '.join(missing_caps)}; it comes back once that is there.", 240)


def bridge_state(kept: BridgeState, inventory: RuntimeInventory | None, now: datetime) -> BridgeState:
    """The state of a bridge that was built as ``kept``: on a stale inventory the bridge is stale too."""
    if inventory is not None and is_stale(inventory, now):
        return BridgeState.STALE
    return kept
