"""Uploads of skill bundles: temporary artifacts that live 24 hours, each named by a handle and never by a path."""

from datetime import datetime

from sqlalchemy import Connection, delete, select
from uuid_utils import uuid7

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.imports.import_record import SkillImportState as S
from contracts.imports.import_rules import upload_expired
from contracts.imports.import_work import StoredUpload, UploadedBundle
from contracts.imports.uploads import (
    TEMP_ARTIFACT_LIVES,
    SkillImportDeleteUploadResponse,
    SkillImportUploadResponse,
    TempArtifactKind,
    TempArtifactRef,
)
from contracts.learning.lifecycle import LearningReceiptKind
from stores.imports.import_tables import UPLOADS, skill_import_uploads, skill_imports
from stores.platform.blobs import get_blob
from stores.platform.database import Database
from stores.platform.journal.journal import JournalEntries, append
from stores.platform.temporary_artifacts import ArtifactTerms, expire_artifact, keep_artifact

KIND = "skill_bundle"
"""The kind of these temporary artifacts."""

MOST_KEPT_BYTES = 1024**3
"""What one user may have uploaded at once: 1 GiB."""

REF_PREFIX = "temp-artifact-"

IN_USE = (S.SCANNING, S.STAGING, S.INSTALL_QUEUED)
"""States in which work may read the upload: it is not deleted then (rule 9, line 3508)."""

_TERMS = ArtifactTerms(
    TEMP_ARTIFACT_LIVES,
    MOST_KEPT_BYTES,
    (KIND,),
    "Your uploads take 1 GiB, the most there may be; delete one, or wait: they go after 24 hours.",
)


class BundleUploads:
    """The uploads of all users. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(
        self, owner: str, bundle: UploadedBundle, content: bytes, now: datetime, correlation_id: str
    ) -> SkillImportUploadResponse:
        """Keeps an uploaded archive for 24 hours, under a new handle.

        Raises:
            Refusal: ``STORAGE_FULL`` when the owner would have more than 1 GiB.
        """
        upload = StoredUpload(
            artifact=TempArtifactRef(
                temp_artifact_ref=f"{REF_PREFIX}{uuid7()}",
                artifact_kind=TempArtifactKind.SKILL_BUNDLE_ZIP,
                original_filename=bundle.filename,
                content_hash_sha256=bundle.content_hash_sha256,
                byte_size=len(content),
                created_at=now,
                expires_at=now + TEMP_ARTIFACT_LIVES,
            ),
            owner_user_id=owner,
            metadata=bundle.metadata,
        )
        with self._database.write() as connection:
            keep_artifact(connection, owner, KIND, content, now, _TERMS)
            UPLOADS.add(connection, upload)
            _tell(connection, upload, LearningReceiptKind.IMPORT_UPLOADED, now, correlation_id)
        return SkillImportUploadResponse(temp_artifact=upload.artifact, accepted=True)

    def owned(self, upload_ref: str, owner: str) -> StoredUpload:
        """The owner's upload.

        Raises:
            Refusal: ``SKILL_IMPORT_UPLOAD_NOT_FOUND``.
        """
        with self._database.read() as connection:
            return UPLOADS.owned(connection, upload_ref, owner)

    def content(self, upload_ref: str, now: datetime) -> bytes:
        """The archive.

        Raises:
            Refusal: ``SKILL_IMPORT_UPLOAD_EXPIRED`` where it has expired or was deleted.
        """
        with self._database.read() as connection:
            upload = UPLOADS.find(connection, upload_ref)
            if upload is None or upload.expires_at <= now:
                raise upload_expired()
            return get_blob(connection, upload.artifact.content_hash_sha256)

    def delete(
        self, upload_ref: str, owner: str, now: datetime, correlation_id: str
    ) -> SkillImportDeleteUploadResponse:
        """Deletes an upload; its content goes with the next maintenance.

        Raises:
            Refusal: ``SKILL_IMPORT_UPLOAD_NOT_FOUND``; ``SKILL_IMPORT_UPLOAD_IN_USE`` while an import that was made
                from it is being scanned, staged or installed.
        """
        with self._database.write() as connection:
            upload = UPLOADS.owned(connection, upload_ref, owner, lock=True)
            _refuse_in_use(connection, upload_ref)
            UPLOADS.delete(connection, upload_ref)
            digest = upload.artifact.content_hash_sha256
            table = skill_import_uploads.c
            others = select(table.upload_ref).where(table.owner == owner, table.digest == digest).limit(1)
            if connection.scalar(others) is None:
                expire_artifact(connection, owner, (KIND,), digest, now, now)
            _tell(connection, upload, LearningReceiptKind.IMPORT_UPLOAD_DELETED, now, correlation_id)
        return SkillImportDeleteUploadResponse(deleted=True, temp_artifact_ref=upload_ref)


def forget_uploads(connection: Connection, owner: str, digest: str, now: datetime) -> int:
    """Deletes the owner's uploads of one content that have expired; how many."""
    table = skill_import_uploads.c
    expired = (table.owner == owner, table.digest == digest, table.expires_at <= rfc3339(now))
    return connection.execute(delete(skill_import_uploads).where(*expired)).rowcount


def _refuse_in_use(connection: Connection, upload_ref: str) -> None:
    table = skill_imports.c
    at_work = (table.upload_ref == upload_ref, table.state.in_([state.value for state in IN_USE]))
    busy = connection.execute(select(table.import_id, table.state).where(*at_work).limit(1)).one_or_none()
    if busy is not None:
        raise Refusal(
            ErrorCode.SKILL_IMPORT_UPLOAD_IN_USE,
            f"Import {busy.import_id} is {busy.state} and reads this upload; delete it when that has ended.",
            import_id=busy.import_id,
            current_state=busy.state,
        )


def _tell(
    connection: Connection,
    upload: StoredUpload,
    kind: LearningReceiptKind,
    now: datetime,
    correlation_id: str,
) -> None:
    entries = JournalEntries(
        f"skill-upload/{upload.upload_ref}", upload.owner_user_id, correlation_id, now
    ).receipt(kind, f"{upload.artifact.original_filename}, {upload.artifact.byte_size} bytes")
    append(connection, entries.drafts)
