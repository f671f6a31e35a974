"""What an operation says of the call that it is: done, waiting for a person, blocked or failed (DOC3 §0.2F)."""

from typing import Any, cast

from contracts.adapters.acrobat import AcrobatCapability, AcrobatOperationResponse, AcrobatOperationStatus
from contracts.base import clipped
from contracts.errors import ErrorCode
from contracts.mcp.dispatch import DispatchStatus, DispatchView

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
