"""A skill import: its states, the transitions between them, and its record (DOC3 §0C.20, lines 3189-3497)."""

from collections.abc import Mapping
from enum import StrEnum

from pydantic import Field

from contracts.base import Text80, Text120, Text200, Text240, UtcTime, Uuid, VersionedContract
from contracts.imports.packs import PackId


class SkillImportState(StrEnum):
    """Where an import stands."""

    UPLOAD_PENDING = "upload_pending"
    UPLOADED = "uploaded"
    SCANNING = "scanning"
    SCAN_FAILED = "scan_failed"
    SCAN_COMPLETE = "scan_complete"
    STAGING = "staging"
    STAGE_FAILED = "stage_failed"
    READY_FOR_REVIEW = "ready_for_review"
    INSTALL_QUEUED = "install_queued"
    INSTALL_FAILED = "install_failed"
    INSTALLED_PRIVATE = "installed_private"
    APPROVED = "approved"
    REJECTED = "rejected"
    DISCARDED = "discarded"
    EXPIRED = "expired"


_S = SkillImportState

TERMINAL = frozenset({_S.INSTALLED_PRIVATE, _S.APPROVED, _S.REJECTED, _S.DISCARDED, _S.EXPIRED})
"""States that an import does not leave (line 3211)."""

TRANSITIONS: Mapping[SkillImportState, frozenset[SkillImportState]] = {
    _S.UPLOAD_PENDING: frozenset({_S.UPLOADED}),
    _S.UPLOADED: frozenset({_S.SCANNING}),
    _S.SCANNING: frozenset({_S.SCAN_COMPLETE, _S.SCAN_FAILED, _S.EXPIRED}),
    _S.SCAN_COMPLETE: frozenset({_S.STAGING, _S.DISCARDED}),
    _S.STAGING: frozenset({_S.READY_FOR_REVIEW, _S.STAGE_FAILED, _S.DISCARDED}),
    _S.READY_FOR_REVIEW: frozenset({_S.INSTALL_QUEUED, _S.APPROVED, _S.REJECTED, _S.DISCARDED}),
    _S.INSTALL_QUEUED: frozenset({_S.INSTALLED_PRIVATE, _S.INSTALL_FAILED}),
    _S.SCAN_FAILED: frozenset({_S.SCANNING}),
    _S.STAGE_FAILED: frozenset({_S.STAGING}),
    _S.INSTALL_FAILED: frozenset({_S.INSTALL_QUEUED}),
}
"""The transitions of the document (lines 3486-3497); those out of a ``…_failed`` state are a retry's alone."""


class RetryKind(StrEnum):
    """Which step of an import is tried again."""

    SCAN = "scan"
    STAGE = "stage"
    INSTALL = "install"


RETRIES: Mapping[RetryKind, tuple[SkillImportState, SkillImportState]] = {
    RetryKind.SCAN: (_S.SCAN_FAILED, _S.SCANNING),
    RetryKind.STAGE: (_S.STAGE_FAILED, _S.STAGING),
    RetryKind.INSTALL: (_S.INSTALL_FAILED, _S.INSTALL_QUEUED),
}
"""The state that each retry leaves, and the one it leads to (lines 3494-3496)."""


FAILED = frozenset(failed for failed, _ in RETRIES.values())
"""States in which a step has failed. No transition but a retry leaves them: to discard such an import sets it aside."""


class SkillImportSource(StrEnum):
    """Where a bundle comes from."""

    MANUAL_UPLOAD = "manual_upload"
    ANTHROPIC_BUNDLE = "anthropic_bundle"
    OPENCLAW_BUNDLE = "openclaw_bundle"
    ELNOR_GENERATED = "elnor_generated"


class SourceRefKind(StrEnum):
    """What ``source_ref`` of a record names; a ``legacy_path`` is never shown (rule 5, line 3504)."""

    TEMP_ARTIFACT = "temp_artifact"
    MATERIALIZED_BUNDLE = "materialized_bundle"
    GENERATED_BUNDLE = "generated_bundle"
    LEGACY_PATH = "legacy_path"


class TransitionActor(StrEnum):
    """Who moved an import on."""

    SYSTEM = "system"
    USER = "user"
    REVIEWER = "reviewer"
    REPAIR_ENGINE = "repair_engine"


class ImportedSkillRecord(VersionedContract):
    """An import as every answer shows it (lines 3222-3246)."""

    import_id: Uuid
    source: SkillImportSource
    skill_name: Text80
    source_ref_kind: SourceRefKind = SourceRefKind.TEMP_ARTIFACT
    source_ref: Text240
    original_filename: Text240 | None = None
    compatibility_report_ref: Text240 | None = None
    stage_state: SkillImportState
    retry_count: int = Field(default=0, ge=0)
    last_error_code: Text120 | None = None
    last_error: Text240 | None = Field(
        default=None, description="What that code means here: which check or step failed."
    )
    skill_pack: PackId | None = None
    requires_adapter: bool = False
    set_aside_at: UtcTime | None = Field(
        default=None,
        description="When its owner discarded it after a step had failed; its state stays as it was.",
    )
    created_at: UtcTime
    updated_at: UtcTime


class SkillImportTransition(VersionedContract):
    """One line of the log of an import's states (lines 4363-4373)."""

    import_id: Uuid
    from_state: SkillImportState
    to_state: SkillImportState
    actor: TransitionActor
    reason: Text240
    correlation_id: Text200
    created_at: UtcTime
