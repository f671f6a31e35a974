"""Availability of installed abilities: snapshot, catalog, versions, freshness and lifecycle commands.

DOC3 §0C.11A (availability), §0C.11B "Staleness rule" (freshness), §0A.19 (commands; rollback: routes.md).
"""

from enum import StrEnum

from pydantic import Field

from contracts.abilities.control_surface import ControlSurface
from contracts.abilities.parameters import AbilityFolder, AbilityParameter
from contracts.base import (
    Contract,
    Sha256,
    Text80,
    Text120,
    Text160,
    Text200,
    Text240,
    Text400,
    Text1000,
    UtcTime,
    Uuid,
    VersionedContract,
)
from contracts.platform.lists import ListCounts


class FreshnessState(StrEnum):
    """How far what is shown can be believed. ``refreshing`` ends by itself."""

    FRESH = "fresh"
    REFRESHING = "refreshing"
    PARTIAL = "partial"
    STALE = "stale"


class FreshnessCode(StrEnum):
    """What is behind."""

    BRIDGE_REBUILD_FAILED = "bridge_rebuild_failed"
    RUNTIME_NOT_LOOKED_AT = "runtime_not_looked_at"
    BRIDGE_PARTIAL = "bridge_partial"
    SNAPSHOT_NOT_WRITTEN = "snapshot_not_written"
    BRIDGE_NOT_WRITTEN = "bridge_not_written"
    SKILLS_NOT_WRITTEN = "skills_not_written"


class FreshnessReason(Contract):
    """One thing that is behind, and in a sentence what that means."""

    code: FreshnessCode
    meaning: Text240


class AbilityFreshness(Contract):
    """Whether abilities are shown as they are; where not, why, the gravest reason first."""

    state: FreshnessState = FreshnessState.FRESH
    reasons: tuple[FreshnessReason, ...] = ()


class AbilityLifecycleAction(StrEnum):
    """What can be done with an installed ability: the document's seven, and the way back to older content."""

    ACTIVATE = "activate"
    DEACTIVATE = "deactivate"
    PROMOTE_SHARED = "promote_shared"
    DEMOTE_PRIVATE = "demote_private"
    QUARANTINE = "quarantine"
    UNQUARANTINE = "unquarantine"
    ARCHIVE = "archive"
    ROLLBACK = "rollback"


class AbilityState(StrEnum):
    """How an installed ability stands. Only an active one may be routed to."""

    ACTIVE = "active"
    DEACTIVATED = "deactivated"
    QUARANTINED = "quarantined"
    ARCHIVED = "archived"


class LifecycleRequester(StrEnum):
    """On whose behalf."""

    USER = "user"
    SYSTEM = "system"
    REPAIR = "repair"


class AbilityLifecycleCommand(VersionedContract):
    """One command on one ability, as ``abilities/activation_history.jsonl`` keeps it."""

    ability_id: Text160
    action: AbilityLifecycleAction
    reason: Text240 | None = None
    requested_by: LifecycleRequester
    created_at: UtcTime


IMPORTED_FAMILY = "imported"
"""The family of abilities that were imported as skills from elsewhere."""


class InstallLane(StrEnum):
    """How far an ability has come."""

    PENDING = "pending"
    EXPERIMENTAL_PRIVATE = "experimental_private"
    APPROVED_WORKSPACE = "approved_workspace"
    SHARED_PROMOTED = "shared_promoted"
    QUARANTINED = "quarantined"


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


MAX_METHOD = 9
"""The most lines of a method that an ability is found by: its goal and eight facts."""

MAX_TECHNIQUES = 4
"""The most techniques that an ability is found by."""


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
    method: tuple[Text400, ...] = Field(
        default=(),
        max_length=MAX_METHOD,
        description="Its whole goal, then what its result depends on; it is found by them.",
    )
    techniques: tuple[Text120, ...] = Field(
        default=(),
        max_length=MAX_TECHNIQUES,
        description="What its commands do in technical words; it is found by them.",
    )
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


class AbilityAvailabilityResponse(ListCounts):
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


class SkillCatalogResponse(SkillCatalogCurrent, ListCounts):
    """The skills catalog as the caller may see it."""

    freshness: AbilityFreshness | None = Field(
        default=None, description="Whether this is behind what agents go by, or they are behind this."
    )


MAX_UNPROVED = 60
"""The most steps that one draft is said not to prove; what is beyond is summed up in the last."""


class UnprovedStep(Contract):
    """A step or a condition that no check could prove here, and why."""

    case: Text160 = Field(description="Its case in the validation run.")
    step: Text240
    reason: Text400


class UnprovedAcceptance(Contract):
    """What a version was installed without proof of, and who saw that list and accepted it."""

    steps: tuple[UnprovedStep, ...] = Field(min_length=1, max_length=MAX_UNPROVED)
    digest: Sha256 = Field(description="Of the steps: what was accepted is this list and no other.")
    accepted_by: Text120
    accepted_at: UtcTime


class ImportOrigin(Contract):
    """The archive that a skill was imported from; it was not taught here, and nothing of it was demonstrated."""

    import_id: Uuid
    source: Text80 = Field(description="Where the archive comes from, by the one who uploaded it.")
    archive_sha256: Sha256
    original_filename: Text240 | None = None
    overridden: tuple[Text120, ...] = Field(
        default=(), description="The findings of its scan in spite of which it was installed, by their codes."
    )
    overridden_by: Text120 | None = None
    override_reason: Text1000 | None = None


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
    unproved: UnprovedAcceptance | None = Field(
        default=None, description="What was not proved when it was installed; absent where everything was."
    )
    imported_from: ImportOrigin | None = Field(
        default=None, description="The archive it was imported from; absent where it was learned."
    )


class AbilityVersionsResponse(ListCounts):
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
    parameters: tuple[AbilityParameter, ...] = Field(
        default=(), description="What a trial can be given other values for."
    )
    folders: tuple[AbilityFolder, ...] = Field(
        default=(), description="What a trial needs a folder for, where the ability works in several."
    )
    unproved: UnprovedAcceptance | None = Field(
        default=None, description="What of the present version was never proved, and who accepted that."
    )
    imported_from: ImportOrigin | None = Field(
        default=None, description="The archive of the present version; absent where it was learned."
    )
