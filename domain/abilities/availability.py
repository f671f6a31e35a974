"""Availability of abilities: entry of the snapshot and catalog, standing, checkpoint health, freshness.

DOC3 §0C.9B, §0C.11A, §0C.11B, §9.19-3.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from contracts.abilities.availability import (
    AbilityAvailabilityEntry,
    AbilityFreshness,
    AbilitySource,
    AbilityState,
    CheckpointHealth,
    FreshnessReason,
    FreshnessState,
    InstallLane,
)
from contracts.abilities.availability import FreshnessCode as Code
from contracts.abilities.capability_health import (
    RuntimeInventory,
)
from contracts.abilities.capability_manifest import BridgeState, HealthStatus
from contracts.abilities.control_surface import ControlSurface
from contracts.learning.checkpoints import (
    CheckpointStatus,
)
from contracts.learning.interpretation import ProjectScope, SemanticWorkflowInterpretation
from contracts.learning.proposal import SkillBundleProposal, SkillDraft

USABLE_HEALTH = frozenset({HealthStatus.HEALTHY, HealthStatus.DEGRADED})
"""The health in which a capability is routed to (DOC3 §1.1I)."""

_HEALTH_REASONS = {
    HealthStatus.QUARANTINED: "Its capability is quarantined; it comes back after a successful recheck.",
    HealthStatus.DISABLED: "Its capability is switched off.",
    HealthStatus.UNKNOWN: "Its capability's health is not known yet; recheck it.",
}


class Usability(NamedTuple):
    """Whether an ability can be used now, and if not, why, for a person to read."""

    usable_now: bool
    reason_unusable: str | None = None


@dataclass(frozen=True, slots=True)
class AbilityStanding:
    """The part of an ability's truth that changes after it was drafted."""

    lane: InstallLane
    enabled: bool
    projected: bool
    """Whether its files are in the agent's workspace."""
    capability_health: HealthStatus = HealthStatus.HEALTHY
    checkpoint_health: CheckpointHealth = CheckpointHealth.NO_DATA
    last_validated_at: datetime | None = None


def usability(
    *, enabled: bool, lane: InstallLane, capability_health: HealthStatus, projected: bool
) -> Usability:
    """An ability is usable now when it is installed, enabled, in the workspace, and its capability works.

    Of several reasons the one is given that has to be settled first.
    """
    if lane is InstallLane.QUARANTINED:
        return Usability(False, "Quarantined; lift the quarantine after review.")
    if lane is InstallLane.PENDING:
        return Usability(False, "Not installed yet.")
    if not enabled:
        return Usability(False, "Deactivated; activate it to use it.")
    if not projected:
        return Usability(False, "Not in the agent's workspace yet.")
    if capability_health not in USABLE_HEALTH:
        return Usability(False, _HEALTH_REASONS[capability_health])
    return Usability(True)


def availability_entry(
    *,
    ability_id: str,
    draft: SkillDraft,
    proposal: SkillBundleProposal,
    interpretation: SemanticWorkflowInterpretation,
    standing: AbilityStanding,
    family: str,
    project_id: str | None = None,
) -> AbilityAvailabilityEntry:
    """What is known of a learned ability.

    ``project_id`` is the project it was taught in. It confines the ability unless the interpretation says
    that it is global: an unclear scope is read narrowly, since a lookup from elsewhere still finds the
    ability, only lower. Blank trigger phrases are dropped: by the matching algorithm they would answer, or
    forbid, every query.
    """
    usable = usability(
        enabled=standing.enabled,
        lane=standing.lane,
        capability_health=standing.capability_health,
        projected=standing.projected,
    )
    confining_project = None if interpretation.project_scope is ProjectScope.GLOBAL else project_id
    quarantined = standing.lane is InstallLane.QUARANTINED
    promoted = standing.lane is InstallLane.SHARED_PROMOTED
    return AbilityAvailabilityEntry(
        ability_id=ability_id,
        owner_user_id=proposal.owner_user_id,
        title=draft.title,
        family=family,
        source=AbilitySource.PROMOTED if promoted else AbilitySource.LEARNED,
        skill_slug=draft.slug,
        primary_capability_id=draft.capability_id,
        install_lane=standing.lane,
        enabled=standing.enabled,
        usable_now=usable.usable_now,
        reason_unusable=usable.reason_unusable,
        trigger_phrases=_without_blanks(draft.trigger_phrases),
        negative_triggers=_without_blanks(draft.negative_triggers),
        project_scopes=(confining_project,) if confining_project else (),
        preferred_control_surfaces=_known_surfaces(interpretation.preferred_control_surfaces),
        support_pack_refs=proposal.support_pack_refs,
        checkpoint_health=CheckpointHealth.QUARANTINED if quarantined else standing.checkpoint_health,
        last_validated_at=standing.last_validated_at,
    )


def _without_blanks(phrases: Iterable[str]) -> tuple[str, ...]:
    return tuple(phrase.strip() for phrase in phrases if phrase.strip())


def _known_surfaces(names: Iterable[str]) -> tuple[ControlSurface, ...]:
    known = {surface.value: surface for surface in ControlSurface}
    return tuple(known[name] for name in dict.fromkeys(names) if name in known)


@dataclass(frozen=True)
class Seen:
    """What the store has of the files about abilities; a file that is ``unwritten`` is not yet as the store says."""

    bridge: BridgeState = BridgeState.FRESH
    inventory: RuntimeInventory | None = None
    snapshot_unwritten: bool = False
    bridge_unwritten: bool = False
    skills_unwritten: bool = False


_MEANINGS = {
    Code.BRIDGE_REBUILD_FAILED: "What agents route by could not be rebuilt: they go by the last good entries.",
    Code.RUNTIME_NOT_LOOKED_AT: "Nobody has looked lately which programs the runtime has, so an ability shown as "
    "usable may lack something. It is looked at again on a schedule; is a worker running?",
    Code.BRIDGE_PARTIAL: "Some abilities could not be read; they are shown as they last were.",
    Code.SNAPSHOT_NOT_WRITTEN: "A change is decided and not yet in the files that agents read about abilities.",
    Code.BRIDGE_NOT_WRITTEN: "A change is decided and not yet in the file that agents route by.",
    Code.SKILLS_NOT_WRITTEN: "A skill has changed and is not yet in the agent's workspace.",
}
_STATES = {
    Code.BRIDGE_REBUILD_FAILED: FreshnessState.STALE,
    Code.RUNTIME_NOT_LOOKED_AT: FreshnessState.STALE,
    Code.BRIDGE_PARTIAL: FreshnessState.PARTIAL,
}


def freshness(seen: Seen, now: datetime) -> AbilityFreshness:
    """What is behind as of ``now``, the gravest first; the first one gives the state."""
    holds = {
        Code.BRIDGE_REBUILD_FAILED: seen.bridge is BridgeState.STALE,
        Code.RUNTIME_NOT_LOOKED_AT: seen.inventory is not None and is_stale(seen.inventory, now),
        Code.BRIDGE_PARTIAL: seen.bridge is BridgeState.PARTIAL,
        Code.SNAPSHOT_NOT_WRITTEN: seen.snapshot_unwritten,
        Code.BRIDGE_NOT_WRITTEN: seen.bridge_unwritten,
        Code.SKILLS_NOT_WRITTEN: seen.skills_unwritten,
    }
    codes = [code for code in Code if holds[code]]
    if not codes:
        return AbilityFreshness()
    return AbilityFreshness(
        state=_STATES.get(codes[0], FreshnessState.REFRESHING),
        reasons=tuple(FreshnessReason(code=code, meaning=_MEANINGS[code]) for code in codes),
    )


def state_of(entry: AbilityAvailabilityEntry) -> AbilityState:
    """How the ability stands. Archived outweighs quarantined, which outweighs deactivated."""
    if entry.archived_at is not None:
        return AbilityState.ARCHIVED
    if entry.install_lane is InstallLane.QUARANTINED:
        return AbilityState.QUARANTINED
    return AbilityState.ACTIVE if entry.enabled else AbilityState.DEACTIVATED


def in_service(entry: AbilityAvailabilityEntry) -> bool:
    """Whether its files belong in the agent's workspace: what lies there is used, whatever a lookup says."""
    return state_of(entry) is AbilityState.ACTIVE


STALE_AFTER = timedelta(hours=6)
"""An inventory this old is not believed any more; the reprobe schedule takes a new one far more often."""


def is_stale(inventory: RuntimeInventory, now: datetime) -> bool:
    """Whether the inventory is too old to be believed."""
    return now - inventory.checked_at > STALE_AFTER


RECEIPTS_COUNTED = 20
"""How many of an ability's receipts count, the newest ones."""

RECEIPTS_NEEDED = 3
"""Fewer say nothing."""

STRONG_FROM = 0.9
"""The share of reached checkpoints from which on the health is strong."""

MODERATE_FROM = 0.7
"""The share from which on it is moderate; below it is weak."""


def checkpoint_health(statuses: Sequence[CheckpointStatus], *, quarantined: bool) -> CheckpointHealth:
    """The health that ``statuses``, newest first, make; only the newest 20 count."""
    if quarantined:
        return CheckpointHealth.QUARANTINED
    counted = statuses[:RECEIPTS_COUNTED]
    if len(counted) < RECEIPTS_NEEDED:
        return CheckpointHealth.NO_DATA
    share = sum(status is CheckpointStatus.REACHED for status in counted) / len(counted)
    if share >= STRONG_FROM:
        return CheckpointHealth.STRONG
    return CheckpointHealth.MODERATE if share >= MODERATE_FROM else CheckpointHealth.WEAK
