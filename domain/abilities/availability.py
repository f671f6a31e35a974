"""Builds what is known of each ability: its availability, the snapshot, the catalog (DOC3 §0C.11A)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from contracts.abilities.availability import (
    AbilityAvailabilityEntry,
    AbilitySource,
    CheckpointHealth,
)
from contracts.capabilities.bridge import HealthStatus
from contracts.capabilities.control_surface import ControlSurface
from contracts.learning.interpretation import ProjectScope, SemanticWorkflowInterpretation
from contracts.learning.proposal import InstallLane, SkillBundleProposal, SkillDraft

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
