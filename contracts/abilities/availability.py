"""Which abilities there are and which are usable now (DOC3 §0C.11A)."""

from enum import StrEnum

from pydantic import Field

from contracts.abilities.freshness import AbilityFreshness
from contracts.abilities.lifecycle_command import AbilityLifecycleAction, AbilityState
from contracts.base import (
    Contract,
    Text80,
    Text120,
    Text160,
    Text200,
    Text240,
    UtcTime,
    Uuid,
    VersionedContract,
)
from contracts.capabilities.control_surface import ControlSurface
from contracts.learning.proposal import InstallLane


class AbilitySource(StrEnum):
    """Where an ability came from."""

    LEARNED = "learned"
    IMPORTED = "imported"
    NATIVE = "native"
    PROMOTED = "promoted"


class CheckpointHealth(StrEnum):
    """How well an ability's checkpoints are reached (decisions "Checkpoints")."""

    STRONG = "strong"
    MODERATE = "moderate"
    WEAK = "weak"
    NO_DATA = "no_data"
    QUARANTINED = "quarantined"


class AbilityAvailabilityEntry(VersionedContract):
    """One ability's truth."""

    ability_id: Text160
    owner_user_id: Text120
    title: Text200
    family: Text80
    source: AbilitySource
    skill_slug: Text120 | None = None
    primary_capability_id: Text160 | None = None
    install_lane: InstallLane
    enabled: bool
    usable_now: bool
    reason_unusable: Text240 | None = None
    trigger_phrases: tuple[Text120, ...] = ()
    negative_triggers: tuple[Text120, ...] = ()
    aliases: tuple[Text120, ...] = ()
    project_scopes: tuple[Text160, ...] = ()
    preferred_control_surfaces: tuple[ControlSurface, ...] = ()
    support_pack_refs: tuple[Text240, ...] = ()
    checkpoint_health: CheckpointHealth | None = None
    last_validated_at: UtcTime | None = None
    archived_at: UtcTime | None = None


class AbilityAvailabilitySnapshot(VersionedContract):
    """The canonical file ``abilities/availability_current.json``."""

    abilities: tuple[AbilityAvailabilityEntry, ...]
    snapshot_as_of: UtcTime


class AbilityAvailabilityItem(Contract):
    """The trimmed entry that the list route serves (DOC3 §0C.16A)."""

    ability_id: Text160
    title: Text200
    family: Text80
    install_lane: InstallLane
    enabled: bool
    usable_now: bool
    reason_unusable: Text240 | None = None
    checkpoint_health: CheckpointHealth | None = None
    source: AbilitySource
    state: AbilityState = AbilityState.ACTIVE
    allowed_actions: tuple[AbilityLifecycleAction, ...] = Field(
        default=(), description="What the caller may do with it now."
    )


class AbilityAvailabilityResponse(VersionedContract):
    """The availability snapshot as the caller may see it."""

    abilities: tuple[AbilityAvailabilityItem, ...]
    snapshot_as_of: UtcTime
    freshness: AbilityFreshness | None = Field(
        default=None, description="Whether this is behind what agents go by, or they are behind this."
    )


class SkillCatalogEntry(VersionedContract):
    """One line of the skills catalog."""

    ability_id: Text160
    owner_user_id: Text120
    title: Text200
    family: Text80
    source: AbilitySource
    install_lane: InstallLane
    enabled: bool
    usable_now: bool
    reason_unusable: Text240 | None = None
    tags: tuple[Text80, ...] = ()
    category_ids: tuple[Uuid, ...] = ()
    created_at: UtcTime
    updated_at: UtcTime


class SkillCatalogCurrent(VersionedContract):
    """The canonical file ``abilities/catalog_current.json``."""

    items: tuple[SkillCatalogEntry, ...]
    refreshed_at: UtcTime


class SkillCatalogResponse(SkillCatalogCurrent):
    """The skills catalog as the caller may see it."""

    freshness: AbilityFreshness | None = Field(
        default=None, description="Whether this is behind what agents go by, or they are behind this."
    )


class AbilityVersion(VersionedContract):
    """One installed version."""

    ability_id: Text160
    version: int = Field(ge=1)
    proposal_id: Uuid
    content_hash: str = Field(pattern=r"^[0-9a-f]{64}$")
    install_lane: InstallLane
    installed_at: UtcTime
    current: bool
    restored_from: int | None = Field(
        default=None, ge=1, description="The version whose content a rollback made current."
    )


class AbilityVersionsResponse(VersionedContract):
    """An ability's versions, newest first."""

    ability_id: Text160
    versions: tuple[AbilityVersion, ...]


class AbilityDetailResponse(VersionedContract):
    """One ability whole."""

    ability: AbilityAvailabilityEntry
    version: int = Field(ge=1)
    skill_path: str | None = Field(default=None, description="SKILL.md in the agent's workspace.")
    skill_markdown: str | None = None
    state: AbilityState = AbilityState.ACTIVE
    quarantine_reason: Text240 | None = None
    allowed_actions: tuple[AbilityLifecycleAction, ...] = Field(
        default=(), description="What the caller may do with it now."
    )
