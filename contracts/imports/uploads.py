"""Uploads of skill bundles: the multipart metadata and the temp artifact (DOC3 §0C.20, lines 3266-3292, 3467-3484)."""

from datetime import timedelta
from enum import StrEnum

from pydantic import Field

from contracts.base import Sha256, Text240, Text1000, UtcTime, VersionedContract
from contracts.imports.import_record import SkillImportSource
from contracts.imports.packs import PackId
from contracts.platform.commands import Command

MOST_UPLOAD_BYTES = 100 * 1024 * 1024
"""The largest upload (rule 6, line 3478)."""

TEMP_ARTIFACT_LIVES = timedelta(hours=24)
"""A temp artifact that is not staged expires after this time (rule 7, line 3506)."""

EXPIRES_SOON = timedelta(hours=2)
"""From this time before its expiry an artifact is shown as expiring soon (line 3523)."""


class SkillImportUploadMetadata(Command):
    """The part ``metadata`` of an upload."""

    source: SkillImportSource = SkillImportSource.MANUAL_UPLOAD
    requested_pack_id: PackId | None = None
    notes: Text1000 | None = None


class TempArtifactKind(StrEnum):
    """What an artifact holds."""

    SKILL_BUNDLE_ZIP = "skill_bundle_zip"
    SKILL_BUNDLE_DIR = "skill_bundle_dir"
    GENERATED_BUNDLE = "generated_bundle"


class TempArtifactRef(VersionedContract):
    """The handle of an upload: never a path."""

    temp_artifact_ref: Text240
    artifact_kind: TempArtifactKind
    original_filename: Text240 | None = None
    content_hash_sha256: Sha256
    byte_size: int = Field(ge=1)
    created_at: UtcTime
    expires_at: UtcTime


class SkillImportUploadResponse(VersionedContract):
    """The answer to an upload."""

    temp_artifact: TempArtifactRef
    accepted: bool


class SkillImportDeleteUploadResponse(VersionedContract):
    """The answer to the deletion of an upload."""

    deleted: bool
    temp_artifact_ref: Text240
