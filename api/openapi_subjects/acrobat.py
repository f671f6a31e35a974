"""Operations on PDF documents in the document."""

from typing import Any

from pydantic import BaseModel

from api.openapi_story import BEGUN, THEN, example_id
from contracts.adapters.acrobat import (
    AcrobatAdapterHealth,
    AcrobatAdapterState,
    AcrobatCapability,
    AcrobatOperationResponse,
    AcrobatOperationStatus,
    AcrobatOutput,
    AcrobatPageText,
    AcrobatSource,
)
from contracts.errors import ErrorCode

_DIGEST = "7e" * 32
_REF: dict[str, Any] = {"source_ref_kind": "temp_artifact_ref", "source_ref": f"temp-artifact/{_DIGEST}"}

REQUESTS: dict[str, dict[str, Any]] = {
    "acrobat_extract_text": {**_REF, "page_range": "1-3,5", "ocr_fallback": True},
    "acrobat_extract_tables": {**_REF, "table_mode": "strict"},
    "acrobat_ocr": {**_REF, "language_hint": "en"},
    "acrobat_redaction_prep": {**_REF, "pattern_set": ["email", "iban", "Project Falcon"]},
}
MODELS: tuple[BaseModel, ...] = (
    AcrobatAdapterHealth(
        adapter_state=AcrobatAdapterState.HEALTHY,
        supported_capabilities=tuple(AcrobatCapability),
        last_checked_at=BEGUN,
    ),
    AcrobatSource(
        temp_artifact_ref=f"temp-artifact/{_DIGEST}",
        digest=_DIGEST,
        size_bytes=48_211,
        created_at=BEGUN,
        expires_at=THEN,
    ),
    AcrobatOperationResponse(
        operation_id=example_id(71),
        capability=AcrobatCapability.REDACTION_PREP,
        status=AcrobatOperationStatus.BLOCKED,
        error_code=ErrorCode.ACROBAT_REDACTION_PREP_REQUIRES_APPROVAL.value,
        error_message="A person has to approve it first.",
        next_action=f"apprentice mcp approve {example_id(71)}, then ask again with the same client_request_id",
    ),
    AcrobatOutput(
        capability=AcrobatCapability.EXTRACT_TEXT,
        source_digest=_DIGEST,
        page_count=1,
        pages_read=(1,),
        text=(AcrobatPageText(page=1, text="Sales of the first quarter"),),
    ),
)
_OPERATION = (
    ErrorCode.ACROBAT_UNAVAILABLE,
    ErrorCode.ACROBAT_SOURCE_NOT_FOUND,
    ErrorCode.MCP_SERVER_NOT_FOUND,
    ErrorCode.MCP_TOOL_NOT_FOUND,
    ErrorCode.CONFLICT,
    ErrorCode.TOO_MANY_REQUESTS,
    ErrorCode.TEMPORAL_UNAVAILABLE,
    ErrorCode.STORAGE_FULL,
)
ERRORS: dict[str, tuple[ErrorCode, ...]] = {
    "acrobat_source_upload": (ErrorCode.STORAGE_FULL,),
    "acrobat_extract_text": _OPERATION,
    "acrobat_extract_tables": _OPERATION,
    "acrobat_ocr": (*_OPERATION, ErrorCode.ACROBAT_OCR_UNSUPPORTED),
    "acrobat_redaction_prep": _OPERATION,
}
PATH_IDS: dict[str, ErrorCode] = {"digest": ErrorCode.NOT_FOUND}
TAG: dict[str, str] | None = {
    "name": "acrobat",
    "description": "Text, tables, recognised text and redaction preparation of PDF documents.",
}
