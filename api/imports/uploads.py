"""Uploads of skill bundles: hand in an archive for 24 hours, and delete it (DOC3 §0C.20)."""

from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request

from api.imports.upload_form import MULTIPART, read_upload
from api.platform.commands import LearnerFrame, masked
from contracts.errors import ErrorCode, Refusal
from contracts.imports.import_work import UploadedBundle
from contracts.imports.uploads import (
    SkillImportDeleteUploadResponse,
    SkillImportUploadMetadata,
    SkillImportUploadResponse,
)
from stores.imports.uploads import REF_PREFIX

router = APIRouter(prefix="/api/skills/import/uploads", tags=["imports"])

_FORM: dict[str, Any] = {
    "schema": {
        "type": "object",
        "required": ["bundle"],
        "properties": {
            "bundle": {
                "type": "string",
                "format": "binary",
                "description": "The ZIP archive, at most 100 MiB.",
            },
            "metadata": {
                "type": "string",
                "contentMediaType": "application/json",
                "description": "JSON: source, requested_pack_id, notes, client_request_id.",
            },
        },
    },
    "encoding": {
        "bundle": {"contentType": "application/zip"},
        "metadata": {"contentType": "application/json"},
    },
}


def _upload_ref(temp_artifact_ref: Annotated[str, Path(max_length=200)]) -> str:
    if not temp_artifact_ref.startswith(REF_PREFIX) or not temp_artifact_ref.isascii():
        raise Refusal(ErrorCode.SKILL_IMPORT_UPLOAD_NOT_FOUND, "There is no such upload of yours.")
    return temp_artifact_ref


UploadRef = Annotated[str, Depends(_upload_ref)]


@router.post(
    "",
    operation_id="skill_import_create",
    status_code=201,
    openapi_extra={"requestBody": {"required": True, "content": {MULTIPART: _FORM}}},
)
async def upload(request: Request, frame: LearnerFrame) -> SkillImportUploadResponse:
    """Hands in the ZIP archive of a skill, at most 100 MiB, which is kept for 24 hours. Scan it next.

    It is only stored here: nothing of it is unpacked, and nothing of it is ever run by an import.
    """
    slots = frame.services.uploads
    if not slots.acquire(blocking=False):
        raise Refusal(ErrorCode.TOO_MANY_REQUESTS, "Other archives are being read; repeat in a moment.")
    try:
        read = await read_upload(request)
        bundle = UploadedBundle(
            metadata=_without_secrets(read.metadata),
            filename=masked(read.filename),
            content_hash_sha256=read.digest,
            client_request_id=read.metadata.client_request_id,
        )
        keep = partial(
            frame.services.imports.uploads.keep,
            frame.owner,
            bundle,
            read.content,
            datetime.now(UTC),
            frame.correlation_id,
        )
        return await frame.write_once(bundle, keep, SkillImportUploadResponse)
    finally:
        slots.release()


@router.delete("/{temp_artifact_ref}", operation_id="skill_import_upload_delete")
async def delete(temp_artifact_ref: UploadRef, frame: LearnerFrame) -> SkillImportDeleteUploadResponse:
    """Deletes an upload; refused while an import made from it is scanned, staged or installed."""

    def act() -> SkillImportDeleteUploadResponse:
        uploads = frame.services.imports.uploads
        return uploads.delete(temp_artifact_ref, frame.owner, datetime.now(UTC), frame.correlation_id)

    return await frame.write_once(None, act, SkillImportDeleteUploadResponse)


def _without_secrets(metadata: SkillImportUploadMetadata) -> SkillImportUploadMetadata:
    return metadata.changed(notes=masked(metadata.notes), client_request_id=None)
