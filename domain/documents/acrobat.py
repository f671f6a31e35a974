"""Acrobat adapter: its server entry and tools, its health, and the result of an operation as a dispatch ends.

Policy, approval and receipts hold for it as for any tool server (DOC3 §0.2F "Behavior rules" 4, 5).
"""

from datetime import datetime
from functools import cache
from typing import Any, cast

from contracts.base import clipped
from contracts.documents.acrobat import (
    AcrobatAdapterHealth,
    AcrobatAdapterState,
    AcrobatCapability,
    AcrobatExtractTablesRequest,
    AcrobatExtractTextRequest,
    AcrobatOCRRequest,
    AcrobatOperationResponse,
    AcrobatOperationStatus,
    AcrobatRedactionPrepRequest,
    AcrobatSourceRef,
)
from contracts.errors import ErrorCode
from contracts.mcp.dispatch import DispatchStatus, DispatchView
from contracts.mcp.provider import MCPProvider, MCPTransport
from contracts.mcp.servers import MCPServerRegistryEntry
from contracts.mcp.tools import MCPToolDefinition

DISPLAY_NAME = "Acrobat (PDF)"

REQUESTS: dict[AcrobatCapability, type[AcrobatSourceRef]] = {
    AcrobatCapability.EXTRACT_TEXT: AcrobatExtractTextRequest,
    AcrobatCapability.EXTRACT_TABLES: AcrobatExtractTablesRequest,
    AcrobatCapability.OCR: AcrobatOCRRequest,
    AcrobatCapability.REDACTION_PREP: AcrobatRedactionPrepRequest,
}
"""What each tool is asked with."""

NOT_ARGUMENTS = frozenset({"capability", "client_request_id", "data_class", "schema_version"})
"""Fields of a request that are about the call and not for the tool."""

STILL_RUNNING = "STILL_RUNNING"
"""The operation goes on; the same request with the same ``client_request_id`` tells how it ended."""

_BLOCKED = frozenset(
    {
        DispatchStatus.PENDING_APPROVAL,
        DispatchStatus.BLOCKED,
        DispatchStatus.DENIED,
        DispatchStatus.EXPIRED,
        DispatchStatus.AUTH_REQUIRED,
    }
)

_CODES = {
    DispatchStatus.PENDING_APPROVAL: ErrorCode.MCP_ASK_FIRST_REQUIRED,
    DispatchStatus.BLOCKED: ErrorCode.MCP_POLICY_BLOCKED,
    DispatchStatus.DENIED: ErrorCode.MCP_ASK_FIRST_REQUIRED,
    DispatchStatus.EXPIRED: ErrorCode.MCP_ASK_FIRST_EXPIRED,
}

_UNAPPROVED = frozenset({DispatchStatus.PENDING_APPROVAL, DispatchStatus.DENIED, DispatchStatus.EXPIRED})

_SAID = {
    DispatchStatus.PENDING_APPROVAL: "A person has to approve it first.",
    DispatchStatus.BLOCKED: "Policy forbids it.",
    DispatchStatus.DENIED: "A person denied it.",
    DispatchStatus.EXPIRED: "Nobody approved it in time.",
    DispatchStatus.CANCELLED: "It was cancelled.",
    DispatchStatus.OUTCOME_UNKNOWN: "Nobody knows how it ended; it changes nothing, so ask again.",
}


def operation_of(view: DispatchView, capability: AcrobatCapability) -> AcrobatOperationResponse:
    """How the operation stands that the call ``view`` is."""
    found = _found_in(view)
    if view.status is DispatchStatus.COMPLETED and not view.is_error and "output_ref" in found:
        return _done(view, capability, found)
    if view.status is DispatchStatus.RUNNING:
        return AcrobatOperationResponse(
            operation_id=view.dispatch_id,
            capability=capability,
            status=AcrobatOperationStatus.DEGRADED,
            warning_codes=(STILL_RUNNING,),
            next_action=f"Ask again, or read the call: GET /api/mcp/dispatches/{view.dispatch_id}",
        )
    if view.status in _BLOCKED:
        return _blocked(view, capability)
    message = found.get("error_message") or view.error_message or _SAID.get(view.status, "It failed.")
    code = found.get("error_code") or view.error_code or ErrorCode.ACROBAT_EXTRACTION_FAILED.value
    return AcrobatOperationResponse(
        operation_id=view.dispatch_id,
        capability=capability,
        status=AcrobatOperationStatus.FAILED,
        receipt_id=view.receipt_id,
        error_code=clipped(str(code), 120),
        error_message=clipped(str(message), 500),
        next_action=view.next_action,
    )


def _done(
    view: DispatchView, capability: AcrobatCapability, found: dict[str, Any]
) -> AcrobatOperationResponse:
    warnings = tuple(str(code)[:120] for code in found.get("warning_codes", ()))
    return AcrobatOperationResponse(
        operation_id=view.dispatch_id,
        capability=capability,
        status=AcrobatOperationStatus.DEGRADED if warnings else AcrobatOperationStatus.OK,
        output_ref=str(found["output_ref"]),
        receipt_id=view.receipt_id,
        warning_codes=warnings,
    )


def _blocked(view: DispatchView, capability: AcrobatCapability) -> AcrobatOperationResponse:
    code = _CODES.get(view.status)
    if capability is AcrobatCapability.REDACTION_PREP and view.status in _UNAPPROVED:
        code = ErrorCode.ACROBAT_REDACTION_PREP_REQUIRES_APPROVAL
    message = _SAID.get(view.status) or view.error_message or "It is blocked."
    if view.status is DispatchStatus.PENDING_APPROVAL:
        action = f"apprentice mcp approve {view.dispatch_id}, then ask again with the same client_request_id"
    else:
        action = view.next_action
    return AcrobatOperationResponse(
        operation_id=view.dispatch_id,
        capability=capability,
        status=AcrobatOperationStatus.BLOCKED,
        receipt_id=view.receipt_id,
        error_code=code.value if code is not None else view.error_code,
        error_message=message,
        next_action=action,
    )


def _found_in(view: DispatchView) -> dict[str, Any]:
    found = (view.result or {}).get("structured_content")
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


OCR_NOT_INSTALLED = "OCR_NOT_INSTALLED"

READER_NOT_CONFINED = "READER_NOT_CONFINED"

LIBRARIES_MISSING = "LIBRARIES_MISSING"

SERVER_DISABLED = "SERVER_DISABLED"

_WITHOUT_OCR = tuple(one for one in AcrobatCapability if one is not AcrobatCapability.OCR)


def adapter_health(
    *, reading: bool, recognition: bool, confinement: bool, enabled: bool, now: datetime
) -> AcrobatAdapterHealth:
    """What can be done, and what to do where not all of it can."""
    if not reading:
        return AcrobatAdapterHealth(
            adapter_state=AcrobatAdapterState.MISSING,
            reason_code=LIBRARIES_MISSING,
            next_action="Install pdfplumber where the service and its worker run.",
            last_checked_at=now,
        )
    if not enabled:
        return AcrobatAdapterHealth(
            adapter_state=AcrobatAdapterState.DISABLED,
            reason_code=SERVER_DISABLED,
            next_action="Switch the server Acrobat (PDF) on again, under Connectors or by apprentice mcp servers.",
            last_checked_at=now,
        )
    if not recognition:
        return AcrobatAdapterHealth(
            adapter_state=AcrobatAdapterState.DEGRADED,
            supported_capabilities=_WITHOUT_OCR,
            reason_code=OCR_NOT_INSTALLED,
            next_action="Install the extra ocr (apprentice[ocr]) to read text in pictures.",
            last_checked_at=now,
        )
    return AcrobatAdapterHealth(
        adapter_state=AcrobatAdapterState.HEALTHY if confinement else AcrobatAdapterState.DEGRADED,
        supported_capabilities=tuple(AcrobatCapability),
        reason_code=None if confinement else READER_NOT_CONFINED,
        next_action=None
        if confinement
        else "Run the worker on Linux 5.13 or newer: documents are read there apart.",
        last_checked_at=now,
    )


_TOLD = {
    AcrobatCapability.EXTRACT_TEXT: ("Extract text", "The text of a PDF document, page by page."),
    AcrobatCapability.EXTRACT_TABLES: ("Extract tables", "The tables of a PDF document, cell by cell."),
    AcrobatCapability.OCR: ("Recognise text", "The text in the pictures of a PDF document, page by page."),
    AcrobatCapability.REDACTION_PREP: (
        "Prepare redaction",
        "Where a PDF document holds what should be blacked out, as a bundle to review. The document stays as it is.",
    ),
}


def adapter_server(server_id: str, at: datetime) -> MCPServerRegistryEntry:
    """The registry's entry of the adapter, which is new at ``at``."""
    return MCPServerRegistryEntry(
        server_id=server_id,
        provider=MCPProvider.ACROBAT,
        display_name=DISPLAY_NAME,
        transport=MCPTransport.LOCAL_BRIDGE,
        supported_tools=tuple(capability.value for capability in AcrobatCapability),
        supports_smoke_test=False,
        created_at=at,
        updated_at=at,
    )


@cache
def tool_definitions() -> tuple[MCPToolDefinition, ...]:
    """The four tools. Preparing redaction says that it is no mere reading: it asks first by default."""
    return tuple(
        MCPToolDefinition(
            tool_name=capability.value,
            title=_TOLD[capability][0],
            description=_TOLD[capability][1],
            input_schema=_arguments_of(request),
            output_schema={
                "type": "object",
                "properties": {"output_ref": {"type": "string"}},
                "required": ["output_ref"],
            },
            read_only=capability is not AcrobatCapability.REDACTION_PREP,
            destructive=False,
            idempotent=True,
        )
        for capability, request in REQUESTS.items()
    )


def arguments_of(request: AcrobatSourceRef) -> dict[str, Any]:
    """The arguments of the call that a request stands for; what is left out or as usual is not among them."""
    whole = request.model_dump(mode="json", exclude=set(NOT_ARGUMENTS), exclude_defaults=True)
    return {"source_ref_kind": request.source_ref_kind.value, "source_ref": request.source_ref, **whole}


def _arguments_of(request: type[AcrobatSourceRef]) -> dict[str, Any]:
    schema = request.model_json_schema()
    schema["properties"] = {
        name: told for name, told in schema["properties"].items() if name not in NOT_ARGUMENTS
    }
    return schema
