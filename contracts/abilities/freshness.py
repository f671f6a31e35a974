"""Whether what is shown of abilities is behind what has been decided or seen (DOC3 §0C.11B "Staleness rule")."""

from enum import StrEnum

from contracts.base import Contract, Text240


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
